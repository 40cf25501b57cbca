package with

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// asked is a node that notes what it is asked, and that has one topic.
type asked struct{ requests []string }

// Answer implements control.Service.
func (a *asked) Answer(_ context.Context, v control.VerbSpec, request any, yield func(any) error) error {
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	a.requests = append(a.requests, v.Name+" "+whereAsked.ReplaceAllString(string(data), ""))
	topic := control.Topic{Me: "skills", With: "mawjs", Head: topic.Head{Name: "tmux design", Slug: "tmux-design", Derived: true}, Checkpoints: []control.TopicCheckpoint{{}}}
	switch v.Name {
	case control.Topics.Name:
		return yield(control.TopicList{Me: "skills", Topics: []control.Topic{topic}})
	case control.ShowTopic.Name, control.OpenTopic.Name:
		return yield(topic)
	case control.DoInTopic.Name:
		return yield(control.TopicDeed{Me: "skills", Topic: topic})
	}
	return errNoAnswer
}

// whereAsked matches the folder in which somebody typed a command.
var whereAsked = regexp.MustCompile(`"dir":"[^"]*",?`)

var errNoAnswer = errors.New("the test has no answer to that")

// orders returns all orders of flags and words in which the words keep their own order.
func orders(flags [][]string, words []string) (all [][]string) {
	if len(flags)+len(words) == 0 {
		return [][]string{nil}
	}
	if len(words) > 0 {
		for _, rest := range orders(flags, words[1:]) {
			all = append(all, append([]string{words[0]}, rest...))
		}
	}
	for i, flag := range flags {
		others := append(append([][]string{}, flags[:i]...), flags[i+1:]...)
		for _, rest := range orders(others, words) {
			all = append(all, append(append([]string{}, flag...), rest...))
		}
	}
	return all
}

// flag is a flag as it is typed, with its value.
func flag(words ...string) []string { return words }

// Work-with W4: each line of the seed's usage asks for what it says, in whatever order its words
// and flags are typed. It prevents: a line that is taken for another one, or a word that is taken
// for the value of a flag.
func TestUsageInAnyOrder(t *testing.T) {
	t.Chdir(t.TempDir())
	mawjs, both := []string{"mawjs"}, []string{"mawjs", "tmux design"}
	const deed = `topic-deed {"with":"mawjs","topic":"tmux design","deed":`
	for _, c := range []struct {
		words []string
		flags [][]string
		want  string // the last of what is asked
	}{
		{mawjs, nil, `relation {"with":"mawjs"}`},
		{both, nil, `topic {"with":"mawjs","topic":"tmux design"}`},
		{both, [][]string{flag("--anchor", "#332")}, `open-topic {"with":"mawjs","topic":"tmux design","anchor":"#332"}`},
		{mawjs, [][]string{flag("--sync")}, `sync {"with":["mawjs"]}`},
		{nil, [][]string{flag("--sync")}, `sync {}`},
		{both, [][]string{flag("--sync"), flag("--claim", "--list"), flag("--wait", "5s")}, `sync {"with":["mawjs"],"topic":"tmux design","claims":["--list"],"wait":5000000000}`},
		{mawjs, [][]string{flag("--checkpoint"), flag("--text", "All is said.")}, deed + `"checkpoint","text":"All is said."}`},
		{both, [][]string{flag("--checkpoint"), flag("--text", "All is said.")}, deed + `"checkpoint","text":"All is said."}`},
		{mawjs, [][]string{flag("--status")}, `topics {"with":"mawjs","items":true}`},
		{both, [][]string{flag("--status")}, `topics {"with":"mawjs","items":true}`},
		{nil, [][]string{flag("--list")}, `topics {}`},
		{mawjs, [][]string{flag("--list")}, `topics {"with":"mawjs"}`},
		{nil, [][]string{flag("--fleet-status")}, `topics {"fleet":true}`},
		{both, [][]string{flag("--close")}, deed + `"close"}`},
		{both, [][]string{flag("--defer", "after the release"), flag("--until", "2027-04-20")}, deed + `"defer","reason":"after the release","until":"2027-04-20T00:00:00Z"}`},
		{both, [][]string{flag("--defer", "later"), flag("--until=2027-04-20"), flag("--item", "A2")}, deed + `"defer","item":"A2","reason":"later","until":"2027-04-20T00:00:00Z"}`},
		{both, [][]string{flag("--state")}, `topic {"with":"mawjs","topic":"tmux design"}`},
		{nil, [][]string{flag("--pending")}, `topics {"items":true}`},
		{nil, [][]string{flag("--deferred")}, `topics {"items":true}`},
		{nil, [][]string{flag("--sweep-timeouts")}, `sweep-topics {}`},
		{both, [][]string{flag("--agree", "Keys are four")}, deed + `"agree","text":"Keys are four"}`},
		{both, [][]string{flag("--ask", "Who restarts it?")}, deed + `"open","text":"Who restarts it?"}`},
		{both, [][]string{flag("--resolve", "P1")}, deed + `"resolve","item":"P1"}`},
		{both, [][]string{flag("--teach", "Panes keep titles")}, deed + `"teach-back","text":"Panes keep titles"}`},
		{both, [][]string{flag("--disagree", "I keep the names")}, deed + `"disagree","text":"I keep the names"}`},
		{both, [][]string{flag("--accept", "A1")}, deed + `"accept","item":"A1"}`},
		{both, [][]string{flag("--reject", "A1"), flag("--reason", "too long")}, deed + `"reject","item":"A1","reason":"too long"}`},
		{both, [][]string{flag("--revoke", "A1"), flag("--reason", "gone")}, deed + `"revoke","item":"A1","reason":"gone"}`},
		{both, [][]string{flag("--re-accept", "A1"), flag("--text", "Keys are five")}, deed + `"re-accept","item":"A1","text":"Keys are five"}`},
		{both, [][]string{flag("--validate", "A1")}, deed + `"validate","item":"A1"}`},
		{both, [][]string{flag("--ratify")}, deed + `"ratified"}`},
		{both, [][]string{flag("--amend", "Panes are done")}, deed + `"amendment","text":"Panes are done"}`},
		{both, [][]string{flag("--reject-checkpoint", "nothing of it")}, deed + `"rejected","reason":"nothing of it"}`},
		{both, [][]string{flag("--join")}, deed + `"join-request"}`},
		{nil, [][]string{flag("--recap")}, `topics {"items":true}`},
		{nil, [][]string{flag("--forward"), flag("--text", "Bye.")}, deed + `"checkpoint","text":"Bye.","forward":true}`},
		{both, [][]string{flag("--via", "skills"), flag("--json"), flag("--accept", "A1")}, `topic-deed {"as":"skills","with":"mawjs","topic":"tmux design","deed":"accept","item":"A1"}`},
	} {
		for _, args := range orders(c.flags, c.words) {
			node := new(asked)
			cmd := usageOf(t, node)
			cmd(args)
			got := ""
			for _, request := range node.requests {
				if !strings.HasPrefix(request, control.Hosts.Name+" ") && !strings.HasPrefix(request, control.Parties.Name+" ") { // --fleet-status and --forward ask these behind it
					got = request
				}
			}
			if got != c.want {
				t.Errorf("%q asks %s\nwant %s", args, got, c.want)
			}
		}
	}
}

// usageOf runs what is typed behind parley work-with. It does not look at what the command shows of
// the test's own answers.
func usageOf(t *testing.T, node *asked) func(args []string) {
	t.Helper()
	home := t.TempDir()
	p := cli.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, func(name string) string { return map[string]string{"PARLEY_HOME": home}[name] })
	p.Out, p.Zone = term.Screen{Writer: &bytes.Buffer{}}, time.UTC
	p.Connect = func(string) control.Service { return node }
	cmd := NewCommand(p)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return func(args []string) {
		cmd.SetArgs(args)
		if err := cmd.ExecuteContext(t.Context()); err != nil && !errors.Is(err, errNoAnswer) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// It prevents: a partner or a topic that is typed and ignored in silence.
func TestWordsThatSayNothingAreRefused(t *testing.T) {
	for _, args := range [][]string{{"--fleet-status", "mawjs"}, {"mawjs", "--sweep-timeouts"}} {
		node := new(asked)
		cmd := NewCommand(cli.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}, func(string) string { return "" }))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(args)
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), `it goes without "mawjs"`) || len(node.requests) > 0 {
			t.Errorf("%q: %v", args, err)
		}
	}
	list := control.TopicList{Me: "skills", Topics: []control.Topic{{With: "mawjs", Head: topic.Head{Name: "tmux design", Slug: "tmux-design"}}, {With: "mawjs", Head: topic.Head{Name: "ports", Slug: "ports"}}}}
	for _, c := range []struct {
		run         func(context.Context, *call) error
		topic, want string
	}{{runStatus, "Ports", "ports"}, {runList, "ports", "ports"}, {runList, "kits", `no topic "kits" with mawjs is active`}, {runStatus, "...", "cannot find the topic"}} {
		node := control.Bind(control.Topics.By(func(context.Context, control.TopicsRequest) (control.TopicList, error) { return list, nil }))
		var out bytes.Buffer
		err := c.run(t.Context(), &call{words: []string{"mawjs", c.topic}, client: node, view: cli.View{Out: term.Screen{Writer: &out}, Now: time.Now}})
		text := out.String()
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) || strings.Contains(text, "tmux") {
			t.Errorf("of %q is shown: %s", c.topic, text)
		}
	}
}
