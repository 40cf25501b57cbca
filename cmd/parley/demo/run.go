package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// command is a run of a program. parley runs for the host at which it is typed, in the folder of
// the demo: else the folder from which the demo was started could be an agent's. Other programs run
// in the folder at which they are typed. The nodes need no parley on their PATH.
func (d *demonstration) command(ctx context.Context, args []string) *exec.Cmd {
	env := []string{"PARLEY_HOME=" + d.home().Dir, "NO_COLOR=1", "PARLEY_UNWATCHED=1"} // an agent program may have started the demo
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PARLEY_") {
			env = append(env, kv)
		}
	}
	for ; strings.Contains(args[0], "="); args = args[1:] {
		env = append(env, args[0])
	}
	program, dir := args[0], d.home().Dir
	if program == "parley" {
		program, dir = d.binary, d.dir
	}
	given := make([]string, len(args)-1)
	for i, arg := range args[1:] {
		given[i] = strings.Replace(arg, "parley demo-agent", cli.ShellWord(d.binary)+" demo-agent", 1)
	}
	cmd := exec.CommandContext(ctx, program, given...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, time.Second // whatever git's helpers do
	return cmd
}

func (d *demonstration) home() configs.Home { return configs.Home{Dir: filepath.Join(d.dir, d.at)} }

func (d *demonstration) run(ctx context.Context, refused bool, args []string) error {
	var out, errs bytes.Buffer
	cmd := d.command(ctx, args)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	d.stdout, d.stderr = out.String(), errs.String()
	switch {
	case refused && err == nil:
		return errors.New("it was done, and should be refused")
	case !refused && err != nil:
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(d.stderr))
	}
	return nil
}

// background is a command that runs beside the demo, such as a node: a process of its own, as it
// would be on a machine of its own.
type background struct {
	name   string
	home   configs.Home
	cmd    *exec.Cmd
	output bytes.Buffer // it is read after the command has ended
	ended  chan struct{}
	err    error // how it ended
}

// start runs a command in the background.
func (d *demonstration) start(name string, args []string) error {
	b := &background{name: name, home: d.home(), cmd: d.command(context.Background(), args), ended: make(chan struct{})}
	b.cmd.Stdout, b.cmd.Stderr = &b.output, &b.output
	if err := b.cmd.Start(); err != nil {
		return err
	}
	d.behind = append(d.behind, b)
	go func() { // ends with the process
		b.err = b.cmd.Wait()
		close(b.ended)
	}()
	return nil
}

func (b *background) failed() error {
	select {
	case <-b.ended:
		if b.err != nil {
			return fmt.Errorf("the node of %s ended (%w): %s", b.name, b.err, strings.TrimSpace(b.output.String()))
		}
	default:
	}
	return nil
}

// stop ends a node that runs in the background, gently first. One that has only begun to start
// cannot be asked yet.
func (b *background) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), demoWait)
	defer cancel()
	for {
		_, err := control.Stop.Ask(ctx, control.NewClient(b.home.Socket(), cli.Version))
		select {
		case <-b.ended:
			return b.failed()
		case <-ctx.Done():
			return errors.Join(err, fmt.Errorf("the node of %s did not stop and was killed", b.name), b.cmd.Process.Kill())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// log is the end of a node's log.
func (b *background) log() string {
	data, err := os.ReadFile(b.home.Log())
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
