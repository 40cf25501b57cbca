package node

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/protocol"
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
		{func() { s.gaveUp("mawjs", p, protocol.Failure{Problem: "no luck", Attempts: 3}) }, []string{`"level":"warn"`, `"attempts":3`, `"problem":"no luck"`, `"message":"dead letter"`}},
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

func TestRetriesAndDeadLettersAreCounted(t *testing.T) {
	n, _ := trying(t, measured(t, initHome(t, nil)))
	addExec(t, n, "later", counting(filepath.Join(t.TempDir(), "starts"), `test $n -lt 3 && exit 1; echo done`))
	addExec(t, n, "never", "sh -c 'exit 1'")
	for _, agent := range []string{"later", "never"} {
		answerTo(t, n, say(t, n, agent, "do it").Path)
	}
	reaches(t, n, map[string]float64{
		`parley_agent_retries_total{agent="later"}`:      2,
		`parley_agent_retries_total{agent="never"}`:      2,
		`parley_agent_dead_letters_total{agent="never"}`: 1,
	})
	if got := figures(t, n); got[`parley_agent_dead_letters_total{agent="later"}`] != 0 || got[`parley_agent_retries_total{agent="never"}`] != 2 {
		t.Errorf("of what was answered in the end a dead letter is counted, or a retry that was none: %v", got)
	}
}
