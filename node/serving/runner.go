package serving

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/environ"
	"github.com/parleyfleet/parley/internal/folders"
	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/shortage"
	"github.com/parleyfleet/parley/internal/walls"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/inquiry"
	places "github.com/parleyfleet/parley/node/inquiry/place"
	"github.com/parleyfleet/parley/protocol"
)

// Runner runs commands of agents. If somebody asks who calls, such a command is known as a run of
// its agent. Followers are told of each run.
type Runner struct {
	*Options

	mu     sync.Mutex      // guards walled
	walled map[string]bool // users (run_as) for whose commands walls are known to work here
}

// maxOutput is how much a command may answer, in bytes. The other half of a message is room for the
// frontmatter, and for what failures add.
func (rn *Runner) maxOutput() int { return rn.Config.MessageLimit / 2 }

// Call runs the command of an agent that coordinates an inquiry.
func (rn *Runner) Call(ctx context.Context, a configs.Agent, input string, because protocol.Path) door.Result {
	return rn.run(ctx, a, a.Tiers[0], input, because)
}

// memberTime is how long a member of an inquiry may work. In effect, its run has no limit of time:
// it ends with its inquiry (R62).
const memberTime = 366 * 24 * time.Hour

// Member runs the command of a member of an inquiry. It runs in a place of its own, with nothing of
// this node, above all without a token. The node answers nothing that it asks (R53).
func (rn *Runner) Member(ctx context.Context, a configs.Agent, m inquiry.MemberRun) door.Result {
	line := a.Tiers[0].Exec
	if m.Resume != "" {
		line = m.Resume
	}
	argv, err := door.SplitCommand(line)
	if err != nil {
		return door.Result{Failure: door.NotStarted, Detail: err.Error()}
	}
	c := door.Command{
		Argv: argv, Dir: m.Place.Dir, Stdin: []byte(m.Input), Placeholders: a.Input == configs.InputPrompt, Timeout: memberTime, MaxOutput: rn.maxOutput(),
		MaxPrinted: a.Limits.Output, Limits: agents.KeptLimits(a), Keepers: rn.Keepers, Bare: true, Scratch: m.Place.Root, Short: rn.short,
	}
	if m.Walls {
		c.Walls = rn.walls(m.Place, argv)
	}
	env, bare := agents.Inherited(a)
	if !bare {
		env = environ.Clean(os.Environ())
	}
	env = append(env, "PATH="+os.Getenv("PATH"))
	if a.RunAs != "" {
		var login *user.User
		var as *keeper.User
		err := rn.outlast(ctx, func() (err error) {
			login, as, err = rn.Doorsteps.User(a)
			return err
		})
		if err != nil {
			return door.Result{Failure: door.NotStarted, Detail: err.Error()}
		}
		c.User = as // but not with the socket for agents that another run of that user has
		env = append(env, "USER="+login.Username, "LOGNAME="+login.Username)
	}
	c.Env = m.Place.Env(slices.Concat(env, a.Env.Values()))
	run := rn.Callers.BeginAlone(a.Name, memberTime)
	c.Run, c.Began = run.ID, run.Began
	result := rn.behindDoor(ctx, a, c)
	run.End(result.Left)
	if result.Left {
		rn.Notices.KeeperLost(a.Name)
	}
	return result
}

// walls hides from a member what belongs to this node, and the places of other members. That is the
// home with its spool, keys and sockets, and the folders where programs of its user listen. The
// member sees its own place. What its command names in /tmp stays there, and the folders of PATH.
func (rn *Runner) walls(p places.Place, argv []string) walls.Walls {
	hide := []string{rn.Home.Dir, places.OfOwners(rn.Home.Members()), "/run/user/" + strconv.Itoa(os.Getuid())}
	if sockets := rn.Doorsteps.Base(); sockets != "" {
		hide = append(hide, sockets)
	}
	w := walls.Walls{Hide: hide, Show: []string{p.Root}, Tmp: filepath.Join(p.Home, "tmp")}
	own, _ := os.Executable() // if it is not known, it is not in /tmp
	for _, path := range append(filepath.SplitList(os.Getenv("PATH")), append(argv, own)...) {
		for _, tmp := range walls.Temporary() {
			if at, err := os.Stat(path); err == nil && strings.HasPrefix(filepath.Clean(path), tmp+"/") {
				if path = filepath.Clean(path); !at.IsDir() && filepath.Dir(path) != tmp {
					path = filepath.Dir(path)
				}
				w.Keep = append(w.Keep, path)
			}
		}
	}
	return w
}

// wallsPatience is how long a test for walls is tried again while the system is short of something.
const wallsPatience = time.Minute

// CanWall reports whether a member that runs as this agent gets walls here. A test starts a
// process, so after a success it is not repeated. If that has changed since, the run says so.
func (rn *Runner) CanWall(ctx context.Context, a configs.Agent) bool {
	rn.mu.Lock()
	known := rn.walled[a.RunAs]
	rn.mu.Unlock()
	if known || rn.Keepers == nil {
		return known
	}
	ctx, done := context.WithTimeout(ctx, wallsPatience)
	defer done()
	err := rn.outlast(ctx, func() error {
		var as *keeper.User
		if a.RunAs != "" {
			_, user, err := rn.Doorsteps.User(a)
			if err != nil {
				return err
			}
			as = user
		}
		return keeper.CheckWalls(as)
	})
	if err != nil {
		return false
	}
	rn.mu.Lock()
	defer rn.mu.Unlock()
	rn.walled[a.RunAs] = true
	return true
}

// missing is why a command of an agent cannot be started; "" if none is known to be missing.
func (rn *Runner) missing(a configs.Agent) string {
	for _, t := range append(slices.Clone(a.Tiers), configs.Tier{Exec: a.Wake}) {
		if t.Exec == "" {
			continue
		}
		if err := door.CheckStart(t.Exec, cmp.Or(a.Dir, folders.First(rn.BegunIn))); err != nil {
			return err.Error()
		}
	}
	return ""
}

// run runs the command of an agent's tier with an input. `because` is the message that it is for;
// zero if there is none.
func (rn *Runner) run(ctx context.Context, a configs.Agent, tier configs.Tier, input string, because protocol.Path, env ...string) door.Result {
	argv, err := door.SplitCommand(tier.Exec)
	if err != nil {
		return door.Result{Failure: door.NotStarted, Detail: err.Error()}
	}
	c := door.Command{
		Argv:         argv,
		Dir:          cmp.Or(a.Dir, folders.First(rn.BegunIn)),
		Stdin:        []byte(input),
		Placeholders: a.Input == configs.InputPrompt,
		Timeout:      cmp.Or(a.Timeout, rn.Config.CommandTimeout),
		MaxOutput:    rn.maxOutput(),
		MaxPrinted:   a.Limits.Output,
		Limits:       agents.KeptLimits(a),
		Keepers:      rn.Keepers,
		Short:        rn.short,
	}
	defer rn.Sessions.Works(a.Name)()
	run := rn.Callers.Begin(a.Name, because, c.Timeout)
	c.Run, c.Began = run.ID, run.Began
	c.Env, c.Bare = agents.Inherited(a)
	c.Env = slices.Concat(c.Env, rn.environment(a, run.Token), env, a.Env.Values())
	change := control.RunChange{Change: control.RunStarted, Run: run.ID, Agent: a.Name, Path: because}
	rn.Events.Run(change)
	result := rn.runAs(ctx, a, c)
	run.End(result.Left)
	if result.Left {
		rn.Notices.KeeperLost(a.Name)
	}
	rn.Events.Run(ended(change, result))
	return result
}

// runAs runs a command of an agent as the user whom the agent's settings name.
func (rn *Runner) runAs(ctx context.Context, a configs.Agent, c door.Command) door.Result {
	if a.RunAs != "" {
		if err := rn.outlast(ctx, func() error { return rn.Doorsteps.AsUser(a, &c) }); err != nil {
			return door.Result{Failure: door.NotStarted, Detail: err.Error()}
		}
	}
	return rn.behindDoor(ctx, a, c)
}

// behindDoor runs a command, and warns of secrets that it printed.
func (rn *Runner) behindDoor(ctx context.Context, a configs.Agent, c door.Command) door.Result {
	result := door.Run(ctx, c)
	if note := masked(result.Secrets, a.Name, rn.Host); note != "" {
		rn.Notices.News(note + ": what " + a.Name.String() + " prints goes to others; see what gives it secrets, such as env in its settings")
	}
	return result
}

// masked says how many secrets were masked in what an agent printed; "" if none was.
func masked(secrets int, agent, host protocol.Name) string {
	switch secrets {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("1 secret was masked by %s@%s", agent, host)
	}
	return fmt.Sprintf("%d secrets were masked by %s@%s", secrets, agent, host)
}

// outlast does what is needed for a run, and tries again while the system is short of something.
func (rn *Runner) outlast(ctx context.Context, do func() error) error {
	return shortage.Outlast(ctx, rn.short, do)
}

// short takes in that nothing can be started at the moment, because the system is short of
// something; nil: that is over.
func (rn *Runner) short(why error) {
	const about = "a shortage"
	if why == nil {
		rn.Notices.Mended(about)
		return
	}
	rn.Notices.Wrong(about, "no command can be started: this machine is short of files, processes or memory (%v); commands wait and are tried again, "+
		"and none of their attempts is counted; \"ulimit -a\" shows what this node may use", why)
}

// again tells that an attempt has failed and when the next one is due.
func (rn *Runner) again(j job, attempt int, next time.Time, result door.Result) {
	r := ended(control.RunChange{Agent: j.agent.Name, Path: j.it.Path}, result)
	r.Change, r.Attempt, r.Of, r.Next = control.RunAgain, attempt, j.attempts(), next.UTC()
	rn.Events.Run(r)
}

func ended(r control.RunChange, result door.Result) control.RunChange {
	r.Change, r.Problem, r.Failure = control.RunEnded, result.Problem(), failureWord(result)
	r.ExitCode, r.Elapsed = result.ExitCode, control.Seconds(result.Elapsed)
	return r
}

// environment tells a command which agent it is, and how it can use parley.
func (rn *Runner) environment(a configs.Agent, token string) []string {
	return []string{
		"PATH=" + searchPath(),
		"PARLEY_HOME=" + rn.Home.Dir,
		"PARLEY_AGENT=" + a.Name.String(),
		"PARLEY_HOST=" + rn.Host.String(),
		"PARLEY_TOKEN=" + token,
	}
}

// searchPath is the node's PATH with parley's own folder at the end. So an agent can run parley
// wherever it is installed.
func searchPath() string {
	path := os.Getenv("PATH")
	if self, err := os.Executable(); err == nil {
		path += string(os.PathListSeparator) + filepath.Dir(self)
	}
	return path
}
