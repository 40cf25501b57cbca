package demo

import (
	"bytes"
	"context"
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
	r := clitest.New(t, func(p *cli.Program) *cobra.Command { return cli.NewRoot(p, NewCommand(p)) })
	r.Mail = []control.Message{clitest.Message("That was 10 words, and a few more that nobody had counted.")}
	d := &demonstration{out: term.Screen{Writer: &out, Terminal: true, Width: 80}, dir: "/tmp/demo", binary: "/bin/parley",
		nodes: map[string]*demoNode{demoHub: {client: &r.Recorder}}}
	d.show(demoHub, []string{"init", "--fleet", "demo", "--remote", "/tmp/demo/shared.git", "--listen", "127.0.0.1:0", "--human", "nat bo"})
	d.show(demoOther, []string{"agent", "add", "calc", "--exec", "/bin/parley demo-agent calc"})
	d.indent(clitest.MessagePath + "  stored · heard by white\nThat was 10 words.\n")
	d.say("All 176 messages and receipts are in the shared record and in both nodes' records, each exactly once.")
	err := d.look(t.Context(), demoHub, "inbox", func(ctx context.Context, client control.Service, v cli.View) error {
		v.Zone, v.Now = r.Program.Zone, r.Program.Now
		return talk.RunInbox(ctx, control.InboxRequest{}, client, v)
	})
	if err != nil {
		t.Error(err)
	}
	want := `
  oracle-world$ parley init --fleet demo --remote shared.git --listen \
      127.0.0.1:0 --human 'nat bo'
  white$ parley agent add calc --exec 'parley demo-agent calc'
    ` + clitest.MessagePath + `
      stored · heard by white
    That was 10 words.
  All 176 messages and receipts are in the shared record and in both nodes'
  records, each exactly once.
  oracle-world$ parley inbox
    TIME                FROM         CHANNEL  ID        TEXT
    05-23 21:01 +02:00  mawjs@white  direct   b2c3d4e5  That was 10 words, and …
    next: parley read b2c3d4e5   read the first; its sender gets a receipt
`
	if diff := cmp.Diff(want, "\n"+out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}

// It prevents: a row "HOST-VOUCH | host: …" in the demo's table, which nobody understands.
func TestDemoShowsTheConversation(t *testing.T) {
	hey, receipt := clitest.Message("hello"), clitest.Message("")
	receipt.Type, receipt.Act = protocol.TypeRead, protocol.ActRead
	all := []control.Message{receipt, hey}
	for _, act := range []protocol.Act{protocol.ActHostJoin, protocol.ActHostAgents, protocol.ActHostVouch, protocol.ActHostRotate, protocol.ActHostRevoke} {
		said := clitest.Message("HOST")
		said.Act = act
		all = append(all, said)
	}
	if got := conversation(all); len(got) != 1 || got[0].Body != hey.Body {
		t.Errorf("%d messages are shown, want the one that somebody said", len(got))
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
