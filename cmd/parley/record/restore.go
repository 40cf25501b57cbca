package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
)

func newRestoreCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "restore DIR",
		Short: "Make the host of a backup again, on a machine without one",
		Long: `Make the host of a backup again, on a machine that has no node: with its keys,
its record, its settings and its agents. The backup is only read. The backup
must have the keys (record backup --with-keys); without them a new host can be
made of its record, by parley join.

Two nodes with one key would do everything twice. So the host must run nowhere
else any more.`,
		Example: `  parley record restore /mnt/backup/parley
  parley up -d`,
		Args: cli.Exactly(1, "the folder of a backup"),
		RunE: p.AtHome(func(cmd *cobra.Command, args []string, home configs.Home, v cli.View) error {
			if err := p.ForOperator("restore a host"); err != nil {
				return err
			}
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("cannot find the folder %s: %w", args[0], err)
			}
			return runRestore(cmd.Context(), home, dir, v)
		}),
	}
	return p.JSONFlag(cmd, "print what was restored as JSON")
}

// Restored is what "record restore --json" prints.
type Restored struct {
	Home  string `json:"home"`  // the home that was made
	Fleet string `json:"fleet"` // the name of the fleet
	Host  string `json:"host"`  // the alias of the host
	Tip   string `json:"tip"`   // the commit of main that the backup has
}

func runRestore(ctx context.Context, home configs.Home, dir string, v cli.View) error {
	b, err := configs.ReadBackup(manifest(dir))
	switch {
	case err != nil:
		return err
	case b == nil:
		return control.Errorf(control.KindNotFound, "name the folder that parley record backup wrote", "cannot restore: no backup is in %s", dir)
	case cli.Configured(home) && !cutShort(home, dir):
		return control.Errorf(control.KindConflict, "name another home with --home DIR; or put that one aside", "cannot restore: there is a node at %s already", home.Dir)
	case !b.Keys:
		return control.Errorf(control.KindRefused, "for a new host of this record: parley join "+term.Shell(recordIn(dir))+" --alias NAME",
			"cannot restore the host %s: the backup has no keys, and without them nobody can speak for it", b.Alias)
	}
	done := v.Busy("reading the backup")
	defer done()
	// A copy is joined: a host that joins pushes, and a backup is only read.
	work, err := os.MkdirTemp("", "parley-restore-")
	if err != nil {
		return fmt.Errorf("cannot restore: %w", err)
	}
	defer os.RemoveAll(work)
	copied := filepath.Join(work, "record.git")
	id, err := took(ctx, recordIn(dir), copied)
	if err != nil {
		return fmt.Errorf("cannot restore: the record of the backup is not whole: %w", err)
	}
	from := settingsIn(dir)
	cfg, err := configs.Load(from.Config())
	if err != nil {
		return fmt.Errorf("cannot restore: the settings of the backup are not whole: %w", err)
	}
	if id != b.Record || cfg.Alias != b.Alias {
		return control.Errorf(control.KindRefused, "make the backup again", "cannot restore: the backup says that it is of %s in the record %s, and has the settings of %s and the record %s",
			b.Alias, cli.ShortHash(b.Record), cfg.Alias, cli.ShortHash(id))
	}
	if _, err := git(ctx, copied, "cat-file", "-e", b.Tip+"^{commit}"); err != nil { // a backup that was cut short has more
		return control.Errorf(control.KindFailed, "make the backup again, or join the fleet anew", "cannot restore: the record of the backup lacks commit %s, which it should have", b.Tip)
	}
	if err := home.Check(); err != nil {
		return fmt.Errorf("cannot restore: %w", err)
	}
	if err := errors.Join(os.MkdirAll(home.Dir, 0o700), os.WriteFile(restoring(home), nil, 0o600)); err != nil {
		return fmt.Errorf("cannot restore: %w", err)
	}
	defer os.Remove(restoring(home))
	if err := copyAll(secret(from), home.Dir); err != nil { // first, so that the fleet knows this host again
		return fmt.Errorf("cannot restore the keys: %w", err)
	}
	if !cli.Configured(home) {
		_, err = node.Init(ctx, homes.Options{
			Home: home, Version: cli.Version, Alias: b.Alias.String(), Human: b.Human.String(), Remote: copied, Join: true, Log: zerolog.Nop(),
		})
		if err != nil {
			return err
		}
	}
	if err := copyAll(append(kept(from), secret(from)...), home.Dir); err != nil {
		return fmt.Errorf("cannot restore the settings: %w", err)
	}
	if err := b.Write(home.Backed()); err != nil {
		return err
	}
	done()
	return v.Show(Restored{home.Dir, b.Fleet.String(), b.Alias.String(), b.Tip}, nil, func() {
		v.Say(fmt.Sprintf("%s, of the fleet %s, is here again as it was at %s, in %s.", b.Alias, b.Fleet, v.Stamp(b.Time), term.Line(home.Dir)))
		v.Say("It must run nowhere else any more: two nodes with one key would do everything twice.")
		v.Next("parley up -d", "start it")
	})
}

// settingsIn is the folder of a backup with the settings: the one before, if a backup was killed as
// the new one took its place.
func settingsIn(dir string) configs.Home {
	home := homeIn(dir)
	if _, err := os.Lstat(home.Dir); errors.Is(err, fs.ErrNotExist) {
		home.Dir += lastOne
	}
	return home
}

// restoring is a file beside a home that is there while the home is restored.
func restoring(home configs.Home) string { return filepath.Clean(home.Dir) + ".restoring" }

// cutShort reports whether a home was being restored from that backup when the command was killed.
func cutShort(home configs.Home, dir string) bool {
	_, err := os.Lstat(restoring(home))
	ours, here := os.ReadFile(home.HostKey())
	theirs, there := os.ReadFile(settingsIn(dir).HostKey())
	return err == nil && here == nil && there == nil && bytes.Equal(ours, theirs)
}

// took makes a repository with the objects and the branches of another, in which git is not run:
// its settings could have git run a program. It returns the record's id.
func took(ctx context.Context, from, to string) (id string, err error) {
	if err := ours(ctx, to); err != nil {
		return "", err
	}
	var parts []string
	for _, name := range []string{"objects", "refs", "packed-refs"} {
		parts = append(parts, filepath.Join(from, name))
	}
	if err := errors.Join(copyAll(parts, to), os.RemoveAll(filepath.Join(to, "objects/info/alternates"))); err != nil {
		return "", err
	}
	id, _, err = checked(ctx, to)
	return id, err
}
