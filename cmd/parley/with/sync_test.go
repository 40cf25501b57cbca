package with

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// syncing returns a node that tells these events.
func syncing(events ...control.SyncEvent) control.Service {
	return control.Bind(control.Sync.By(func(_ context.Context, _ control.SyncRequest, yield func(control.SyncEvent) error) error {
		for _, e := range events {
			if err := yield(e); err != nil {
				return err
			}
		}
		return nil
	}))
}

// shown returns what a command prints, in a pipe or at a terminal.
func shown(t *testing.T, terminal, asJSON bool, node control.Service) (string, error) {
	t.Helper()
	var out bytes.Buffer
	v := cli.View{Out: term.Screen{Writer: &out, Terminal: terminal, Width: map[bool]int{true: 80}[terminal]}, Err: term.Screen{Writer: &bytes.Buffer{}}, Zone: time.UTC, Now: time.Now, JSON: asJSON}
	err := follow(t.Context(), control.SyncRequest{}, node, v)
	return out.String(), err
}

var (
	score = protocol.NewScore
	reply = protocol.NewPath("adfe0356-0f71-49a9-80a0-fb76883cd974", time.Date(2026, 4, 13, 10, 0, 0, 0, time.UTC), 2)
)

// line is a row of a result.
func line(id protocol.Label, raw protocol.Score, decision protocol.Decision, evidence string, flag topic.Flag) control.SyncLine {
	of := topic.ClaimOf{ItemRef: protocol.ItemRef{Label: id}}
	return control.SyncLine{Row: topic.Row{ClaimOf: of, Score: raw, Decision: decision, Evidence: evidence, Flag: flag}, Raw: raw, Decayed: raw}
}

// outcome is the example of the seed, with what may happen to rows.
func outcome() control.SyncEvent {
	return control.SyncEvent{
		Kind: control.SyncResult, Via: "skills", With: "mawjs", Topic: "tmux design", Check: "c/1.md", Transport: control.BySameHost, Validate: []string{"A4"},
		Result: &control.SyncOutcome{
			Result:  topic.Result{Path: reply, By: "mawjs", Time: time.Date(2026, 4, 13, 10, 0, 0, 0, time.UTC), Raw: score(0.625), Counted: 4, Signed: true},
			Decayed: score(0.625), Status: topic.Partial, Lambda: topic.Lambda{Value: 0.01, Tier: topic.TierIntra}, Rows: []control.SyncLine{
				line("A1", score(1), "ACCEPT", "In partner's memory", ""),
				line("A2", score(0), "REJECT", "Never discussed\x1b[31m", topic.NotInMemory),
				line("P1", score(0.5), "PARTIAL", "Concept known, framing new", ""),
				line("T1", score(1), "ACCEPT", "Confirmed teach-back", ""),
				line("A3", protocol.Score{}, "", "", topic.Unanswered),
				line("A4", score(0.25), "REJECT", "x", topic.Contradiction),
			},
		},
	}
}

// Work-with W40, W42, W43, W45, W46, W47: the table of the seed, what to look at, and what was
// done.
func TestTheResultTable(t *testing.T) {
	text, err := shown(t, false, false, syncing(control.SyncEvent{Kind: control.SyncSent, Via: "skills", With: "mawjs", Topic: "tmux design", Transport: control.BySameHost}, outcome()))
	want := `skills ↔ mawjs: "tmux design" asked by way of hey, on this host

Synchronic Score: skills ↔ mawjs, "tmux design"
Claim  Raw   Decay  Decision    Evidence
[A1]   1.0   1.0    ACCEPT      In partner's memory
[A2]   0.0   0.0    REJECT      Never discussed␛[31m
[P1]   0.5   0.5    PARTIAL     Concept known, framing new
[T1]   1.0   1.0    ACCEPT      Confirmed teach-back
[A3]   -     -      unanswered
[A4]   0.25  0.25   REJECT      x
Raw overall: 63%  Decayed overall: 63%  λ: 0.01 (intra-soul)
Last sync: 2026-04-13 10:00:00 +00:00, Status: PARTIAL SYNC, 4 of 6 answered
Yellow flags:
- [A2] not in mawjs's memory: remove or re-discuss?
- [A3] unanswered: it does not count
- [A4] rejected here, though mawjs accepted it: does it still hold?
Actions:
- Kept in the record, raw: adfe0356-0f71-49a9-80a0-fb76883cd974/2026/04/13/100000000Z-00000002.md
- Asked mawjs whether [A4] still holds
`
	if err != nil || strings.ReplaceAll(text, " \n", "\n") != strings.ReplaceAll(want, " \n", "\n") {
		t.Errorf("%v, shown:\n%s", err, text)
	}
	all := outcome()
	all.Result.Groupthink, all.Result.Mechanical, all.Result.Late, all.Kind = true, true, true, control.SyncLate
	text, _ = shown(t, true, false, syncing(all))
	for _, want := range []string{"🔄 Synchronic", "⚠️ Yellow flags", "✓ Actions", "- 100%: all is agreed on", "(mechanical) (late)"} {
		if !strings.Contains(text, want) {
			t.Errorf("at a terminal %q is missing:\n%s", want, text)
		}
	}
}

// Work-with W39, W52: a rejection is an answer like any other. Silence is no answer: the exit code
// and the words say so.
func TestHowASyncEnds(t *testing.T) {
	silent := control.SyncEvent{Kind: control.SyncTimeout, With: "mawjs", Topic: "t", Took: control.Seconds(time.Minute)}
	text, err := shown(t, false, false, syncing(silent))
	if control.AsError(err).Kind != control.KindTimeout || !strings.Contains(text, `mawjs: no result for "t" within 1m`) || !strings.Contains(text, "Unknown state, not rejection") {
		t.Errorf("%v:\n%s", err, text)
	}
	if _, err := shown(t, false, false, syncing(silent, outcome())); err != nil {
		t.Errorf("one of two answered: %v", err)
	}
	if _, err := shown(t, false, false, syncing(control.SyncEvent{Kind: control.SyncRefused, Problem: "it is closed"})); err == nil || !strings.Contains(err.Error(), "it is closed") {
		t.Errorf("refused: %v", err)
	}
	text, err = shown(t, false, false, syncing(control.SyncEvent{Kind: control.SyncProse, With: "mawjs", Topic: "t", Problem: "c/3.md"}, control.SyncEvent{Kind: control.SyncFailed, With: "mawui", Topic: "t", Problem: "c/4.md"}))
	if err == nil || control.AsError(err).Kind != control.KindFailed || !strings.Contains(text, `mawjs answered "t" in prose, which scores nothing: parley show c/3.md`) || !strings.Contains(text, `mawui failed on "t"`) {
		t.Errorf("%v:\n%s", err, text)
	}
	text, err = shown(t, false, true, syncing(silent, outcome()))
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var e control.SyncEvent
	if err != nil || len(lines) != 2 || json.Unmarshal([]byte(lines[1]), &e) != nil || e.Result == nil || len(e.Result.Rows) != 6 || e.Result.Raw != score(0.625) {
		t.Errorf("%v:\n%s", err, text)
	}
}
