package demo

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// It prevents: at 80 columns the terminal breaks the demo's tables, and its lines within words.
func TestDemoFitsTheTerminal(t *testing.T) {
	var out bytes.Buffer
	r := clitest.New(t, nil)
	r.HasMail([]control.Message{clitest.Message("That was 10 words, and a few more that nobody had counted.")})
	d := &demonstration{
		out: term.Screen{Writer: &out, Terminal: true, Width: 80}, dir: t.TempDir(), binary: "echo",
		root: func(p *cli.Program) *cobra.Command {
			p.Connect, p.Zone, p.Now = r.Program.Connect, r.Program.Zone, r.Program.Now
			return cli.NewRoot(p, talk.NewInboxCommand(p))
		},
	}
	err := d.perform(t.Context(), []string{
		"# How far a message has come: stored, heard, recorded, pushed, read, answered.",
		"at oracle-world",
		"type parley init --fleet demo --remote shared.git --listen 127.0.0.1:0 --human 'nat bo'",
		"at white",
		"type parley agent add calc --exec 'parley demo-agent calc'",
		"capture folder '(agent) add'",
		"cut cutit whole",
		"exec PARLEY_AGENT=calc parley " + clitest.MessagePath + " $folder '$folder' cutit",
		"only ag.nt ^cutit parley an agent is here",
		"say All 176 messages and receipts are in the shared record and in the records of both nodes.",
		"at oracle-world",
		"look parley inbox",
	})
	if err != nil {
		t.Error(err)
	}
	want := `
1  How far a message has come: stored, heard, recorded, pushed, read, answered.
  oracle-world$ parley init --fleet demo --remote shared.git --listen \
      127.0.0.1:0 --human 'nat bo'
  white$ parley agent add calc --exec 'parley demo-agent calc'
  white$ PARLEY_AGENT=calc parley \
      ` + clitest.MessagePath + ` \
      agent '$folder' cutit
    ` + clitest.MessagePath + `
      agent $folder whole
  white$ parley an agent is here
    agent is here
  All 176 messages and receipts are in the shared record and in the records of
  both nodes.
  oracle-world$ parley inbox
    TIME        FROM         CHANNEL  ID        TEXT
    2026-05-23  mawjs@white  direct   b2c3d4e5  That was 10 words, and …
    next: parley read b2c3d4e5   read the first; its sender gets a receipt
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// A line of a script that fails ends the demo, and says what was seen instead.
func TestDemoFails(t *testing.T) {
	for line, want := range map[string]string{
		"exec false":                "exec false: exit status 1",
		"! exec true":               "! exec true: it was done, and should be refused",
		"stdout hello":              "stdout hello: it printed:\nsaid",
		"only hello bye echo said":  "only hello bye echo said: it printed:\nsaid",
		"capture name '(hello)'":    "capture name '(hello)': it printed:\nsaid",
		"count 2 said":              "count 2 said: there are 1",
		"quiet nothing-of-the-kind": "not found",
	} {
		var out bytes.Buffer
		d := &demonstration{out: term.Screen{Writer: &out}, dir: t.TempDir()}
		err := d.perform(t.Context(), []string{"exec echo said", line})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// It prevents: a slip in a script that only whoever plays it to that line would see.
func TestScriptsCanBeRead(t *testing.T) {
	arguments := map[string]int{"until": 1, "only": 2, "stdout": 1, "stderr": 1, "cut": 1} // the first of them are patterns
	for _, script := range []string{talkScript, partyScript, frameScript} {
		lines, _ := sections(script)
		for _, line := range lines {
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			args := (&demonstration{}).split(strings.TrimPrefix(line, "! "))
			if words[args[0]] == nil || len(args) < 2 || strings.Count(line, "'")%2 != 0 {
				t.Errorf("cannot be read: %s", line)
			}
			for i := range arguments[args[0]] {
				if _, err := regexp.Compile(args[1+i]); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
	}
}

// The demo's agent stands for an agent that remembers. A sync-check reads its answer by the
// answer's form.
func TestDemoAgentAnswersASyncCheck(t *testing.T) {
	check := protocol.SyncCheck{FormHead: protocol.FormHead{From: "skills", Topic: "panes"}, Claims: []protocol.Claim{
		{ItemRef: protocol.ItemRef{Label: "A1", Text: "Panes are named after agents"}}, {ItemRef: protocol.ItemRef{Label: "P1", Text: "Who restarts a pane?"}},
	}}
	result, err := protocol.AnswerSync.Parse(scored(protocol.CheckSync.Format(check)))
	if err != nil || len(result.Rows) != 2 {
		t.Fatalf("%+v, %v", result, err)
	}
	for i, want := range []protocol.Decision{protocol.DecisionAccept, protocol.DecisionPartial} {
		if got := result.Rows[i]; got.Decision != want || got.Evidence == "" {
			t.Errorf("row %d is %+v, want %s with evidence", i, got, want)
		}
	}
	if got := scored("[party:panes] The restart test is next"); strings.Contains(got, "SYNC-RESULT") {
		t.Errorf("what is no check is answered by %q", got)
	}
}
