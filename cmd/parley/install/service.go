package install

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/agentprogram/install"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/service"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// End stops the node of a home, and returns when it is gone. It does nothing if none runs.
type End func(ctx context.Context, p *cli.Program, home configs.Home) error

// Answers waits until the node of a home answers, which a service has started.
type Answers func(ctx context.Context, p *cli.Program, home configs.Home, s service.Service) error

func newServiceCommand(p *cli.Program, end End, answers Answers) *cobra.Command {
	var f flags
	system := false
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Have the system start the node, and keep it running",
		Long: `Have the system start the node with your login, and again when it fails: as a
unit of your own systemd, or a job of your launchd. With --system, as root, it
starts with the machine and runs as the owner of the home.

The file that is written says why each line is in it. It holds the PATH that a
new terminal of yours has, because git and the commands of agents are looked for
there. When that PATH changes, do it again: a node that the system has started
says so in its log. --undo stops the node and takes the file away.`,
		Example: `  parley install service
  loginctl enable-linger
  sudo parley --home /home/nat/.local/share/parley install service --system
  parley install service --undo`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(cmd *cobra.Command, _ []string, home configs.Home, _ cli.View) error {
			if err := p.ForOperator("change what the system starts"); err != nil {
				return err
			}
			if p.JSON && !f.yes {
				return cli.UsageErrorf(cmd, "--json needs --yes: nobody is asked")
			}
			if err := canStart(home); err != nil && !f.undo {
				return err
			}
			return runService(cmd.Context(), p, home, system, f, end, answers)
		}),
	}
	cmd.Flags().BoolVar(&system, "system", false, "for the whole machine, as root: it runs without anybody's login")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&f.details, "details", false, "show every line that is written")
	cmd.Flags().BoolVar(&f.undo, "undo", false, "stop the node and take the service away")
	return p.JSONFlag(cmd, "print the changed files as a JSON array")
}

// canStart returns an error if a service could not start the node of a home as it is.
func canStart(home configs.Home) error {
	const cannot = "cannot install a service"
	if !cli.Configured(home) {
		return cli.NotConfigured(home, cannot+": ")
	}
	if _, err := configs.Load(home.Config()); err != nil {
		return fmt.Errorf("%s: %w", cannot, err)
	}
	if err := cli.CopiedHome(home, cannot); err != nil {
		return err
	}
	return nil
}

func runService(ctx context.Context, p *cli.Program, home configs.Home, system bool, f flags, end End, answers Answers) error {
	v := p.View()
	s, at, err := serviceOf(ctx, p, home, system)
	if err != nil {
		return err
	}
	if runtime.GOOS == "linux" && !f.undo && install.LookPath("systemctl", p.Getenv("PATH")) == "" {
		start := term.Shell(at.Argv[0]) + " --home " + term.Shell(home.Dir) + " up"
		return control.Errorf(control.KindRefused, "have what starts programs here run  "+start+"  or, with cron, in crontab -e:  @reboot "+start+" -d",
			"cannot install a service: systemd is not here, and parley writes its units alone")
	}
	program, here := install.Service(s.Name, s.File(runtime.GOOS), []byte(s.Text(runtime.GOOS))), install.Here{Path: at.Argv[0]}
	more := ""
	if !f.undo {
		more = "PATH of the node: " + s.Path
	}
	plan, err := agreed(ctx, p, program, at, here, f, more, "")
	if err != nil {
		return err
	}
	var failed error
	if f.undo && len(plan.Changes) > 0 {
		failed = manage(ctx, s.End(runtime.GOOS))
	}
	if !f.undo && !s.Active(ctx, runtime.GOOS) { // a second node on the home could not start
		if err := end(ctx, p, home); err != nil {
			return err
		}
	}
	if err := plan.Apply(); err != nil {
		return explain(p, err)
	}
	if !f.undo {
		s.Forget(ctx, runtime.GOOS)
		if failed = manage(ctx, s.Begin(runtime.GOOS, len(plan.Changes) > 0)); failed == nil {
			failed = answers(ctx, p, home, s)
		}
	}
	files := changed("service", plan)
	return v.Show(files, failed, func() {
		switch {
		case f.undo && len(files) > 0:
			v.Say("The service is gone, and the node with it. parley up -d starts the node by hand.")
		case f.undo:
			v.Say("There is no service of this node that parley wrote.")
		default:
			v.Say("The system starts the node " + s.Name + ", now and from now on.")
			v.Next("parley status", "how it fares")
			if runtime.GOOS == "linux" && !system {
				v.Next("loginctl enable-linger", "let it run while you are logged out too")
			}
		}
	})
}

// manage has the manager of the system do something. Where it cannot, as in a container, the person
// is told what is left to do.
func manage(ctx context.Context, commands [][]string) error {
	for i, argv := range commands {
		said, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
		if err == nil {
			continue
		}
		left := each.Of(commands[i:], func(argv []string) string { return strings.Join(argv, " ") })
		why, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
		return control.Errorf(control.KindFailed, strings.Join(left, " && "), "the file is done; what remains failed: %s: %s", strings.Join(argv, " "), cmp.Or(term.Line(why), err.Error()))
	}
	return nil
}

// serviceOf is the node of a home as a service of the person or of the whole machine, and where it
// is noted what was written.
func serviceOf(ctx context.Context, p *cli.Program, home configs.Home, system bool) (s service.Service, at install.Places, err error) {
	if at, err = places(p, false); err != nil {
		return s, at, err
	}
	folder := service.FolderOf(runtime.GOOS, system, at.Home, p.Getenv)
	if folder == "" {
		return s, at, control.Errorf(control.KindRefused, "let a supervisor of this system start  parley up", "cannot install a service: parley knows none of %s", runtime.GOOS)
	}
	usual, err := configs.UsualHome(p.Getenv)
	if err != nil {
		return s, at, err
	}
	s = service.Service{Name: service.Name(home.Dir, usual), Folder: folder}
	login := service.Login{Shell: cmp.Or(p.Getenv("SHELL"), "/bin/sh"), Home: at.Home, User: cmp.Or(p.Getenv("USER"), p.Getenv("LOGNAME")), UID: -1}
	if system {
		if os.Geteuid() != 0 {
			return s, at, control.Errorf(control.KindRefused, "sudo "+term.Shell(at.Argv[0])+" --home "+term.Shell(home.Dir)+" install service --system",
				"cannot install a service of the system: only root may")
		}
		owner, err := service.OwnerOf(home.Dir)
		if err != nil {
			return s, at, fmt.Errorf("cannot tell whose home %s is: %w", home.Dir, err)
		}
		s = service.OfMachine(runtime.GOOS, home.Dir, owner)
		at.Argv, at.Data = []string{at.Argv[0], "--home", home.Dir}, "/var/lib/parley-install"
		login = service.Login{Shell: shellOf(owner.Username), Home: owner.HomeDir, User: owner.Username, UID: -1}
		if owner.Uid != "0" {
			login.UID, _ = strconv.Atoi(owner.Uid) // they are numbers on systems with such managers
			login.GID, _ = strconv.Atoi(owner.Gid)
		}
	}
	s.Argv, s.Log, s.Groups = at.Argv, home.Log(), handsOver(ctx)
	s.Path = cmp.Or(login.Path(ctx), p.Getenv("PATH"))
	if own := filepath.Dir(at.Argv[0]); install.LookPath(filepath.Base(at.Argv[0]), s.Path) == "" {
		s.Path += string(filepath.ListSeparator) + own // commands of agents call parley by its name
	}
	return s, at, nil
}

// handsOver reports whether systemd can hand a control group over to the node.
func handsOver(ctx context.Context) bool {
	said, _ := exec.CommandContext(ctx, "systemctl", "--version").Output() // "systemd 254 (254.5-1)"
	if words := strings.Fields(string(said)); len(words) > 1 {
		version, err := strconv.Atoi(words[1])
		return err == nil && version >= 254
	}
	return false
}

// shellOf is the login shell of a person of this machine; a plain one if that is not known.
func shellOf(name string) string {
	data, _ := os.ReadFile("/etc/passwd") // people may be in a directory elsewhere
	for line := range strings.Lines(string(data)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) == 7 && fields[0] == name && fields[6] != "" {
			return fields[6]
		}
	}
	return "/bin/sh"
}
