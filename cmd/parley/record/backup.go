package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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

func newBackupCommand(p *cli.Program) *cobra.Command {
	keys := false
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy the record and the settings of this host into a folder",
		Long: `Copy the record and the settings of this host into a folder, such as one on
another disk, and check what was written. The node may run meanwhile. The first
backup copies all; later ones into the same folder only what is new.

With --with-keys the secret keys of the host and of its humans are copied too:
whoever has the folder can then speak as them. Keep it as safe as a password.
Later backups into that folder have them too. Without the keys, another host can
be made of the backup, and not this one again.

parley record restore DIR makes this host again, on a machine without one.`,
		Example: `  parley record backup /mnt/backup/parley
  parley record backup /mnt/backup/parley --with-keys`,
		Args: cli.Exactly(1, "a folder"),
		RunE: p.AtHome(func(cmd *cobra.Command, args []string, home configs.Home, v cli.View) error {
			if err := p.ForOperator("back up"); err != nil {
				return err
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("cannot find the folder %s: %w", args[0], err)
			}
			return runBackup(cmd.Context(), p, home, dir, keys, v)
		}),
	}
	cmd.Flags().BoolVar(&keys, "with-keys", false, "the secret keys too")
	return p.JSONFlag(cmd, "print what was written as JSON")
}

// BackedUp is what "record backup --json" prints.
type BackedUp struct {
	Dir        string    `json:"dir"`        // the folder
	Time       time.Time `json:"time"`       // when it was made
	Tip        string    `json:"tip"`        // the commit of main that it has
	Keys       bool      `json:"keys"`       // the secret keys are in it
	Unrecorded int       `json:"unrecorded"` // messages that were stored and in no commit yet: the next backup has them
}

// kept are the files and folders of a home, beside the record, that nothing makes anew; secret are
// those with keys. Each is copied if it is there.
func kept(h configs.Home) []string {
	return []string{h.Config(), h.Agents(), h.Runs(), h.Spool(), h.Prompts(), h.Current(), h.Notified(), h.Withheld()}
}

func secret(h configs.Home) []string { return []string{h.Keys(), h.Humans()} }

func runBackup(ctx context.Context, p *cli.Program, home configs.Home, dir string, keys bool, v cli.View) error {
	if !cli.Configured(home) {
		return cli.NotConfigured(home, "cannot back up: ")
	}
	if err := cli.CopiedHome(home, "cannot back up"); err != nil {
		return err
	}
	cfg, err := configs.Load(home.Config())
	if err != nil {
		return fmt.Errorf("cannot back up: %w", err)
	}
	b := configs.Backup{Time: p.Now().UTC().Truncate(time.Second), Dir: dir, Fleet: cfg.Fleet, Alias: cfg.Alias, Human: cfg.Human, Keys: keys}
	old, err := placeOf(ctx, home, b)
	if err != nil {
		return err
	}
	b.Keys = keys || old != nil && old.Keys
	working := v.Busy("copying the record")
	defer working()
	unrecorded, err := settled(ctx, p.Connect(home.Socket()))
	if err != nil {
		return fmt.Errorf("cannot back up: %w", err)
	}
	if b.Record, b.Tip, err = mirror(ctx, home.Record(), recordIn(dir)); err != nil {
		return fmt.Errorf("cannot back up the record: %w", err)
	}
	if err := copySettings(home, dir, b.Keys); err != nil {
		return fmt.Errorf("cannot back up the settings: %w", err)
	}
	if err := errors.Join(b.Write(manifest(dir)), b.Write(home.Backed())); err != nil {
		return err
	}
	working()
	done := BackedUp{dir, b.Time, b.Tip, b.Keys, unrecorded}
	return v.Show(done, nil, func() {
		with := ", without the secret keys: --with-keys has them too"
		if b.Keys {
			with = ", with the secret keys: keep it as safe as a password"
		}
		v.Say(fmt.Sprintf("The record up to commit %s and the settings of %s are in %s%s.", cli.ShortHash(b.Tip), b.Alias, term.Line(dir), with))
		if unrecorded > 0 {
			v.Note(cli.Count(unrecorded, "message") + " stored and in no commit yet: the next backup has them")
		}
		if b.Keys {
			v.Next("parley record restore "+term.Shell(dir), "makes this host again, on a machine without one")
		} else {
			v.Next("parley join "+term.Shell(recordIn(dir))+" --alias NAME", "makes another host of it")
		}
	})
}

func manifest(dir string) string { return filepath.Join(dir, "backup.yaml") }
func recordIn(dir string) string { return filepath.Join(dir, "record.git") }

// homeIn is the folder with the settings, named as in a home.
func homeIn(dir string) configs.Home { return configs.Home{Dir: filepath.Join(dir, "home")} }

// lastOne ends the name of the settings that were there before, while new ones take their place.
const lastOne = ".old"

// placeOf makes the folder of a backup, and returns what an earlier one in it holds; nil if it was
// empty. Nothing that is no backup of this record is written over: so a first backup says what it is
// before it copies anything.
func placeOf(ctx context.Context, home configs.Home, b configs.Backup) (*configs.Backup, error) {
	dir := b.Dir
	if rel, err := filepath.Rel(home.Dir, dir); err == nil && !strings.HasPrefix(rel, "..") {
		return nil, control.Errorf(control.KindUsage, "name a folder on another disk", "cannot back up into %s: it is in the home itself", dir)
	}
	old, err := configs.ReadBackup(manifest(dir))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot make the folder: %w", err)
	}
	if b.Record, err = git(ctx, home.Record(), "rev-list", "--max-parents=0", "main"); err != nil {
		return nil, fmt.Errorf("cannot back up the record: %w", err)
	}
	if old != nil {
		if b.Record != old.Record {
			err = control.Errorf(control.KindConflict, "name another folder", "cannot back up into %s: it has a backup of another record, of the fleet %s", dir, old.Fleet)
		}
		return old, err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = control.Errorf(control.KindConflict, "name an empty folder", "cannot back up into %s: something else is in it", dir)
	}
	if err := cmp.Or(err, os.Chmod(dir, 0o700)); err != nil {
		return nil, err
	}
	return nil, b.Write(manifest(dir))
}

// settleTime is how long a backup waits for what is stored to be committed.
const settleTime = 10 * time.Second

// settled waits until all that a running node has stored is committed, and counts what is not.
func settled(ctx context.Context, client control.Service) (unrecorded int, err error) {
	within, done := context.WithTimeout(ctx, settleTime)
	defer done()
	for {
		s, err := control.ShowStatus.Ask(within, client)
		switch {
		case err != nil && cli.NoNodeRuns(err): // one that has stopped has committed all
			return 0, ctx.Err()
		case err != nil:
			return unrecorded, cmp.Or(ctx.Err(), err)
		}
		if unrecorded = max(0, s.Record.Unrecorded-len(s.Record.Withheld)); unrecorded == 0 || !wait.Sleep(within, 100*time.Millisecond) {
			return unrecorded, ctx.Err()
		}
	}
}

// mirror makes a repository the same as another, and checks all of it. It returns the record's id
// and the commit of main that was copied.
func mirror(ctx context.Context, from, to string) (id, tip string, err error) {
	if err := ours(ctx, to); err != nil {
		return "", "", err
	}
	if _, err := git(ctx, to, "fetch", "--quiet", "--prune", "--no-auto-maintenance", from, "+refs/*:refs/*"); err != nil {
		return "", "", err
	}
	return checked(ctx, to)
}

// ours makes a repository, or takes out of one what somebody may have put there: settings and links
// could have git run a program, or write elsewhere.
func ours(ctx context.Context, dir string) error {
	for _, folder := range []string{dir, filepath.Join(dir, "objects"), filepath.Join(dir, "refs")} {
		if info, err := os.Lstat(folder); err == nil && !info.IsDir() {
			return control.Errorf(control.KindConflict, "name another folder", "%s is no folder", folder)
		}
	}
	for _, name := range []string{"config", "config.worktree", "commondir", "hooks", "objects/info/alternates"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	_, err := git(ctx, ".", "init", "--quiet", "--bare", "--initial-branch=main", dir)
	return err
}

// checked checks all of a repository. It returns the record's id and the commit of main.
func checked(ctx context.Context, to string) (id, tip string, err error) {
	if _, err := git(ctx, to, "fsck", "--no-dangling", "--no-progress"); err != nil {
		return "", "", err
	}
	if id, err = git(ctx, to, "rev-list", "--max-parents=0", "main"); err == nil {
		tip, err = git(ctx, to, "rev-parse", "main")
	}
	return id, tip, err
}

// git runs the git program in a repository, and returns what it says. A folder that was brought here,
// such as that of a backup, has no program run by its hooks.
func git(ctx context.Context, dir string, words ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.hooksPath=" + os.DevNull}, words...)...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(pair string) bool { // some would lead to another repository
		return strings.HasPrefix(pair, "GIT_")
	}), "LC_ALL=C")
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return "", control.Errorf(control.KindFailed, "install git", "git is not here, which copies it")
		}
		return "", fmt.Errorf("git %s: %s: %w", words[0], term.Line(strings.TrimSpace(told.String())), err)
	}
	return strings.TrimSpace(out.String()), nil
}

// copySettings copies what the home has beside the record. The new copy takes the place of the one
// before when it is whole.
func copySettings(home configs.Home, dir string, keys bool) error {
	to := homeIn(dir)
	fresh, last := configs.Home{Dir: to.Dir + ".new"}, to.Dir+lastOne
	if err := errors.Join(os.RemoveAll(fresh.Dir), os.MkdirAll(fresh.Dir, 0o700)); err != nil {
		return err
	}
	if err := copyAll(kept(home), fresh.Dir); err != nil {
		return err
	}
	if keys {
		if err := copyAll(secret(home), fresh.Dir); err != nil {
			return err
		}
	}
	if _, err := configs.Load(fresh.Config()); err != nil { // it was written whole
		return err
	}
	if err := os.RemoveAll(last); err != nil {
		return err
	}
	if err := os.Rename(to.Dir, last); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(os.Rename(fresh.Dir, to.Dir), os.RemoveAll(last))
}

// copyAll copies files and folders, as far as they are there, into a folder. Only their owner can
// read the copies. What goes away meanwhile is left out, and so is what is neither: nothing is read
// or written through a link.
func copyAll(paths []string, to string) error {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			}
			rel, err := filepath.Rel(filepath.Dir(path), file)
			if err != nil {
				return err
			}
			switch at := filepath.Join(to, rel); {
			case d.IsDir():
				return os.MkdirAll(at, 0o700)
			case d.Type().IsRegular():
				return copyFile(file, at)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
