package with

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// seen is the time at which everything is looked at.
var seen = time.Date(2026, 4, 17, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return seen.Add(-d) }

// design is a topic with something of everything.
func design() control.Topic {
	const day = 24 * time.Hour
	return control.Topic{
		Me: "skills", With: "mawjs", WithHost: "white", CrossHost: true,
		Head:      topic.Head{Name: "tmux design", Slug: "tmux-design", Derived: true, Anchor: "Soul-Brews-Studio/maw-js#332"},
		AnchorURL: "https://github.com/Soul-Brews-Studio/maw-js/issues/332",
		Raw:       score(0.95), Decayed: score(0.843), LastSync: ago(12 * time.Hour), Lambda: topic.Lambda{Value: 0.01, Tier: topic.TierIntra}, Status: "SYNCED", Colour: "amber",
		Sparkline: []float64{0.2, 0.55, 0.843},
		Items: []control.TopicItem{
			{Item: topic.Item{Label: "P1", Sort: "question", By: "skills"}, Text: "Define scope and goals"},
			{Text: "Keys are four", Agreed: true, Phase: "accept", Item: topic.Item{Label: "A1", Sort: "agreement", By: "skills", Stands: []topic.Stand{
				{Who: "skills", Phase: "accept", Decided: ago(3 * day), Signed: true}, {Who: "mawjs", Phase: "accept", Previous: "pending", Decided: ago(2 * day), Signed: true},
			}, Validations: []*topic.Validation{{By: "skills", Of: "mawjs", Time: ago(day), Stale: true}}}},
			{Text: "Pane titles include team tag", Phase: "defer", Item: topic.Item{Label: "A2", Sort: "agreement", By: "skills", Stands: []topic.Stand{
				{Who: "skills", Phase: "accept", Decided: ago(3 * day), Signed: true},
				{Who: "mawjs", Phase: "defer", Previous: "pending", Decided: ago(day), Until: seen.Add(3*day + time.Hour), Reason: "After mawjs ships #222", Signed: true},
			}}},
			{Text: "Worktree isolation on by default", Phase: "pending", Item: topic.Item{Label: "A3", Sort: "agreement", By: "mawjs", Stands: []topic.Stand{
				{Who: "skills", Phase: "pending", AnswerBy: seen.Add(day)}, {Who: "mawjs", Phase: "accept", Decided: ago(day), Signed: true},
			}}},
			{Text: "Color semantics", Phase: "timeout", Item: topic.Item{Label: "A4", Sort: "agreement", By: "skills", Stands: []topic.Stand{
				{Who: "skills", Phase: "accept", Decided: ago(3 * day), Signed: true}, {Who: "mawjs", Phase: "timeout", Previous: "pending", TimeoutAt: ago(day)},
			}}},
			{Item: topic.Item{Label: "T1", Sort: "lesson", By: "skills"}, Text: "Panes keep their history"},
		},
		Checks:      []control.TopicCheck{{Check: topic.Check{By: "skills", Of: "mawjs", Time: ago(5 * time.Minute)}}},
		Checkpoints: []control.TopicCheckpoint{{Checkpoint: topic.Checkpoint{By: "skills", Time: ago(2 * time.Hour), Summary: "Keys are settled.\nPanes come next."}, State: "pending"}},
	}
}

// screenOf returns what a person at a terminal sees when run works on a list and a relation.
func screenOf(t *testing.T, run func(context.Context, *call) error, words []string, topics ...control.Topic) string {
	t.Helper()
	node := control.Bind(
		control.Topics.By(func(context.Context, control.TopicsRequest) (control.TopicList, error) {
			return control.TopicList{Me: "skills", Topics: topics}, nil
		}),
		control.ShowTopic.By(func(context.Context, control.TopicRequest) (control.Topic, error) { return topics[0], nil }),
		control.ShowRelation.By(func(context.Context, control.RelationRequest) (control.Relation, error) {
			return control.Relation{
				Me: "skills", With: "mawjs", Host: "white", Transport: "wormhole", Since: ago(96 * time.Hour), Trust: "high", Sessions: 5, Messages: 33, TeachReceived: 3, TeachGiven: 2,
				Prose: "## Working Style\nStructured, citation-heavy,\nconcedes with reservation.\n## Plans\nWe meet on Mondays.", Topics: topics,
			}, nil
		}),
		control.Hosts.By(func(context.Context, control.HostsRequest) ([]control.Host, error) {
			return []control.Host{{Alias: protocol.Name("white"), State: control.HostLive}, {Alias: protocol.Name("volt"), State: control.HostAway, LastSeen: ago(2 * time.Hour)}}, nil
		}),
	)
	var out bytes.Buffer
	c := &call{words: words, client: node, view: cli.View{
		Out: term.Screen{Writer: &out, Terminal: true, Width: 120}, Zone: time.UTC, Now: func() time.Time { return seen }, Command: func(words string) string { return words },
	}}
	if err := run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return "\n" + out.String()
}

// Work-with W15, W16, W20, W23, W24, W61, W63, W64, W65, W66, W67, W132, W178, W184: the displays
// of the seed have its columns, marks and hints. Wherever a raw score stands, the decayed score
// stands too. For a silent partner they say that nobody knows its state. If there is nothing, they
// say how to begin.
func TestTheDisplaysOfTheSeed(t *testing.T) {
	ports := control.Topic{Me: "skills", With: "mawui", Head: topic.Head{Name: "ports", Slug: "ports"}, Status: "NEW", Lambda: topic.Lambda{Value: 0.1}}
	mine := design()
	mine.Items[2].Stands[1].Who = "skills"
	for name, c := range map[string]struct {
		run    func(context.Context, *call) error
		words  []string
		topics []control.Topic
		want   string
	}{
		"nothing with a partner": {runRelation, []string{"mawjs"}, nil, `
No active collaborations with mawjs.
next: parley work-with mawjs "topic"   start one
`},
		"nothing at all": {runList, nil, nil, `
No active collaborations.
next: parley work-with mawjs "topic"   start one
`},
		"relation": {runRelation, []string{"mawjs"}, []control.Topic{design()}, `
🤝 Collaborations with mawjs

Topic        Anchor                        Last Sync  Raw  Decay  λ     Status
tmux design  Soul-Brews-Studio/maw-js#332  12h ago    95%  84%    0.01  SYNCED

Relationship:
  Since:       2026-04-13
  Decay:       λ=0.01 (intra-soul)
  Trust:       HIGH (5 sessions, 33 messages)
  Teach-backs: 3 received, 2 given
  Style:       Structured, citation-heavy, concedes with reservation.
  Reached by:  wormhole, on white

From skills's context.md:
  ## Plans
  We meet on Mondays.
`},
		"topic": {runShow, []string{"mawjs", "tmux design"}, []control.Topic{design()}, `
🤝 work-with mawjs: "tmux design"

  Anchor:     https://github.com/Soul-Brews-Studio/maw-js/issues/332
  Last sync:  12h ago
  Score:      raw 95% → decayed 84% (λ=0.01 intra-soul) SYNCED  ▂▅▇

Agreements:
  - [A1] ✓ ACCEPTED: Keys are four  (mawjs does not say whether it still holds)
  - [A2] [spec] Pane titles include team tag  (mawjs: defer)
  - [A3] [spec] Worktree isolation on by default  (skills: pending)
  - [A4] [spec] Color semantics  (mawjs: timeout)

Pending:
  - [P1] Define scope and goals
  - waiting for mawjs's response on the sync-check, 5 min ago

Teach-backs:
  - [T1] skills learned: Panes keep their history

Last checkpoint, by skills, 2h ago (partner: pending):
  Keys are settled.
  Panes come next.

next: parley work-with mawjs 'tmux design' --sync   how far you are in sync
`},
		"list": {runList, nil, []control.Topic{design(), ports}, `
🤝 Active Collaborations

Oracle  Topic        Anchor                        Raw  Decay  Last Sync
mawjs   tmux design  Soul-Brews-Studio/maw-js#332  95%  84%    12h ago
mawui   ports        —                             —    —      —

Total: 2 collaborations with 2 oracles
`},
		"status": {runStatus, []string{"mawjs"}, []control.Topic{design()}, `
tmux design (↔ mawjs)  raw 95% → decayed 84% (λ=0.01 intra-soul) SYNCED  ▂▅▇
  P1   · open      Define scope and goals
  A1   ✓ accept   Keys are four  (mawjs does not say whether it still holds)
  A2   ⏸ defer    Pane titles include team tag  (mawjs: defer)
  A3   · pending  Worktree isolation on by default  (skills: pending)
  A4   ⏱ timeout  Color semantics  (mawjs: timeout)
`},
		"state": {runState, []string{"mawjs"}, []control.Topic{design()}, `
🗂 tmux-design (↔ mawjs)

ID  Who     Phase       Decided                  Text
A1  skills  ✓ accept    2026-04-14 12:00 +00:00  Keys are four
    mawjs   ✓ accept    2026-04-15 12:00 +00:00
A2  skills  ✓ accept    2026-04-14 12:00 +00:00  Pane titles include team tag
    mawjs   ⏸ defer     2026-04-16 12:00 +00:00
A3  skills  · pending                            Worktree isolation on by default
    mawjs   ✓ accept    2026-04-16 12:00 +00:00
A4  skills  ✓ accept    2026-04-14 12:00 +00:00  Color semantics
    mawjs   ⏱ timeout   2026-04-16 12:00 +00:00

A1, mawjs: asked whether it still holds 1d ago, and silent: --revoke A1 or --re-accept A1 says.
A2, mawjs: until 2026-04-20 (3d)  reason: After mawjs ships #222
A4, mawjs: Unknown state, not rejection. parley work-with mawjs tmux-design --sync to revisit.
`},
		"deferred": {runDeferred, nil, []control.Topic{mine}, `
⏸ Put off by skills

Partner  Topic        ID  Phase       When              Text
mawjs    tmux design  A2  ⏸ defer     until 2026-04-20  Pane titles include team tag
`},
		"pending": {runPending, nil, []control.Topic{design()}, `
⏳ Awaiting a decision of skills

Partner  Topic        ID  Phase       When           Text
mawjs    tmux design  A3  · pending   by 2026-04-18  Worktree isolation on by default
`},
		"fleet": {runFleetStatus, nil, []control.Topic{design(), ports}, `
📋 Fleet Collaborations

Collaboration  Oracles        Node        Raw  Decay
tmux design    skills, mawjs  cross-node  95%  84%
ports          skills, mawui  —           —    —

Active: 2 | Oracles involved: 3 | Cross-node: 1
⏱ volt is not heard (last seen 2h ago): what it wrote since is not here
`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, screenOf(t, c.run, c.words, c.topics...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
