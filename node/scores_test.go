package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Work-with W17, W19, W126, W132, W189: what a score is worth is computed whenever somebody looks,
// wherever it is shown. Its words follow from what was scored, and its colour from what that is
// worth now. The seed asks the system's date, which on macOS knows no such question: nothing fades
// there. Looking, recap and the sweeper write nothing, however much time has passed.
func TestAScoreFadesWhileNothingIsSaid(t *testing.T) {
	c := new(clock)
	n, _ := runNodeAt(t, initHome(t, nil), c.now)
	addInbox(t, n, "skills")
	addInbox(t, n, "mawjs")
	skills, mawjs := working(n, "skills", "mawjs"), working(n, "mawjs", "skills")
	channel := do(t, n, skills.Open(""), skills.Agree("Keys are four", time.Hour)).Channel()
	said := func() (count int) {
		t.Helper()
		for _, m := range everything(t, n) {
			if m.Channel == channel {
				count++
			}
		}
		return count
	}
	shown := func(want string) {
		t.Helper()
		view := control.Viewing{For: "skills"}
		topic, err := control.ShowTopic.Ask(t.Context(), n, control.TopicRequest{Viewing: view, With: "mawjs"})
		if err != nil {
			t.Fatal(err)
		}
		list, err := control.Topics.Ask(t.Context(), n, control.TopicsRequest{Viewing: view, Items: true})
		if err != nil {
			t.Fatal(err)
		}
		fleet, err := control.Topics.Ask(t.Context(), n, control.TopicsRequest{Fleet: true})
		if err != nil {
			t.Fatal(err)
		}
		relation, err := control.ShowRelation.Ask(t.Context(), n, control.RelationRequest{Viewing: view, With: "mawjs"})
		if err != nil {
			t.Fatal(err)
		}
		for where, v := range map[string]control.Topic{"the topic": topic, "the list": list.Topics[0], "the fleet": fleet.Topics[0], "the relation": relation.Topics[0]} {
			got := fmt.Sprint("- ", v.Status, v.Colour)
			if v.Raw != (protocol.Score{}) {
				got = fmt.Sprint(v.Raw, " ", v.Decayed, " ", v.Status, " ", v.Colour)
			}
			if got != want {
				t.Errorf("%s: %s, want %s", where, got, want)
			}
		}
	}
	shown("- NEW")
	check := do(t, n, skills.Check(nil, 0, protocol.Heard{}))
	do(t, n, mawjs.Answer(check, []protocol.SyncRow{
		{Claim: protocol.ItemRef{Label: "A1"}, Score: protocol.NewScore(0.95), Decision: protocol.DecisionAccept, Evidence: "notes.md:3"},
	}, ""))
	shown("0.95 0.95 SYNCED green")
	before := said()
	c.forward(2 * time.Hour)
	shown("0.95 0.778 SYNCED amber")
	c.forward(10 * time.Hour)
	shown("0.95 0.286 SYNCED gray")
	c.forward(40 * 24 * time.Hour)
	shown("0.95 0.0 SYNCED gray")
	swept, err := control.SweepTopics.Ask(t.Context(), n, control.SweepRequest{Acting: control.Acting{As: "skills"}})
	if err != nil || len(swept.TimedOut) != 1 {
		t.Errorf("timed out %+v, %v", swept.TimedOut, err)
	}
	if got := said(); got != before {
		t.Errorf("%d messages were written by looking", got-before)
	}
}

// Work-with W176: how long a decision stays open follows from how the other agent is reached.
func TestHowLongADecisionStaysOpen(t *testing.T) {
	t.Parallel()
	scratch.Unraced(t)
	hub, _ := aHub(t)
	white, _, _ := linkedTo(t, hub, "white")
	addInbox(t, hub, "skills")
	addInbox(t, hub, "mawui")
	addInbox(t, white, "mawjs")
	eventually(t, "the agent of white is known", func() bool { return len(seenAs(t, hub, "white", control.HostLive).Agents) == 1 })
	acting := control.Acting{As: "skills"}
	for with, want := range map[string]time.Duration{"mawui": 24 * time.Hour, "mawjs": 7 * 24 * time.Hour, "octocat": 30 * 24 * time.Hour} {
		anchor := ""
		if with == "octocat" {
			anchor = "nat/maw-js#332" // no host serves it
		}
		if _, err := control.OpenTopic.Ask(t.Context(), hub, control.OpenTopicRequest{Acting: acting, With: with, Topic: "tmux design", Anchor: anchor}); err != nil {
			t.Fatal(err)
		}
		done, err := control.DoInTopic.Ask(t.Context(), hub, control.TopicDeedRequest{Acting: acting, With: with, Deed: protocol.ActAgree, Text: "Keys are four"})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, it := range done.Topic.Items {
			for _, st := range it.Stands {
				if st.Who == with {
					found = true
					if got := st.AnswerBy.Sub(it.Time).Round(time.Second); got != want {
						t.Errorf("%s has %s, want %s", with, got, want)
					}
				}
			}
		}
		if !found {
			t.Errorf("nothing waits for %s: %+v", with, done.Topic.Items)
		}
	}
}
