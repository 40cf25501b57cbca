package demo

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// gitShow runs the git program on the shared repository, and shows what it prints.
func (d *demonstration) gitShow(ctx context.Context, args ...string) error {
	d.out.Printf("  %s git %s\n", d.out.Dim("shared.git$"), strings.Join(args, " "))
	out, err := gitCommand(ctx, append([]string{"-C", d.remote}, args...)...).Output()
	if err != nil {
		return fmt.Errorf("git %s: %w", args[0], err)
	}
	d.indent(string(out))
	return nil
}

// gitCommand is a run of the git program. It ends when `ctx` ends, whatever its helpers do.
func gitCommand(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.WaitDelay = time.Second
	return cmd
}

func (d *demonstration) gitQuiet(ctx context.Context, dir string, args ...string) error {
	cmd := gitCommand(ctx, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, term.Line(strings.TrimSpace(string(out))))
	}
	return nil
}

// verify compares the files of a repository with the messages that should be in it, by their paths
// and by git's own ids of their bytes.
func (d *demonstration) verify(ctx context.Context, repository string, all []control.Message) error {
	if err := d.gitQuiet(ctx, repository, "fsck", "--strict", "--full"); err != nil {
		return err
	}
	out, err := gitCommand(ctx, "-C", repository, "ls-tree", "-r", "--name-only", "main", protocol.ChannelsDir+"/").Output()
	if err != nil {
		return fmt.Errorf("git ls-tree: %w", err)
	}
	found := map[string]int{}
	for _, name := range strings.Fields(string(out)) {
		if strings.HasSuffix(name, ".md") {
			found[name]++
		}
	}
	for _, m := range all {
		if found[m.Path.RepoPath()] != 1 {
			return fmt.Errorf("%s stands %d times in %s", m.Path, found[m.Path.RepoPath()], repository)
		}
		delete(found, m.Path.RepoPath())
	}
	for name := range found {
		return fmt.Errorf("%s holds %s, which no host knows", repository, name)
	}
	return nil
}
