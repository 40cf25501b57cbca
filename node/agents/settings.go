package agents

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Differences are the settings of an agent that a change has changed, in a form for people. They
// contain no values of environment variables, which may be secrets.
func Differences(was, now configs.Agent) []control.SettingChange {
	changed := []control.SettingChange{}
	before, after := settings(was), settings(now)
	for i, s := range after {
		if before[i].Value != s.Value {
			changed = append(changed, control.SettingChange{Name: s.Name, Was: before[i].Value, Now: s.Value})
		} else if s.Name == "env" && !slices.Equal(was.Env, now.Env) {
			changed = append(changed, control.SettingChange{Name: s.Name, Was: s.Value, Now: s.Value + " (other values)"})
		}
	}
	return changed
}

// Settings are those settings of an agent that have a value, in a form for people. Like
// Differences, they contain no values of environment variables.
func Settings(a configs.Agent) []control.Setting {
	return slices.DeleteFunc(settings(a), func(s control.Setting) bool { return s.Value == "" })
}

// settings are all settings, with what holds if an agent has none.
func settings(a configs.Agent) []control.Setting {
	wake := a.Wake
	if a.Door == configs.DoorInbox { // the node runs the others itself
		wake = cmp.Or(wake, "nobody")
	}
	all := []control.Setting{
		{Name: "door", Value: a.Door}, {Name: "preset", Value: a.Preset}, {Name: "exec", Value: execOf(a)}, {Name: "tier", Value: tiersOf(a)}, {Name: "wake", Value: wake}, {Name: "open", Value: a.Open}, {Name: "dir", Value: cmp.Or(a.Dir, "where the node runs")},
		{Name: "profile", Value: cmp.Or(a.Profile.String(), "the one with its name, if there is one")}, {Name: "env", Value: cmp.Or(strings.Join(a.Env.WithoutValues(), " "), "all")},
		{Name: "limit", Value: cmp.Or(strings.Join(a.Limits.Texts(), " "), "none")}, {Name: "quiet", Value: cmp.Or(strings.Join(a.Quiet.Texts(), " "), "none")}, {Name: "run-as", Value: cmp.Or(a.RunAs, "the user of the node")}, {Name: "paused", Value: strconv.FormatBool(a.Paused)},
	}
	timeout, attempts, rerun, accepts, wakes, answers := "", "", "", "", "", "" // an agent with an inbox has none of these
	if a.Door == configs.DoorExec {
		timeout, attempts, rerun = "as config.yaml says", strconv.Itoa(cmp.Or(a.Attempts, configs.DefaultAttempts)), cmp.Or(a.Rerun, configs.RerunAgain)
		accepts, wakes = cmp.Or(a.Accepts, configs.AcceptAnyone), cmp.Or(actNames(a.WakesOn), "the usual acts")
		answers = strconv.FormatBool(a.RunReplies)
	}
	if a.Timeout > 0 {
		timeout = span.Text(a.Timeout)
	}
	return append(all, []control.Setting{
		{Name: "input", Value: InputOf(a)}, {Name: "timeout", Value: timeout}, {Name: "attempts", Value: attempts}, {Name: "rerun", Value: rerun}, {Name: "accepts", Value: accepts}, {Name: "wakes-on", Value: wakes},
		{Name: "takeover-after", Value: configs.ShowTakeover(cmp.Or(a.TakeoverAfter, protocol.DefaultTakeover))}, {Name: "answers", Value: answers},
		{Name: "examiner", Value: cmp.Or(a.Examiner, "the agent itself")}, {Name: "soul", Value: a.Soul.String()},
	}...)
}

// execOf is the command of an agent that has only one and works on one message at a time.
func execOf(a configs.Agent) string {
	if len(a.Tiers) == 1 && a.Tiers[0].Count == 1 {
		return a.Tiers[0].Exec
	}
	return ""
}

// tiersOf are the tiers of any other agent, in the form that "agent set" reads.
func tiersOf(a configs.Agent) string {
	if execOf(a) != "" {
		return ""
	}
	var texts []string
	for _, t := range a.Tiers {
		texts = append(texts, t.Name+"*"+strconv.Itoa(t.Count)+"="+t.Exec)
	}
	return strings.Join(texts, ", ")
}

func actNames(acts []protocol.Act) string {
	var names []string
	for _, act := range acts {
		names = append(names, string(act))
	}
	return strings.Join(names, ",")
}
