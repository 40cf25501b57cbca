package root

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/release"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// upgrade is one run of parley upgrade.
type upgrade struct {
	check, back bool
	program     string // the path of the program that is to be replaced
	base        string // where the releases are
	home        configs.Home
	running     bool // a node ran when it began
}

func newUpgradeCommand(p *cli.Program) *cobra.Command {
	var u upgrade
	cmd := &cobra.Command{
		Use:     "upgrade",
		Aliases: []string{"update"},
		Short:   "Replace this program by the newest release, and restart the node",
		Long: `Replace this program by the newest release. The archive is downloaded, its
checksum compared, and the new program tried before it takes the place of the
old one, which is kept beside it with .old at its end. Then the node is
restarted; sessions, mail and what waits stay. If it does not start, the old
program is put back and started. --back goes back by hand.

Where a package manager has installed the program, its command is named instead.
Hosts of the newest version and of the one before it work in one fleet, so they
can be brought up to date one by one.

This command asks the releases, and no other command of parley does. PARLEY_BASE
names another place of theirs. "parley record upgrade" brings the record's own
documents up to date.`,
		Example: `  parley upgrade --check
  parley upgrade
  parley upgrade --back`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(cmd *cobra.Command, _ []string, home configs.Home, _ cli.View) (err error) {
			if u.check && u.back {
				return cli.UsageErrorf(cmd, "--check and --back exclude each other")
			}
			if !u.check {
				if err := p.ForOperator("replace this program"); err != nil {
					return err
				}
			}
			if u.program, err = thisProgram(); err != nil {
				return err
			}
			u.home, u.base = home, cmp.Or(p.Getenv("PARLEY_BASE"), release.Usual)
			return u.run(cmd.Context(), p)
		}),
	}
	cmd.Flags().BoolVar(&u.check, "check", false, "only say what is installed, what the fleet has, and what the newest is")
	cmd.Flags().BoolVar(&u.back, "back", false, "go back to the program that was replaced last")
	return p.JSONFlag(cmd, "print the versions, and what was done, as JSON")
}

// thisProgram is the file of this program, whatever links lead to it.
func thisProgram() (string, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("cannot tell where parley is: %w", err)
	}
	return path, nil
}

// Upgraded is what "parley upgrade --json" prints.
type Upgraded struct {
	Path      string         `json:"path"`      // of the program
	Installed string         `json:"installed"` // its version, before anything was done
	Newest    string         `json:"newest"`    // the newest release; "" with --back
	Fleet     []FleetVersion `json:"fleet"`     // what the hosts run, the newest first; empty if no node runs here
	Package   string         `json:"package"`   // the kind of package that has installed it, deb, rpm or brew; "" if none
	Command   string         `json:"command"`   // what to do instead, if a package has installed it and a newer one is there
	Now       string         `json:"now"`       // the version that is installed afterwards
}

// FleetVersion is a version that hosts of the fleet run.
type FleetVersion struct {
	Version string          `json:"version"` // "" if it was not heard since the start of the node
	Hosts   []protocol.Name `json:"hosts"`   // by alias
}

func (u *upgrade) run(ctx context.Context, p *cli.Program) error {
	v := p.View()
	_, err := control.ShowStatus.Ask(ctx, p.Connect(u.home.Socket()))
	u.running = err == nil || !cli.NoNodeRuns(err)
	done := Upgraded{Path: u.program, Installed: cli.Version, Now: cli.Version, Fleet: u.fleet(ctx, p)}
	owner := release.OwnerOf(ctx, u.program, runtime.GOARCH)
	if owner != nil {
		done.Package = owner.Name
	}
	if u.back {
		return u.goBack(ctx, p, done)
	}
	newest, err := release.Newest(ctx, u.base)
	if err != nil {
		return control.Errorf(control.KindFailed, "is the network there? PARLEY_BASE names another place than "+release.Usual, "cannot look for the newest release: %v", err)
	}
	done.Newest = newest.Version
	newer := release.Newer(newest.Version, cli.Version)
	if newer && owner != nil {
		done.Command = owner.Upgrade(newest)
	}
	if !v.JSON {
		showVersions(v, done)
	}
	switch {
	case !newer && !v.JSON:
		v.Out.Printf("this is the newest\n")
	case newer && owner != nil && !v.JSON:
		v.Say("A package has installed this program. Nothing was changed. Do, and then restart the node:")
		v.Steps(done.Command, "", "parley restart", "")
	case newer && u.check:
		v.Next("parley upgrade", "take it")
	case newer && owner == nil:
		if err := u.take(ctx, p, newest); err != nil {
			return err
		}
		done.Now = newest.Version
	}
	return v.Show(done, nil, func() {})
}

func showVersions(v cli.View, u Upgraded) {
	v.Labelled(9, "installed", u.Installed+" at "+term.Line(u.Path))
	if u.Newest != "" {
		v.Labelled(9, "newest", u.Newest)
	}
	for _, f := range u.Fleet {
		v.Labelled(9, "fleet", cmp.Or(term.Line(f.Version), "unknown")+": "+cli.Names(f.Hosts))
	}
}

// fleet are the versions that the hosts of the fleet run, as the node has heard them.
func (u upgrade) fleet(ctx context.Context, p *cli.Program) []FleetVersion {
	all := []FleetVersion{}
	hosts, err := control.Hosts.Ask(ctx, p.Connect(u.home.Socket()), control.HostsRequest{})
	if err != nil {
		return all // the program can be replaced while no node runs
	}
	by := map[string][]protocol.Name{}
	for _, h := range hosts {
		by[h.Version] = append(by[h.Version], h.Alias)
	}
	for _, version := range slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		switch {
		case release.Newer(a, b):
			return -1
		case release.Newer(b, a):
			return 1
		}
		return strings.Compare(a, b)
	}) {
		all = append(all, FleetVersion{version, by[version]})
	}
	return all
}

// take puts a release in place of this program, and restarts the node.
func (u upgrade) take(ctx context.Context, p *cli.Program, r release.Release) error {
	v := p.View()
	working := v.Busy("downloading parley " + r.Version)
	program, err := r.Program(ctx, runtime.GOOS, runtime.GOARCH)
	working()
	if err != nil {
		return control.Errorf(control.KindFailed, "try it again; if it stays so, tell the maintainers", "cannot take parley %s: %v; nothing was changed", r.Version, err)
	}
	err = release.Replace(u.program, program, func(fresh string) error { return says(ctx, fresh, r.Version) })
	if err != nil {
		return u.cannot("take parley "+r.Version, err)
	}
	p.Err.Printf("parley %s is at %s; %s is kept as %s\n", r.Version, term.Line(u.program), cli.Version, term.Line(release.Kept(u.program)))
	if err := u.restart(ctx, p); err != nil {
		failed := errors.Join(release.Back(u.program), u.restart(ctx, p))
		if failed != nil {
			return control.Errorf(control.KindFailed, "parley logs", "the node does not start with parley %s, and not with %s any more: %v", r.Version, cli.Version, failed)
		}
		return control.Errorf(control.KindFailed, "parley logs", "the node does not start with parley %s: %s is back and runs it; the new one is kept as %s", r.Version, cli.Version, release.Kept(u.program))
	}
	v.Next("parley record upgrade --check", "what is new for the record")
	return nil
}

func (u upgrade) goBack(ctx context.Context, p *cli.Program, done Upgraded) error {
	v := p.View()
	kept := release.Kept(u.program)
	was, err := versionOf(ctx, kept)
	if err != nil {
		return control.Errorf(control.KindNotFound, "", "cannot go back: no earlier program that starts is at %s", kept)
	}
	if err := release.Back(u.program); err != nil {
		return u.cannot("go back", err)
	}
	done.Now = was
	err = u.restart(ctx, p)
	if err != nil {
		err = control.Errorf(control.KindFailed, "parley logs", "parley %s is back, and the node does not start with it: %v", was, err)
	}
	return v.Show(done, err, func() {
		v.Out.Printf("parley %s is back at %s; %s is kept as %s\n", term.Line(was), term.Line(u.program), cli.Version, term.Line(kept))
	})
}

// cannot says why the program was not replaced. Whoever may not write there is told who may.
func (u upgrade) cannot(what string, err error) error {
	hint := ""
	if errors.Is(err, os.ErrPermission) {
		hint = "as who may write there: sudo " + term.Shell(u.program) + " upgrade; then: parley restart"
	}
	return control.Errorf(control.KindFailed, hint, "cannot %s: %v; nothing was changed", what, err)
}

// restart has the program that is in place now restart the node, if one ran.
func (u upgrade) restart(ctx context.Context, p *cli.Program) error {
	if !u.running {
		return nil
	}
	cmd := exec.CommandContext(ctx, u.program, "--home", u.home.Dir, "restart")
	cmd.Stdout, cmd.Stderr = p.Err, p.Err
	return cmd.Run()
}

// says returns an error unless a program starts here and is of a version.
func says(ctx context.Context, program, want string) error {
	is, err := versionOf(ctx, program)
	if err != nil {
		return fmt.Errorf("it does not start here: %w", err)
	}
	if is != want {
		return fmt.Errorf("it says that it is %s", term.Line(is))
	}
	return nil
}

// versionOf is the version that a program says it is.
func versionOf(ctx context.Context, program string) (string, error) {
	ctx, done := context.WithTimeout(ctx, time.Minute) // one that hangs does not start
	defer done()
	said, err := exec.CommandContext(ctx, program, "version").Output()
	words := strings.Fields(string(said))
	if err == nil && (len(words) < 2 || words[0] != "parley") {
		err = errors.New("it is no parley")
	}
	if err != nil {
		return "", err
	}
	return words[1], nil
}
