package with

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// typedAt is what is shown of a command line of parley work-with, and which topics it opened. There
// are "tmux design", which is open, "ports", which is closed, and "sprint 12".
func typedAt(t *testing.T, answer, agent string, args ...string) (shown string, opened []string) {
	t.Helper()
	topics := []control.Topic{}
	for name, status := range map[string]topic.Status{"tmux design": topic.New, "ports": topic.Closed, "sprint 12": topic.New} {
		topics = append(topics, control.Topic{Me: "skills", With: "mawjs", Status: status, Head: topic.Head{Name: name, Derived: true}})
	}
	named := func(name string) (control.Topic, error) {
		for _, of := range topics {
			if of.Name == name {
				return of, nil
			}
		}
		return control.Topic{}, control.Errorf(control.KindNotFound, "", "skills and mawjs have no topic %q", name)
	}
	var out bytes.Buffer
	home := t.TempDir()
	p := cli.New(strings.NewReader(answer), &out, &out, func(name string) string { return map[string]string{"PARLEY_HOME": home, "PARLEY_AGENT": agent}[name] })
	p.Out, p.Zone, p.Now = term.Screen{Writer: &out}, time.UTC, time.Now
	p.Connect = func(string) control.Service {
		return control.Bind(
			control.Topics.By(func(context.Context, control.TopicsRequest) (control.TopicList, error) {
				return control.TopicList{Me: "skills", Topics: topics}, nil
			}),
			control.ShowTopic.By(func(_ context.Context, r control.TopicRequest) (control.Topic, error) { return named(r.Topic) }),
			control.OpenTopic.By(func(_ context.Context, r control.OpenTopicRequest) (control.Topic, error) {
				opened = append(opened, r.Topic)
				topics = append(topics, control.Topic{Me: "skills", With: "mawjs", Status: topic.New, Head: topic.Head{Name: r.Topic, Derived: true}})
				return named(r.Topic)
			}),
			control.DoInTopic.By(func(_ context.Context, r control.TopicDeedRequest) (control.TopicDeed, error) {
				of, err := named(r.Topic)
				return control.TopicDeed{Me: "skills", Topic: of, Items: []string{"A1"}}, err
			}),
		)
	}
	cmd := NewCommand(p)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		e := control.AsError(err)
		return out.String() + "error: " + e.Message + " hint: " + e.Hint, opened
	}
	return out.String(), opened
}

// Work-with W23: it prevents that a topic is opened by a slip of the fingers, or that one which is
// closed is opened again by whoever looks at it.
func TestAskedBeforeATopicIsOpened(t *testing.T) {
	for _, c := range []struct {
		name, answer, agent string
		more                []string
		opens               bool
		shows               string
	}{
		{"tmux design", "", "", nil, false, `work-with mawjs: "tmux design"`},
		{"a whole new thing", "", "", nil, true, `Opened "a whole new thing"`},
		{"sprint 13", "", "", nil, true, `Opened "sprint 13"`}, // another number is no slip
		{"Tmux design two", "", "", nil, true, `Opened "Tmux design two"`},
		{"tmux desgn", "", "", nil, false, `there is no topic "tmux desgn" with mawjs, but "tmux design"`},
		{"tmux desgn", "n\n", "", nil, false, `hint: open it all the same: parley work-with mawjs 'tmux desgn' --new`},
		{"Tmux", "\n", "", []string{"--anchor", "332"}, false, `but "tmux design"`},
		{"port", "n\n", "", nil, false, `but "ports"`},
		{"tmux desgn", "y\n", "", nil, true, `Opened "tmux desgn"`},
		{"tmux desgn", "y\n", "skills", nil, false, "opened nothing"}, // nobody is asked in an agent's run
		{"tmux desgn", "", "skills", []string{"--new"}, true, `Opened "tmux desgn"`},
		{"ports", "", "", nil, false, `work-with mawjs: "ports"`},
		{"ports", "", "", nil, false, `"ports" with mawjs is closed. Open it? [y/N]`},
		{"ports", "", "skills", nil, false, `open it again: parley work-with mawjs ports --new`},
		{"ports", "n\n", "", []string{"--anchor", "332"}, false, "error: opened nothing"},
		{"ports", "y\n", "", nil, true, `work-with mawjs: "ports"`},
		{"ports", "", "", []string{"--new"}, true, `work-with mawjs: "ports"`},
		{"tmux desgn", "", "", []string{"--agree", "Four keys"}, false, "opened nothing"},
	} {
		shown, opened := typedAt(t, c.answer, c.agent, append([]string{"mawjs", c.name}, c.more...)...)
		if (len(opened) > 0) != c.opens || !strings.Contains(strings.ReplaceAll(shown, "\n", " "), c.shows) {
			t.Errorf("%q %q, answered %q, by %q: opened %q, shown:\n%s\nwant %s", c.name, c.more, c.answer, c.agent, opened, shown, c.shows)
		}
	}
}

// It prevents: what is put into a new topic is refused, because the topic was not opened before.
func TestWhatIsPutIntoANewTopicOpensIt(t *testing.T) {
	for _, flag := range []string{"--agree", "--ask", "--teach", "--disagree"} {
		if shown, opened := typedAt(t, "", "", "mawjs", "release notes", flag, "Four keys"); len(opened) != 1 || !strings.Contains(shown, "[A1]") {
			t.Errorf("%s: opened %q, shown:\n%s", flag, opened, shown)
		}
	}
	if shown, opened := typedAt(t, "", "", "mawjs", "release notes", "--accept", "A1"); len(opened) > 0 || !strings.Contains(shown, "have no topic") {
		t.Errorf("there is nothing to accept in a new topic: opened %q, shown:\n%s", opened, shown)
	}
}
