package standing

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
)

// Node says what a node does for its agents, and who may look at it.
func Node(v cli.View, s control.Status) (all []Line) {
	add := func(name, text string) { all = append(all, Line{Name: name, Text: text}) }
	if s.Metrics != "" {
		add("metrics", s.Metrics)
	}
	if s.Commands.Waiting > 0 {
		add("commands", fmt.Sprintf("%d run, as many as max_commands in config.yaml allows; %s for a turn",
			s.Commands.Running, waitFor(s.Commands.Waiting, "agent")))
	}
	if len(s.Passed) > 0 {
		add("env", passedTo(s.Agents)+" of what the node was started with: "+strings.Join(s.Passed, " ")+" (choose: "+v.Command("parley agent set NAME --env VARIABLE")+")")
	}
	return append(all, work(s.Agents)...)
}

func passedTo(all []control.Agent) string {
	var names []string
	for _, a := range all {
		if len(a.Env) == 0 && a.RunAs == "" && (a.Command != "" || len(a.Tiers) > 0 || a.Wake != "") {
			names = append(names, a.Name.String())
		}
	}
	if len(names) > 3 {
		names = append(names[:3], fmt.Sprintf("%d more", len(names)-3))
	}
	if len(names) == 1 {
		return names[0] + " gets"
	}
	return strings.Join(names, ", ") + " get"
}

// work says how much agents have to do, in all.
func work(all []control.Agent) []Line {
	var sum control.Agent
	for _, a := range all {
		sum.Running, sum.Queued, sum.Failing, sum.Dead = sum.Running+a.Running, sum.Queued+a.Queued, sum.Failing+a.Failing, sum.Dead+a.Dead
	}
	var words []string
	if sum.Running > 0 {
		words = append(words, fmt.Sprintf("%d running", sum.Running))
	}
	if sum.Queued > 0 {
		words = append(words, fmt.Sprintf("%d waiting", sum.Queued))
	}
	if sum.Failing > 0 {
		words = append(words, fmt.Sprintf("%d of them failing", sum.Failing))
	}
	var see []string
	if len(words) > 0 {
		see = append(see, "parley agent queue")
	}
	if sum.Dead > 0 {
		words, see = append(words, cli.Count(sum.Dead, "dead letter")), append(see, "parley agent dlq list")
	}
	if len(words) == 0 {
		return nil
	}
	line := Line{Name: "work", Text: strings.Join(words, ", "), See: see}
	if sum.Failing > 0 || sum.Dead > 0 {
		line.Level = causes.Yellow
	}
	return []Line{line}
}
