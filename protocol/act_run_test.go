package protocol_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// What a command printed, or a reason says, cannot pass for a field of the failure or name
// another message.
func TestWordsOfRunsCannotBeForged(t *testing.T) {
	f := protocol.Failure{Problem: "mawjs: broke\nattempts: 9", Attempts: 3, Tier: "opus\nattempts: 8", Ran: time.Second, Text: "attempts: 7\n\nran: 1h"}
	got, err := protocol.Failed.Parse(protocol.Failed.Format(f))
	if err != nil || got.Attempts != 3 || got.Ran != time.Second || got.Problem != "mawjs: broke" || !strings.Contains(got.Text, "ran: 1h") {
		t.Errorf("read as %+v, %v", got, err)
	}
	of, err := protocol.ParsePath("7a1c3b8e-52d6-4f7a-9a0e-0d8f6b2c4e10/2026/05/23/190100000Z-b2c3d4e5.md")
	if err != nil {
		t.Fatal(err)
	}
	w := protocol.RunWord{Of: of, Agent: "mawjs", Reason: "a\nreason: b | agent: eve"}
	if got, err := protocol.RunDrop.Parse(protocol.RunDrop.Format(w)); err != nil || got.Of != of || got.Agent != "mawjs" || strings.Contains(got.Reason, "\n") {
		t.Errorf("read as %+v, %v", got, err)
	}
}

// Whatever stands in a body, reading it ends, and what was read is read again the same.
func FuzzWordsOfRuns(f *testing.F) {
	f.Add("FAILED | mawjs: broke\nattempts: 3\ntier: opus\nran: 1.2s\n\nhm")
	f.Add("FAILED | x\nattempts: -1")
	f.Add("RUN-RETRY | of: 7a1c3b8e-52d6-4f7a-9a0e-0d8f6b2c4e10/2026/05/23/190100000Z-b2c3d4e5.md | agent: mawjs\nreason: again")
	f.Fuzz(func(t *testing.T, body string) {
		if failure, err := protocol.Failed.Parse(body); err == nil {
			again, err := protocol.Failed.Parse(protocol.Failed.Format(failure))
			if err != nil || again.Attempts != failure.Attempts {
				t.Errorf("%+v is read as %+v, %v", failure, again, err)
			}
		}
		if w, err := protocol.RunRetry.Parse(body); err == nil {
			again, err := protocol.RunRetry.Parse(protocol.RunRetry.Format(w))
			if err != nil || again.Of != w.Of {
				t.Errorf("%+v is read as %+v, %v", w, again, err)
			}
		}
	})
}
