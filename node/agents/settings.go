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

// Differences are the settings of an agent that a change has changed, as people read
// them. Values of environment variables are in none: they may be secrets.
func Differences(was, now configs.Agent) []control.SettingChange {
	changed := []control.SettingChange{}
	before, after := settings(was), settings(now)
	for i, s := range after {
		if before[i].value != s.value {
			changed = append(changed, control.SettingChange{Name: s.name, Was: before[i].value, Now: s.value})
		} else if s.name == "env" && !slices.Equal(was.Env, now.Env) {
			changed = append(changed, control.SettingChange{Name: s.name, Was: s.value, Now: s.value + " (other values)"})
		}
	}
	return changed
}

// setting is one of an agent, called as its flag is.
type setting struct{ name, value string }

// settings are all that a change can change, with what holds where an agent has none.
func settings(a configs.Agent) []setting {
	all := []setting{
		{"door", a.Door}, {"exec", execOf(a)}, {"tier", tiersOf(a)}, {"wake", a.Wake}, {"open", a.Open}, {"dir", cmp.Or(a.Dir, "where the node runs")},
		{"profile", cmp.Or(a.Profile.String(), "that of its name")}, {"env", cmp.Or(strings.Join(a.Env.WithoutValues(), " "), "all")},
		{"limit", strings.Join(a.Limits.Texts(), " ")}, {"quiet", strings.Join(a.Quiet.Texts(), " ")}, {"paused", strconv.FormatBool(a.Paused)},
	}
	timeout, attempts, rerun, accepts, wakes, takeover, answers := "", "", "", "", "", "", "" // an inbox has none of these
	if a.Door == configs.DoorExec {
		timeout, attempts, rerun = "as config.yaml says", strconv.Itoa(cmp.Or(a.Attempts, configs.DefaultAttempts)), cmp.Or(a.Rerun, configs.RerunAgain)
		accepts, wakes = cmp.Or(a.Accepts, configs.AcceptAnyone), cmp.Or(actNames(a.WakesOn), "the usual acts")
		takeover, answers = configs.ShowTakeover(cmp.Or(a.TakeoverAfter, protocol.DefaultTakeover)), strconv.FormatBool(a.RunReplies)
	}
	if a.Timeout > 0 {
		timeout = span.Text(a.Timeout)
	}
	return append(all, []setting{
		{"input", InputOf(a)}, {"timeout", timeout}, {"attempts", attempts}, {"rerun", rerun}, {"accepts", accepts}, {"wakes-on", wakes},
		{"takeover-after", takeover}, {"answers", answers},
	}...)
}

// execOf is the command of an agent that has one, and works on one message at a time.
func execOf(a configs.Agent) string {
	if len(a.Tiers) == 1 && a.Tiers[0].Count == 1 {
		return a.Tiers[0].Exec
	}
	return ""
}

// tiersOf are the tiers of another one, as agent set takes them.
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
