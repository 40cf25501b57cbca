package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// demoNode is one node of the demo. It is a process of its own, as it would be on a machine of its
// own.
type demoNode struct {
	alias  string
	home   configs.Home
	client control.Service
	up     *exec.Cmd // nil while it does not run
	ended  chan error
	output bytes.Buffer // of up; it is read after up has ended
}

// environment is the environment of every command for this node.
func (n *demoNode) environment() []string {
	env := []string{"PARLEY_HOME=" + n.home.Dir, "NO_COLOR=1"}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "PARLEY_") {
			env = append(env, kv)
		}
	}
	return env
}

// add makes a node's home with a command. It does not show what the command prints.
func (d *demonstration) add(ctx context.Context, alias string, words ...string) error {
	home := configs.Home{Dir: filepath.Join(d.dir, alias)}
	d.nodes[alias] = &demoNode{alias: alias, home: home, client: control.NewClient(home.Socket(), cli.Version)}
	_, err := d.run(ctx, alias, append(words, "--alias", alias, "--human", d.people[alias])...)
	return err
}

// run shows a command of parley at a host, runs it, shows what it prints, and returns that.
func (d *demonstration) run(ctx context.Context, alias string, args ...string) (string, error) {
	d.show(alias, args)
	stdout, stderr, err := d.parley(ctx, alias, nil, args...)
	if args[0] != "init" && args[0] != "join" || err != nil {
		d.indent(stderr)
		d.indent(stdout)
	}
	if err != nil {
		return "", fmt.Errorf("parley %s on %s: %w", args[0], alias, err)
	}
	return stdout, nil
}

// parley runs a command of parley at a host, and shows nothing of it.
func (d *demonstration) parley(ctx context.Context, alias string, env []string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(ctx, d.binary, args...)
	cmd.Dir = d.dir // else the folder from which the demo was started could be an agent's
	cmd.Env = append(d.nodes[alias].environment(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// show prints a command as a person would type it, in lines that fit the terminal.
func (d *demonstration) show(alias string, args []string) { d.showAs(alias, "parley", args) }

// showAs prints a command. Its first words are printed as they are.
func (d *demonstration) showAs(alias, first string, args []string) {
	width := len("  " + alias + "$ " + first)
	shown := "  " + d.out.Dim(alias+"$") + " " + first
	for _, arg := range args {
		word := cli.ShellWord(d.plain(arg))
		if width += 1 + term.Width(word); d.out.Width > 0 && width+len(" \\") > d.out.Width {
			shown, width = shown+" \\\n     ", len("      ")+term.Width(word)
		}
		shown += " " + word
	}
	d.out.Printf("%s\n", shown)
}

// plain takes the folder of the demo out of a word, and shows the path of the program as "parley".
func (d *demonstration) plain(arg string) string {
	arg = strings.ReplaceAll(arg, d.dir+string(os.PathSeparator), "")
	return strings.ReplaceAll(arg, cli.ShellWord(d.binary), "parley")
}

// say prints what the demo itself has to say.
func (d *demonstration) say(text string) {
	for _, line := range term.Wrap(text, d.out.Width-2) {
		d.out.Printf("  %s\n", line)
	}
}

// indent shows what a command has printed. A line that the terminal would break anywhere is broken
// at a space, and continues below itself.
func (d *demonstration) indent(text string) {
	for line := range strings.Lines(text) {
		before := marginText
		for _, part := range term.Wrap(term.Line(strings.TrimRight(line, "\r\n")), d.out.Width-6) {
			d.out.Printf("%s%s\n", before, part)
			before = marginText + "  "
		}
	}
}

// look shows a command that lists something at a host. It shows what a person there would see in a
// terminal with the width that is left here.
func (d *demonstration) look(ctx context.Context, alias, command string, run func(context.Context, control.Service, cli.View) error) error {
	d.show(alias, []string{command})
	screen := d.out
	screen.Writer = &margin{to: d.out.Writer}
	if screen.Width > 0 {
		screen.Width -= len(marginText)
	}
	v := cli.View{Out: screen, Err: screen, Zone: time.Local, Now: time.Now, Command: func(words string) string { return words }}
	return run(ctx, d.nodes[alias].client, v)
}

const marginText = "    "

// margin puts a margin before each line. It has to be given whole lines.
type margin struct{ to io.Writer }

// Write writes whole lines.
func (m *margin) Write(data []byte) (int, error) {
	for line := range strings.Lines(string(data)) {
		if _, err := io.WriteString(m.to, marginText+line); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}

// start runs "parley up" for a node and waits until it answers.
func (d *demonstration) start(ctx context.Context, alias string) error {
	n := d.nodes[alias]
	d.show(alias, []string{"up"})
	n.output.Reset()
	n.up = exec.Command(d.binary, "up")
	n.up.Env = n.environment()
	n.up.Stdout, n.up.Stderr = &n.output, &n.output
	n.ended = make(chan error, 1)
	if err := n.up.Start(); err != nil {
		n.up = nil
		return err
	}
	go func(up *exec.Cmd, ended chan<- error) { ended <- up.Wait() }(n.up, n.ended) // ends with the process
	return d.until(ctx, alias+" answers", func() (bool, error) {
		select {
		case err := <-n.ended:
			n.up = nil
			return false, fmt.Errorf("the node of %s ended at once (%w): %s", alias, err, strings.TrimSpace(n.output.String()))
		default:
		}
		_, err := control.ShowStatus.Ask(ctx, n.client)
		return err == nil, nil
	})
}

// stop ends the node's process, gently first.
func (n *demoNode) stop() error {
	if n.up == nil {
		return nil
	}
	up := n.up
	n.up = nil
	ctx, cancel := context.WithTimeout(context.Background(), demoWait)
	defer cancel()
	_, asked := control.Stop.Ask(ctx, n.client)
	select {
	case err := <-n.ended:
		return err
	case <-ctx.Done():
		return errors.Join(asked, fmt.Errorf("the node of %s did not stop and was killed", n.alias), up.Process.Kill())
	}
}

// until asks again and again until `so` returns true, as long as the demo waits.
func (d *demonstration) until(ctx context.Context, what string, so func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, demoWait)
	defer cancel()
	for {
		if ok, err := so(); ok || err != nil {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("waited %s in vain until %s", demoWait, what)
		}
	}
}

// showLogs prints the logs of the nodes after a step has failed.
func (d *demonstration) showLogs() {
	for alias, n := range d.nodes {
		data, err := os.ReadFile(n.home.Log())
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		d.out.Printf("\nlog of %s:\n", alias)
		d.indent(strings.Join(lines[max(0, len(lines)-10):], "\n"))
	}
}
