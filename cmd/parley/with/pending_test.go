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

// Work-with W66: what awaits a decision is not only agreements. It prevents: a checkpoint that the
// partner wants ratified, or an invite, of which --pending and --recap say nothing.
func TestCheckpointsAndInvitesArePending(t *testing.T) {
	design := control.Topic{Me: "skills", With: "mawjs", Head: topic.Head{Name: "tmux design"}, Checkpoints: []control.TopicCheckpoint{
		{Checkpoint: topic.Checkpoint{By: "mawjs", Time: ago(2 * time.Hour), Summary: "Keys are settled."}, State: "pending"},
		{Checkpoint: topic.Checkpoint{By: "skills", Time: ago(time.Hour), Summary: "Mine."}, State: "pending"},
	}}
	done := control.Topic{Me: "skills", With: "volt", Head: topic.Head{Name: "ports"}, Checkpoints: []control.TopicCheckpoint{
		{Checkpoint: topic.Checkpoint{By: "volt", Summary: "Older."}, State: "pending"}, {Checkpoint: topic.Checkpoint{By: "volt", Summary: "It is so."}, State: "ratified"},
	}}
	node := control.Bind(
		control.Topics.By(func(context.Context, control.TopicsRequest) (control.TopicList, error) {
			return control.TopicList{Me: "skills", Topics: []control.Topic{design, done}}, nil
		}),
		control.Gates.By(func(context.Context, control.GatesRequest) (control.GateList, error) {
			return control.GateList{Human: "nat", Gates: []control.Gate{
				{ID: "1f2e3d4c", For: "invite", Whom: "skills@white", By: "mawui", Party: "panes", Title: "invite of skills@white", Time: ago(time.Hour)},
				{ID: "2f2e3d4c", For: "invite", Whom: "other@white", Party: "not mine", Title: "invite of other@white"}, {ID: "3f2e3d4c", For: "organize", Party: "a wish"},
			}}, nil
		}),
		control.ReadIssues.By(func(context.Context, control.IssuesRequest) (control.IssueList, error) {
			return control.IssueList{}, nil
		}),
	)
	for name, c := range map[string]struct {
		run  func(context.Context, *call) error
		want []string
		none string
	}{
		"pending": {runPending, []string{"mawjs tmux design — · checkpoint 2h ago Keys are settled.", "mawui panes 1f2e3d4c · invite 1h ago invite of skills@white: parley gates"}, "ports"},
		"recap":   {runRecap, []string{"Checkpoints to ratify: 1, see parley work-with --pending", "Invites on which a human decides: 1, see parley gates"}, "not mine"},
	} {
		var out bytes.Buffer
		err := c.run(t.Context(), &call{client: node, view: cli.View{Out: term.Screen{Writer: &out}, Zone: time.UTC, Now: func() time.Time { return seen }, Command: func(words string) string { return words }}})
		text := strings.Join(strings.Fields(out.String()), " ")
		for _, want := range c.want {
			if err != nil || !strings.Contains(text, want) || strings.Contains(text, c.none) {
				t.Errorf("%s: %v, got\n%s\nwant %q", name, err, out.String(), want)
			}
		}
	}
}
