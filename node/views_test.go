package node

import (
	"encoding/json"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// stopped is the system's clock until it is stopped at a time.
type stopped struct{ at atomic.Pointer[time.Time] }

func (c *stopped) now() time.Time {
	if at := c.at.Load(); at != nil {
		return *at
	}
	return time.Now()
}

// One of two hosts heard half of the messages by the bus and had the other half by git, while no
// link was there. Both hosts agree byte for byte on every view, for the same agent at the same
// time. It prevents: a view of the work of two depends on the host that shows it, on what came
// first, or by which way it came.
func TestViewsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	scratch.Unraced(t)
	clock := new(stopped)
	home := initHome(t, func(o *homes.Options) { o.Remote, o.Listen = bareRemote(t), "127.0.0.1:0" })
	fastFetch(t, home)
	hub, _ := runNodeAt(t, home, clock.now)
	link := newWire(t)
	link.lead(hub)
	far := initHome(t, func(o *homes.Options) { o.Alias, o.Remote, o.Hubs = "white", hub.cfg.Remote, []string{link.address()} })
	fastFetch(t, far)
	white, _ := runNodeAt(t, far, clock.now)
	addInbox(t, hub, "skills")
	addInbox(t, white, "mawjs")
	addInbox(t, hub, "mawui") // an agent of both
	addInbox(t, white, "mawui")
	eventually(t, "the agents of white are known", func() bool { return len(seenAs(t, hub, "white", control.HostLive).Agents) == 2 })
	eventually(t, "the agents of the hub are known", func() bool { return len(seenAs(t, white, "oracle-world", control.HostLive).Agents) == 2 })

	skills, mawjs := working(hub, "skills", "mawjs"), working(white, "mawjs", "skills")
	both := func(a, b protocol.Path) {
		t.Helper()
		awaitHas(t, hub, a)
		awaitHas(t, white, b)
	}
	said := do(t, hub, skills.Open("maw-js#332"), skills.Agree("Keys are four", 0), skills.Agree("Titles have a tag", 0), skills.Ask("Who writes it?"))
	awaitHas(t, white, said)
	check := do(t, hub, skills.Check(nil, 0, protocol.Heard{}))
	awaitHas(t, white, check)
	both(do(t, white, mawjs.Accept("A1", "I send four"), mawjs.Defer("A2", "not now", time.Time{}),
		mawjs.Answer(check, []protocol.SyncRow{
			{Claim: protocol.ItemRef{Label: "A1"}, Score: protocol.NewScore(1), Decision: protocol.DecisionAccept, Evidence: "notes.md:3"},
			{Claim: protocol.ItemRef{Label: "A2"}, Score: protocol.NewScore(0.4), Decision: protocol.DecisionReject, Evidence: "notes.md:4"},
		}, "")), said)
	as(t, hub, "skills", "mawjs", "Have you read it?")
	heard := as(t, white, "mawjs", "skills", "I have.")
	awaitHas(t, hub, heard.Path)

	link.set(true)
	with := working(hub, "skills", "mawui")
	a := do(t, hub, with.Open(""), with.Agree("Panes are three", 0), skills.Teach("Four keys are enough"), skills.Disagree("Titles need none"))
	b := do(t, white, mawjs.Reject("A2", "too long"), mawjs.Ask("And then?"), working(white, "mawui", "mawjs").Open(""))
	late := as(t, white, "mawjs", "skills", "Later, then.")
	both(b, a)
	both(late.Path, a)
	awaitSame(t, nil, hub, white)
	eventually(t, "what was said alone is in git, and both have it", func() bool {
		return hub.record.Status().Tip == white.record.Status().Tip && hub.record.Status().Unpushed+hub.record.Status().Unrecorded+white.record.Status().Unpushed+white.record.Status().Unrecorded == 0
	})

	at := time.Now().UTC().Add(topics.Window + time.Hour) // decisions that nobody took have timed out
	clock.at.Store(&at)
	for _, who := range []string{"skills", "mawjs", "mawui", "nat"} {
		view := control.Viewing{For: who}
		for what, ask := range map[string]func(n *Node) (any, error){
			"--list": func(n *Node) (any, error) {
				return control.Topics.Ask(t.Context(), n, control.TopicsRequest{Viewing: view})
			},
			"--recap": func(n *Node) (any, error) {
				return control.Topics.Ask(t.Context(), n, control.TopicsRequest{Viewing: view, Items: true, Closed: true})
			},
			"--fleet-status": func(n *Node) (any, error) {
				return control.Topics.Ask(t.Context(), n, control.TopicsRequest{Fleet: true})
			},
			"with mawjs": func(n *Node) (any, error) {
				return control.ShowRelation.Ask(t.Context(), n, control.RelationRequest{Viewing: view, With: "mawjs"})
			},
			"with mawui": func(n *Node) (any, error) {
				return control.ShowRelation.Ask(t.Context(), n, control.RelationRequest{Viewing: view, With: "mawui"})
			},
			"a topic": func(n *Node) (any, error) {
				if who != "skills" {
					return nil, nil
				}
				return control.ShowTopic.Ask(t.Context(), n, control.TopicRequest{Viewing: view, With: "mawjs", Topic: "tmux design"})
			},
			"its page": func(n *Node) (any, error) {
				if who != "mawjs" {
					return nil, nil
				}
				return control.PageOfTopic.Ask(t.Context(), n, control.TopicRequest{Viewing: view, With: "skills", Topic: "tmux design"})
			},
		} {
			var shown [2]string
			for i, n := range []*Node{hub, white} {
				v, err := ask(n)
				if err != nil {
					t.Fatalf("%s of %s: %v", what, who, err)
				}
				text, err := json.MarshalIndent(v, "", " ")
				if err != nil {
					t.Fatal(err)
				}
				shown[i] = string(text)
			}
			if diff := cmp.Diff(shown[0], shown[1]); diff != "" {
				t.Errorf("%s of %s differs (-oracle-world +white):\n%s", what, who, diff)
			}
		}
	}
	list, err := control.Topics.Ask(t.Context(), white, control.TopicsRequest{Viewing: control.Viewing{For: "skills"}})
	if err != nil || len(list.Topics) != 2 {
		t.Fatalf("skills has %d topics, %v", len(list.Topics), err)
	}
	for _, topic := range list.Topics {
		if topic.With == "mawjs" && topic.Raw != protocol.NewScore(0.7) {
			t.Errorf("the score of the two is not told: %+v", topic)
		}
	}
}
