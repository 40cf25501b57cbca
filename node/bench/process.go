package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// process is a node that runs as a process of its own, as "parley up" does.
type process struct {
	client *control.Client
	cmd    *exec.Cmd
	output bytes.Buffer // to be read after the process has ended
	ended  chan struct{}
	result error // why it ended; to be read after `ended` is closed
}

// startProcess starts the node of a home. It may not answer yet.
func (s *stand) startProcess(ctx context.Context, home configs.Home) (*process, error) {
	words := append(s.options.Command[1:len(s.options.Command):len(s.options.Command)], "--home", home.Dir, "up")
	p := &process{
		client: control.NewClient(home.Socket(), version),
		cmd:    exec.CommandContext(ctx, s.options.Command[0], words...),
		ended:  make(chan struct{}),
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.output, &p.output
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start a node: %w", err)
	}
	go func() { // ends with the process
		p.result = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// running says why the process no longer runs. It is nil while the process runs.
func (p *process) running() error {
	select {
	case <-p.ended:
		return fmt.Errorf("the node ended by itself: %w: %s", p.result, strings.TrimSpace(p.output.String()))
	default:
		return nil
	}
}

// stop asks the node to drain and waits until the process has ended.
func (p *process) stop(ctx context.Context) error {
	if _, err := control.Stop.Ask(ctx, p.client); err != nil {
		return errors.Join(err, p.kill())
	}
	<-p.ended
	if p.result != nil {
		return fmt.Errorf("the node did not end well: %w: %s", p.result, strings.TrimSpace(p.output.String()))
	}
	return nil
}

// kill ends the process at once, if it still runs.
func (p *process) kill() error {
	err := p.cmd.Process.Kill()
	<-p.ended
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}
