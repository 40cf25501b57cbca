package node

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/walls"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/caller"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/inquiry"
	places "github.com/parleyfleet/parley/node/inquiry/place"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/protocol"
)

// runner runs commands of agents: each is known as a run of its agent to whoever asks who
// calls, and told to who follows what happens.
type runner struct {
	home      string // the folder of the home
	host      protocol.Name
	timeout   time.Duration // of a command whose agent has none
	maxOutput int           // in bytes
	keepers   *keeper.Pool  // nil: commands run alone
	callers   *caller.Book
	doorsteps *agents.Doorsteps
	events    *feed.Events
	notices   *notices.Notices
	sessions  *sessions.Book

	mu     sync.Mutex      // guards walled
	walled map[string]bool // users (run_as) whose commands are known to get walls here
}

// call runs the command of an agent that coordinates an inquiry.
func (rn *runner) call(ctx context.Context, a configs.Agent, input string, because protocol.Path) door.Result {
	return rn.run(ctx, a, a.Tiers[0], input, because)
}

// memberTime is for how long a member of an inquiry may work: its run has no limit of time, and
// ends with its inquiry (R62).
const memberTime = 366 * 24 * time.Hour

// member runs the command of a member of an inquiry: in a place of its own, with nothing of this
// node's, above all no token, and nothing that it asks the node is answered (R53).
func (rn *runner) member(ctx context.Context, a configs.Agent, m inquiry.MemberRun) door.Result {
	line := a.Tiers[0].Exec
	if m.Resume != "" {
		line = m.Resume
	}
	argv, err := door.SplitCommand(line)
	if err != nil {
		return door.Result{Failure: door.NotStarted, Detail: err.Error()}
	}
	c := door.Command{
		Argv: argv, Dir: m.Place.Dir, Stdin: []byte(m.Input), Placeholders: a.Input == configs.InputPrompt, Timeout: memberTime, MaxOutput: rn.maxOutput,
		MaxPrinted: a.Limits.Output, Limits: agents.KeptLimits(a), Keepers: rn.keepers, Bare: true, Scratch: m.Place.Root,
	}
	if m.Walls {
		c.Walls = rn.walls(m.Place)
	}
	env, bare := agents.Inherited(a)
	if !bare {
		env = os.Environ()
	}
	env = append(env, "PATH="+os.Getenv("PATH"))
	if a.RunAs != "" {
		login, as, err := rn.doorsteps.User(a)
		if err != nil {
			return door.Result{Failure: door.NotStarted, Detail: err.Error()}
		}
		c.User = as // and not the socket for agents that another run of that user has
		env = append(env, "USER="+login.Username, "LOGNAME="+login.Username)
	}
	c.Env = m.Place.Env(slices.Concat(env, a.Env.Values()))
	run := rn.callers.BeginAlone(a.Name, memberTime)
	c.Run, c.Began = run.ID, run.Began
	result := door.Run(ctx, c)
	run.End(result.Left)
	if result.Left {
		rn.notices.KeeperLost(a.Name)
	}
	return result
}

// walls hide from a member what is this node's, and the places of others: the home with its
// spool, keys and sockets, and where programs of its user listen. It sees its own place.
func (rn *runner) walls(p places.Place) walls.Walls {
	hide := []string{rn.home, places.OfOwners(configs.Home{Dir: rn.home}.Members()), "/run/user/" + strconv.Itoa(os.Getuid())}
	if sockets := rn.doorsteps.Base(); sockets != "" {
		hide = append(hide, sockets)
	}
	return walls.Walls{Hide: hide, Show: []string{p.Root}}
}

// canWall reports whether a member that runs as an agent gets walls here. To try it takes a
// process, so what can be done is not tried again: where that has changed, the run says so.
func (rn *runner) canWall(a configs.Agent) bool {
	rn.mu.Lock()
	defer rn.mu.Unlock()
	if rn.walled[a.RunAs] {
		return true
	}
	var as *keeper.User
	var err error
	if a.RunAs != "" {
		_, as, err = rn.doorsteps.User(a)
	}
	if err != nil || rn.keepers == nil || keeper.CheckWalls(as) != nil {
		return false
	}
	rn.walled[a.RunAs] = true
	return true
}

// run runs the command of an agent's tier with an input. because is the message
// that it is for, zero for none.
func (rn *runner) run(ctx context.Context, a configs.Agent, tier configs.Tier, input string, because protocol.Path, env ...string) door.Result {
	argv, err := door.SplitCommand(tier.Exec)
	if err != nil {
		return door.Result{Failure: door.NotStarted, Detail: err.Error()}
	}
	c := door.Command{
		Argv:         argv,
		Dir:          a.Dir,
		Stdin:        []byte(input),
		Placeholders: a.Input == configs.InputPrompt,
		Timeout:      cmp.Or(a.Timeout, rn.timeout),
		MaxOutput:    rn.maxOutput,
		MaxPrinted:   a.Limits.Output,
		Limits:       agents.KeptLimits(a),
		Keepers:      rn.keepers,
	}
	defer rn.sessions.Works(a.Name)()
	run := rn.callers.Begin(a.Name, because, c.Timeout)
	c.Run, c.Began = run.ID, run.Began
	c.Env, c.Bare = agents.Inherited(a)
	c.Env = slices.Concat(c.Env, rn.environment(a, run.Token), env, a.Env.Values())
	change := control.RunChange{Change: control.RunStarted, Run: run.ID, Agent: a.Name, Path: because}
	rn.events.Run(change)
	result := rn.runAs(ctx, a, c)
	run.End(result.Left)
	if result.Left {
		rn.notices.KeeperLost(a.Name)
	}
	rn.events.Run(ended(change, result))
	return result
}

// runAs runs a command of an agent as the user whom that names.
func (rn *runner) runAs(ctx context.Context, a configs.Agent, c door.Command) door.Result {
	if a.RunAs != "" {
		if err := rn.doorsteps.AsUser(a, &c); err != nil {
			return door.Result{Failure: door.NotStarted, Detail: err.Error()}
		}
	}
	return door.Run(ctx, c)
}

// again tells that an attempt has failed and when the next one is due.
func (rn *runner) again(j job, attempt int, next time.Time, result door.Result) {
	r := ended(control.RunChange{Agent: j.agent.Name, Path: j.it.Path}, result)
	r.Change, r.Attempt, r.Of, r.Next = control.RunAgain, attempt, j.attempts(), next.UTC()
	rn.events.Run(r)
}

// ended is the end of a run that started.
func ended(r control.RunChange, result door.Result) control.RunChange {
	r.Change, r.Problem, r.ExitCode, r.Elapsed = control.RunEnded, result.Problem(), result.ExitCode, control.Seconds(result.Elapsed)
	if result.Failure != door.None {
		r.Failure = result.Failure.String()
	}
	return r
}

// outside is the environment of a program of the agent that somebody else starts.
func (rn *runner) outside(a configs.Agent) []string {
	return rn.environment(a, rn.callers.Standing(a.Name))
}

// environment tells a command which agent it is, and how it can use parley.
func (rn *runner) environment(a configs.Agent, token string) []string {
	return []string{
		"PATH=" + searchPath(),
		"PARLEY_HOME=" + rn.home,
		"PARLEY_AGENT=" + a.Name.String(),
		"PARLEY_HOST=" + rn.host.String(),
		"PARLEY_TOKEN=" + token,
	}
}

// searchPath is the node's PATH with parley's own folder at its end, so that an
// agent can run parley wherever it was installed.
func searchPath() string {
	path := os.Getenv("PATH")
	if self, err := os.Executable(); err == nil {
		path += string(os.PathListSeparator) + filepath.Dir(self)
	}
	return path
}
