package serving

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
	"github.com/rs/zerolog"
)

// Each step has a line with the path. It prevents: somebody searches the log for a message and
// finds that its agent ran three times, and not that the message was given up.
func TestEachStepHasALine(t *testing.T) {
	var log bytes.Buffer
	s := &steps{log: zerolog.New(&log).Level(zerolog.InfoLevel)}
	p := protocol.NewPath("adfe0356-0f71-49a9-80a0-fb76883cd974", time.Unix(1, 0), 1)
	for _, test := range []struct {
		tell func()
		want []string
	}{
		{func() { s.retried("mawjs", p, 2, time.Unix(60, 0)) }, []string{`"level":"info"`, `"attempt":2`, `"message":"agent is tried again"`}},
		{func() { s.gaveUp("mawjs", p, 3) }, []string{`"level":"warn"`, `"attempts":3`, `"message":"dead letter"`}},
		{func() { s.canceled("mawjs", p, "nat") }, []string{`"by":"nat"`, `"message":"run canceled"`}},
		{func() { s.halted("mawjs", p) }, []string{`"message":"conversation stopped"`}},
	} {
		log.Reset()
		test.tell()
		for _, want := range append(test.want, `"path":"`+p.String()+`"`, `"agent":"mawjs"`) {
			if !strings.Contains(log.String(), want) || strings.Count(log.String(), "\n") != 1 {
				t.Errorf("the log says %q, want one line with %s", log.String(), want)
			}
		}
	}
}
