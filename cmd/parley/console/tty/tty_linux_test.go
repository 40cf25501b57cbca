package tty

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
	xterm "golang.org/x/term"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

// At a terminal, a message is shown as it comes, answered with a few keys, and the terminal is as before
// when the console is left.
func TestConsoleAtATerminal(t *testing.T) {
	p := clitest.OpenTerminal(t)
	before, err := xterm.GetState(int(p.Side.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t)
	come, sent := make(chan control.Message), make(chan control.SendRequest, 1)
	r.By(
		control.Log.By(func(ctx context.Context, _ control.LogRequest, yield func(control.Message) error) error {
			for {
				select {
				case m := <-come:
					if err := yield(m); err != nil {
						return err
					}
				case <-ctx.Done():
					return nil
				}
			}
		}),
		control.Events.By(func(ctx context.Context, _ control.EventsRequest, yield func(control.Event) error) error {
			if err := yield(control.Event{Kind: control.EventBegun}); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		}),
		control.Send.By(func(_ context.Context, q control.SendRequest) (control.Message, error) {
			sent <- q
			return clitest.Message(""), nil
		}),
	)
	r.Program.Stdin, r.Program.Out = p.Side, term.NewScreen(p.Side, func(string) string { return "" })
	code := make(chan int, 1)
	go func() { code <- r.Do("console") }()
	p.Shows("No message yet.")
	come <- clitest.Message("look at \x1b[31mthis\x1b[0m")
	p.Shows("look at ␛[31mthis␛[0m")
	p.Type("r")
	p.Shows("to mawjs@white:")
	p.Type("I did\r")
	if q := <-sent; q.Body != "I did" || q.As != "nat" || q.Re != clitest.MessagePath {
		t.Errorf("sent %+v", q)
	}
	p.Shows("sent: stored")
	if err := unix.IoctlSetWinsize(int(p.Side.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 10, Col: 44}); err != nil {
		t.Fatal(err)
	}
	p.Type("2")
	p.Shows("[2 Fleet]")
	p.Type("q")
	if c := <-code; c != cli.ExitDone {
		t.Errorf("exit %d, %s", c, r.Err.String())
	}
	after, err := xterm.GetState(int(p.Side.Fd()))
	if err != nil || fmt.Sprintf("%+v", *after) != fmt.Sprintf("%+v", *before) {
		t.Errorf("the terminal was left as %+v, was %+v, %v", after, before, err)
	}
	p.Shows("\x1b[?1049l") // the screen that was there before is back
}

// It prevents: a terminal that is raw and without a cursor after the program was told to end.
func TestConsoleEndsWithItsContext(t *testing.T) {
	p := clitest.OpenTerminal(t)
	before, err := xterm.GetState(int(p.Side.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	r := newRun(t)
	r.Program.Stdin, r.Program.Out = p.Side, term.NewScreen(p.Side, func(string) string { return "" })
	var stop context.CancelFunc
	r.Ctx, stop = context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() { code <- r.Do("console") }()
	p.Shows("No message yet.")
	stop()
	if c := <-code; c != cli.ExitDone {
		t.Errorf("exit %d, %s", c, r.Err.String())
	}
	after, err := xterm.GetState(int(p.Side.Fd()))
	if err != nil || fmt.Sprintf("%+v", *after) != fmt.Sprintf("%+v", *before) {
		t.Errorf("the terminal was left as %+v, was %+v, %v", after, before, err)
	}
}
