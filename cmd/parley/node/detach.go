package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/environ"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
)

const (
	readyPoll = 30 * time.Millisecond
	// lastWords is how many bytes are shown of what a node said that could not start.
	lastWords = 64 << 10
)

// runDetached starts the node, and returns once it answers and `ready` has said so. If the node reads a
// long record, runDetached waits as long as the node lives. Where the system has a service of the
// node, the system starts it: beside one by hand the service could not start. Else, or where the
// system does not, the node is a process of its own.
func runDetached(ctx context.Context, p *cli.Program, home configs.Home, moved, unwatched bool, v cli.View, ready func()) error {
	client := p.Connect(home.Socket())
	if _, err := upConfig(home, moved); err != nil && !isUnknown(err) {
		return err
	}
	if already, err := startedBy(ctx, client, v); already {
		return err
	}
	if s, _ := serviceOf(ctx, p, home); s.Folder != "" && !moved && !unwatched {
		err := begin(ctx, s)
		if err == nil {
			return answers(ctx, s, 0, client, v, ready)
		}
		e := control.AsError(err)
		v.Note("note: " + e.Message + ". The node runs without it now; to change that: parley stop && " + e.Hint)
	}
	file, err := cli.OpenLog(home)
	if err != nil {
		return err
	}
	defer file.Close()
	offset, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	up, err := startInBackground(home, moved, unwatched || p.Unwatched, file)
	if err != nil {
		return fmt.Errorf("cannot start: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- up.Wait() }() // ends with the process, or with this one
	bar := v.Progress("starting the node")
	defer bar.End()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s, err := control.ShowStatus.Ask(ctx, client)
			if saysIdle(err, bar, v) {
				return nil
			}
			bar.Say(saidMeanwhile(err))
			if err == nil && s.PID == up.Process.Pid {
				bar.End()
				ready()
				return nil
			}
		case err := <-ended:
			bar.End()
			if already, err := startedBy(ctx, client, v); already { // somebody else was faster
				return err
			}
			return whyNotUp(home, offset, err, bar, v)
		case <-ctx.Done():
			interrupt(up.Process)
			<-ended
			return control.Errorf(control.KindFailed, "parley up -d", "interrupted: the node was stopped before it was ready")
		}
	}
}

// showStarted says that the node runs in the background, and what it has found.
func showStarted(ctx context.Context, client control.Service, v cli.View) {
	showReady(ctx, client, v, true)
	v.Next("parley who", "who can be reached; "+v.Command("parley logs -f")+" shows what it does, "+v.Command("parley stop")+" ends it")
	showCatchUp(ctx, client, v)
}

// startedBy reports whether another command has started the node of the home. It waits until that
// node answers, which takes long if it reads a long record.
func startedBy(ctx context.Context, client control.Service, v cli.View) (already bool, err error) {
	bar := v.Progress("waiting for the node, which another command has started")
	defer bar.End()
	for {
		s, err := control.ShowStatus.Ask(ctx, client)
		said := saidMeanwhile(err)
		switch {
		case err == nil:
			bar.End()
			return true, runsAlready(v, s)
		case said == "":
			return already, err
		}
		already = true
		bar.Say(said)
		if !wait.Sleep(ctx, readyPoll) {
			return true, ctx.Err()
		}
	}
}

// runsAlready says that a node runs on the home: that is what was asked for.
func runsAlready(v cli.View, s control.Status) error {
	v.Out.Printf("the node runs already, and was left alone:\n")
	ShowStatusLine(v, s)
	v.Next("parley status", "how it fares")
	return nil
}

// saysIdle shows why a node does nothing, if it answered that.
func saysIdle(err error, bar *cli.Bar, v cli.View) bool {
	e := new(control.Error)
	if !errors.As(err, &e) || !strings.HasPrefix(e.Message, idles) {
		return false
	}
	bar.End()
	v.Note(e.Message + "; " + e.Hint)
	return true
}

// saidMeanwhile is what a starting node says about its start; "" if none answers.
func saidMeanwhile(err error) string {
	e := new(control.Error)
	if errors.As(err, &e) && e.Kind == control.KindUnavailable && strings.HasPrefix(e.Message, "the node is starting") {
		return e.Message
	}
	return ""
}

// startInBackground starts "parley up" with its standard error in the log, so that even the words
// of a crash are kept.
func startInBackground(home configs.Home, moved, unwatched bool, log *os.File) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	// The name under which this program was started tells it which program it is.
	cmd.Args = []string{os.Args[0], "--home", home.Dir, "up", "--background"}
	if moved {
		cmd.Args = append(cmd.Args, "--moved")
	}
	if unwatched {
		cmd.Args = append(cmd.Args, "--unwatched")
	}
	cmd.Stderr = log
	cmd.Env = environ.Clean(os.Environ())
	cmd.SysProcAttr = ownSession()
	return cmd, cmd.Start()
}

// whyNotUp shows what a node that could not start has said itself.
func whyNotUp(home configs.Home, begin int64, ended error, bar *cli.Bar, v cli.View) error {
	bar.End()
	said := wordsSince(home, begin)
	var exit *exec.ExitError
	if said != "" && errors.As(ended, &exit) && exit.ExitCode() > 0 {
		v.Err.Printf("%s\n", term.Visible(said))
		return cli.ExitCode(exit.ExitCode())
	}
	why := "it ended at once"
	if ended != nil {
		why = ended.Error()
	}
	return control.Errorf(control.KindFailed, "parley logs", "cannot start: %s", why)
}

// wordsSince returns the lines of the log from an offset on that the logger did not write: what the
// process itself said.
func wordsSince(home configs.Home, begin int64) string {
	file, err := os.Open(home.Log())
	if err != nil {
		return ""
	}
	defer file.Close()
	data, err := io.ReadAll(io.NewSectionReader(file, begin, lastWords))
	if err != nil {
		return ""
	}
	var said []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" && !strings.HasPrefix(line, "{") {
			said = append(said, line)
		}
	}
	return strings.Join(said, "\n")
}
