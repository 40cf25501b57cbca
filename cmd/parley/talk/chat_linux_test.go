package talk

import (
	"context"
	"fmt"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	xterm "golang.org/x/term"
)

// talker is a node with one channel. The test hands out the messages of this channel.
type talker struct {
	sent chan control.SendRequest
	come chan control.Message
	read chan control.ShownRequest
}

func newTalker(r *clitest.Run) talker {
	s := talker{make(chan control.SendRequest), make(chan control.Message), make(chan control.ShownRequest, 1)}
	m := clitest.Message("")
	clitest.On(r, control.ShowStatus.Verb, clitest.SomeStatus())
	clitest.On(r, control.ShowChannel, control.Channel{ID: m.Channel, Participants: []string{"mawjs", "nat"}})
	r.By(
		control.Shown.By(func(_ context.Context, q control.ShownRequest) (control.Marked, error) {
			s.read <- q
			return control.Marked{}, nil
		}),
		control.Send.By(func(_ context.Context, q control.SendRequest) (control.Message, error) {
			s.sent <- q
			m := m
			m.Path = protocol.NewPath(m.Channel, m.Timestamp, uint32(len(q.Body)))
			return m, nil
		}),
		control.Log.By(func(ctx context.Context, _ control.LogRequest, yield func(control.Message) error) error {
			for {
				select {
				case m := <-s.come:
					if err := yield(m); err != nil {
						return err
					}
				case <-ctx.Done():
					return nil
				}
			}
		}),
	)
	return s
}

// At a terminal, a message that comes is shown above the line that is being typed. That line stays
// whole. The terminal is as before when the chat ends.
func TestChatAtATerminal(t *testing.T) {
	p := clitest.OpenTerminal(t)
	before, err := xterm.GetState(int(p.Side.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	run := newRun(t)
	s := newTalker(run)
	run.Program.Stdin = p.Side
	run.Program.Out = term.NewScreen(p.Side, func(string) string { return "" })
	code := make(chan int, 1)
	go func() { code <- run.Do("chat", "mawjs", "--channel", "sprint") }()
	p.Shows("talking with mawjs as nat")

	p.Type("hello there\r")
	if r := <-s.sent; r.Body != "hello there" || r.To[0] != "mawjs" || r.As != "nat" || r.Channel != "sprint" {
		t.Errorf("sent %+v", r)
	}
	p.Shows("stored")
	p.Type("half a li")
	m := clitest.Message("an answer that is too long for one line of sixty columns, \x1b[31mwith red\x1b[0m in it")
	m.Path = protocol.NewPath(m.Channel, m.Timestamp, 1)
	s.come <- m
	p.Shows("␛[31mwith red␛[0m in it")
	if r := <-s.read; r.As != "nat" || len(r.Paths) != 1 || r.Paths[0] != m.Path {
		t.Errorf("what was shown to nat is told as %+v", r)
	}
	p.Type("ne\r")
	if r := <-s.sent; r.Body != "half a line" {
		t.Errorf("sent %q: what came broke the line that was typed", r.Body)
	}

	// Several lines make one message if they are joined by a backslash, in quotes, or pasted.
	for keys, want := range map[string]string{
		"one\\\rtwo\r":                         "one\ntwo",
		"\"\"\"\rthree\r\rfour\r\"\"\"\r":      "three\n\nfour",
		"\x1b[200~five\rsix\r\x1b[201~seven\r": "five\nsix\nseven",
	} {
		p.Type(keys)
		if r := <-s.sent; r.Body != want {
			t.Errorf("%q sends %q, want %q", keys, r.Body, want)
		}
	}
	p.Type("/who\r")
	p.Shows("mawjs, nat")
	p.Type("/nonsense\r")
	p.Shows("there is no command /nonsense")
	p.Type("\x04")
	if c := <-code; c != cli.ExitDone {
		t.Errorf("exit %d, %s", c, run.Err.String())
	}
	after, err := xterm.GetState(int(p.Side.Fd()))
	if err != nil || fmt.Sprintf("%+v", *after) != fmt.Sprintf("%+v", *before) {
		t.Errorf("the terminal was left as %+v, was %+v, %v", after, before, err)
	}
}

// It prevents: a name with a slip in it is taken, and refused only once a whole text is typed.
func TestChatWithNobodyIsRefusedAtOnce(t *testing.T) {
	p := clitest.OpenTerminal(t)
	run := newRun(t)
	run.Failure = control.Errorf(control.KindNotFound, "did you mean mawjs? see: parley who", `nobody is called "mawsj"`)
	run.Program.Stdin = p.Side
	run.Program.Out = term.NewScreen(p.Side, func(string) string { return "" })
	if code := run.Do("chat", "mawsj"); code != cli.ExitFailed {
		t.Errorf("exit %d", code)
	}
	want := "parley: nobody is called \"mawsj\"\nhint: did you mean mawjs? see: parley who\n"
	if got := run.Asked; len(got) != 1 || got[0] != `talk {"to":"mawsj"}` {
		t.Errorf("asked %q", got)
	}
	if got := run.Err.String(); got != want {
		t.Errorf("said %q, want %q", got, want)
	}
}
