package console

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// work is the page of what agents have to do, and of what they failed on.
type work struct {
	Jobs   []job
	More   []more
	Dead   []failure
	Away   bool // those too that were put away
	Status control.CommandStatus
}

// job is an agent's work on a message, in words.
type job struct {
	control.Job
	Is, Means string
}

// more is how much else waits for an agent.
type more struct {
	Agent protocol.Name
	Count int
}

// failure is a dead letter, in words.
type failure struct {
	control.DeadLetter
	Owner, Tried, Problem string
}

// shownWaiting is how much of what waits for an agent stands on a page.
const shownWaiting = 20

func showWork(a *asking) (any, string) {
	w := work{Away: a.URL.Query().Has("all")}
	w.Jobs, w.More = a.jobs("")
	w.Status = need(a, control.ShowStatus.Verb, control.None{}).Commands
	w.Dead = a.failures(control.DeadLettersRequest{Dropped: w.Away})
	return w, "Work"
}

// jobs are what the agents of this host, or one of them, have to do: first what runs.
func (a *asking) jobs(agent string) (all []job, rest []more) {
	for _, j := range need(a, control.Queue, control.QueueRequest{Agent: agent}) {
		switch {
		case j.Place <= shownWaiting:
			all = append(all, job{j, standing.Job(j), cli.WaitsFor(j.Why)})
		case j.Place == shownWaiting+1:
			rest = append(rest, more{j.Agent, 1})
		default:
			rest[len(rest)-1].Count++
		}
	}
	slices.SortStableFunc(all, func(x, y job) int { return min(x.Place, 1) - min(y.Place, 1) })
	return all, rest
}

// failures are dead letters, the last one first.
func (a *asking) failures(r control.DeadLettersRequest) (all []failure) {
	for _, d := range slices.Backward(need(a, control.DeadLetters, r)) {
		all = append(all, failure{d, standing.Owner(d), standing.Tried(a.c.view(), d), standing.Problem(d)})
	}
	return all
}

// settle has a dead letter tried again, or puts it away.
func settle(a *asking) (done, error) {
	verb, said := control.RetryDead, "It is tried again by "
	if a.FormValue("do") == "drop" {
		verb, said = control.DropDead, "It is put away for "
	}
	d := need(a, verb, control.DeadLetterRequest{Message: a.FormValue("message"), Agent: a.FormValue("agent"), Reason: a.FormValue("reason")})
	return done{Said: said + visible.Line(standing.Owner(d)) + "."}, a.err
}

// cancel ends an agent's work on a message.
func cancel(a *asking) (done, error) {
	var said []string
	for _, j := range need(a, control.Cancel, control.CancelRequest{Message: a.FormValue("message"), Agent: a.FormValue("agent"), Reason: a.FormValue("reason")}) {
		said = append(said, j.Agent.String()+" no longer works on it; "+visible.Line(j.From)+" is told.")
	}
	return done{Said: strings.Join(said, " ")}, a.err
}
