package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/term"
)

// A person at a terminal sees a bar after a second, in one line that goes away again. Elsewhere a
// line comes now and then, if that was asked for.
func TestProgressBar(t *testing.T) {
	for name, test := range map[string]struct {
		terminal, plainly, json bool
		waited                  time.Duration
		want                    string
	}{
		"a terminal":           {terminal: true, waited: 2 * time.Second, want: "reading [#########...............] 40%, 40 of about 100"},
		"a terminal, at first": {terminal: true},
		"a pipe":               {waited: time.Minute},
		"a pipe, plainly":      {plainly: true, waited: time.Minute, want: "reading: 40%\n"},
		"at first, plainly":    {plainly: true, waited: time.Second},
		"as JSON":              {terminal: true, plainly: true, json: true, waited: time.Minute},
	} {
		var out bytes.Buffer
		v := View{Err: term.Screen{Writer: &out, Terminal: test.terminal, Width: 80}, JSON: test.json}
		b := v.Progress("reading")
		b.Plainly = test.plainly
		b.began = b.began.Add(-test.waited)
		b.Show(40, 100)
		b.Show(41, 100) // too soon after the last: not shown
		b.Show(1, 0)
		b.End()
		b.Show(42, 100)
		if test.want == "" && out.Len() > 0 || !strings.Contains(out.String(), test.want) || strings.Contains(out.String(), "41") {
			t.Errorf("%s: %q, want %q", name, out.String(), test.want)
		}
		if test.terminal && test.want != "" && !strings.HasSuffix(out.String(), "\r\x1b[K") {
			t.Errorf("%s: the line stays: %q", name, out.String())
		}
	}
}
