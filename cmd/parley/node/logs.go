package node

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

const (
	logsLast = 50                     // lines that logs shows at a terminal if no number is given
	logsPoll = 200 * time.Millisecond // time between two looks at a followed log
)

type logsRequest struct {
	last   int // 0: all
	follow bool
}

// NewLogsCommand is parley logs.
func NewLogsCommand(p *cli.Program) *cobra.Command {
	var r logsRequest
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show what the node has logged",
		Long: `Show what the node has logged in node.log of its home, also when no node is
running. --json prints the lines as they are: JSON, one a line, and between
them whatever the process said itself.`,
		Example: `  parley logs
  parley logs -f
  parley logs -n 0 --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(cmd *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			if r.last < 0 {
				return cli.UsageErrorf(cmd, "-n needs a number of lines, 0 for all")
			}
			if !cmd.Flags().Changed("last") && (r.follow || p.ForPeople()) {
				r.last = logsLast
			}
			return runLogs(cmd.Context(), home, r, v)
		}),
	}
	cmd.Flags().BoolVarP(&r.follow, "follow", "f", false, "go on with what is logged from now on")
	cmd.Flags().IntVarP(&r.last, "last", "n", 0, "only the last `N` lines; 0: all (default at a terminal: 50)")
	return p.JSONFlag(cmd, "print the lines as they are")
}

func runLogs(ctx context.Context, home configs.Home, r logsRequest, v cli.View) error {
	file, err := os.Open(home.Log())
	if errors.Is(err, fs.ErrNotExist) && !cli.Configured(home) {
		return cli.NotConfigured(home, "there is no log: ")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return control.Errorf(control.KindNotFound, "parley up -d", "there is no log yet: no node has run in %s", home.Dir)
	}
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	t := tail{file: file, show: func(line string) { logLine(v, line) }}
	defer func() { t.file.Close() }()
	if err := t.past(r.last); err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	if !r.follow {
		return nil
	}
	return t.follow(ctx, home.Log())
}

// tail reads a file that grows. The file may be replaced by a new one of the same name.
type tail struct {
	file    *os.File
	reader  *bufio.Reader
	partial string // a line whose end has not been written yet
	show    func(line string)
}

// past shows the last lines of the file. 0 means all lines.
func (t *tail) past(last int) error {
	t.reader = bufio.NewReader(t.file)
	if last == 0 {
		return t.read()
	}
	var kept []string
	show := t.show
	t.show = func(line string) {
		if kept = append(kept, line); len(kept) > last {
			kept = kept[1:]
		}
	}
	err := t.read()
	t.show = show
	for _, line := range kept {
		t.show(line)
	}
	return err
}

func (t *tail) read() error {
	for {
		line, err := t.reader.ReadString('\n')
		t.partial += line
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		t.show(strings.TrimRight(t.partial, "\r\n"))
		t.partial = ""
	}
}

func (t *tail) follow(ctx context.Context, path string) error {
	for wait.Sleep(ctx, logsPoll) {
		if err := t.read(); err != nil {
			return fmt.Errorf("cannot read the log: %w", err)
		}
		if err := t.change(path); err != nil {
			return err
		}
	}
	return nil
}

// change goes on with a new file of the same name, if there is one.
func (t *tail) change(path string) error {
	now, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the new file is about to be made
	}
	old, oldErr := t.file.Stat()
	if err := errors.Join(err, oldErr); err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	if os.SameFile(now, old) {
		return nil
	}
	if err := t.read(); err != nil { // these lines were written to the old file just before
		return fmt.Errorf("cannot read the log: %w", err)
	}
	next, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	t.file.Close()
	t.file, t.reader = next, bufio.NewReader(next)
	return t.read()
}

func logLine(v cli.View, line string) {
	var fields map[string]any
	if v.JSON {
		v.Out.Printf("%s\n", line)
		return
	}
	if json.Unmarshal([]byte(line), &fields) != nil {
		v.Out.Printf("%s\n", term.Visible(line))
		return
	}
	take := func(key string) string {
		text, _ := fields[key].(string)
		delete(fields, key)
		return text
	}
	when, level, message := take("time"), take("level"), take("message")
	if at, err := time.Parse(time.RFC3339, when); err == nil {
		when = v.At(at, cli.TimeForm)
	}
	var rest strings.Builder
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&rest, "  %s=%v", key, fields[key])
	}
	text := term.Pad(level, 5) + "  " + term.Line(message)
	if level == "warn" || level == "error" || level == "fatal" {
		text = v.Out.Warn(text)
	}
	v.Out.Printf("%s  %s%s\n", term.Line(when), text, v.Out.Dim(term.Line(rest.String())))
}
