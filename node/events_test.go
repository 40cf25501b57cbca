package node

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// eventsOf returns a stream of events that has begun.
func eventsOf(t *testing.T, n control.Service, r control.EventsRequest) <-chan control.Event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events, ended := make(chan control.Event, 1000), make(chan error, 1)
	go func() { // ends with the test
		ended <- control.Events.Ask(ctx, n, r, func(e control.Event) error {
			select {
			case events <- e:
			case <-ctx.Done(): // the test has ended and takes no more
			}
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := awaited(t, "the end of the events", ended); err != nil {
			t.Errorf("the events ended with: %v", err)
		}
	})
	if first := awaited(t, "the first event", events); first.Kind != control.EventBegun || first.Time.IsZero() {
		t.Fatalf("the first event is %+v", first)
	}
	return events
}

// until takes events until one of them satisfies so. That event is the last of those it returns.
func until(t *testing.T, events <-chan control.Event, what string, so func(control.Event) bool) (all []control.Event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	for {
		select {
		case e := <-events:
			if all = append(all, e); so(e) {
				return all
			}
		case <-ctx.Done():
			t.Fatalf("waited in vain for an event: %s; had %+v", what, all)
		}
	}
}

// A message comes, is heard, recorded, pushed, read and answered. The host that wrote it is told of
// each once.
func TestEventsOfAllStagesOfAMessage(t *testing.T) {
	t.Parallel()
	here, white := linkedPair(t)
	if _, err := control.AddAgent.Ask(t.Context(), white, control.AddAgentRequest{Name: "mawjs", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, here, "white", control.HostLive).Agents) == 1 })
	all := eventsOf(t, here, control.EventsRequest{})
	mail := eventsOf(t, here, control.EventsRequest{Kinds: []control.EventKind{control.EventMessage, control.EventStage}})
	stages := eventsOf(t, here, control.EventsRequest{Kinds: []control.EventKind{control.EventStage}})
	m := say(t, here, "mawjs", "hello")
	eventually(t, "it is there", func() bool { return has(white, m.Path) })
	if _, err := control.Read.Ask(t.Context(), white, control.ReadRequest{As: "mawjs", Path: m.Path.String()}); err != nil {
		t.Fatal(err)
	}
	answer, err := control.Send.Ask(t.Context(), white, control.SendRequest{As: "mawjs", Re: m.Path.String(), Body: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"heard white": 1, "recorded ": 1, "pushed ": 1, "read mawjs": 1, "answered mawjs": 1}
	for name, events := range map[string]<-chan control.Event{"all": all, "mail": mail, "stages": stages} {
		got := map[string]int{}
		came := until(t, events, "all stages", func(e control.Event) bool {
			if e.Stage != nil && e.Stage.Path == m.Path {
				got[fmt.Sprint(e.Stage.Stage, " ", e.Stage.By)]++
			}
			return len(got) == len(want)
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		var messages []protocol.Path
		for _, e := range came {
			if e.Kind == control.EventMessage {
				messages = append(messages, e.Message.Path)
			}
		}
		if want := []protocol.Path{m.Path, answer.Path}; name != "stages" && !slices.Equal(messages, want) || name == "stages" && messages != nil {
			t.Errorf("%s: the messages that came are %v, want %v", name, messages, want)
		}
	}
}

// An event of a run says for which message the run is and how it ended.
func TestEventsOfRuns(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	addExec(t, n, "shout", "cat")
	addExec(t, n, "fails", "sh -c 'echo it broke >&2; exit 70'")
	kinds := []control.EventKind{control.EventRun}
	all := eventsOf(t, n, control.EventsRequest{Kinds: kinds})
	failed := say(t, n, "fails", "try")
	answerTo(t, n, failed.Path)
	shouted := say(t, n, "shout", "hello")
	answerTo(t, n, shouted.Path)
	ended := func(e control.Event) bool { return e.Run.Change == control.RunEnded && e.Run.Agent == "shout" }
	var got []control.RunChange
	for _, e := range until(t, all, "the second run ends", ended) {
		if e.Run.Change == control.RunEnded && e.Run.Elapsed <= 0 {
			t.Errorf("%+v took no time", e.Run)
		}
		e.Run.Elapsed = 0
		got = append(got, *e.Run)
	}
	if len(got) != 4 || got[0].Run == "" || got[0].Run != got[1].Run || got[1].Run == got[2].Run || got[2].Run != got[3].Run {
		t.Fatalf("runs: %+v", got)
	}
	for i := range got {
		got[i].Run = ""
	}
	want := []control.RunChange{
		{Change: "started", Agent: "fails", Path: failed.Path},
		{Change: "ended", Agent: "fails", Path: failed.Path, Failure: "exit-status", Problem: "the command ended with exit code 70: it broke", ExitCode: 70},
		{Change: "started", Agent: "shout", Path: shouted.Path},
		{Change: "ended", Agent: "shout", Path: shouted.Path},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b protocol.Path) bool { return a == b })); diff != "" {
		t.Error(diff)
	}
}

// A host comes, and goes when it is killed. A host that is started anew comes again.
func TestEventsOfHosts(t *testing.T) {
	t.Parallel()
	hub, _ := aHub(t)
	events := eventsOf(t, hub, control.EventsRequest{Kinds: []control.EventKind{control.EventHost}})
	home := homeLinkedTo(t, hub, "white")
	for range 2 {
		white, stop := runNode(t, home)
		came := until(t, events, "white came", func(control.Event) bool { return true })
		if err := white.currentBus().Close(); err != nil { // as a host that was killed: it says nothing
			t.Fatal(err)
		}
		went := until(t, events, "white went", func(control.Event) bool { return true })
		want := []control.HostChange{{Change: "came", Host: "white"}, {Change: "went", Host: "white"}}
		if diff := cmp.Diff(want, []control.HostChange{*came[0].Host, *went[0].Host}); diff != "" {
			t.Error(diff)
		}
		stop()
	}
}

// A trouble is told when it begins and when it ends, with the same words.
func TestEventsOfTroubles(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	n, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote = remote }))
	eventually(t, "all is pushed", func() bool { s := n.record.Status(); return s.Unpushed+s.Unrecorded == 0 && s.Tip != "" })
	events := eventsOf(t, n, control.EventsRequest{Kinds: []control.EventKind{control.EventTrouble}})
	wake := func() {
		if _, err := control.Wake.Ask(t.Context(), n, control.WakeRequest{}); err != nil {
			t.Log(err) // the event says more
		}
	}
	next := func() control.TroubleChange {
		return *until(t, events, "a trouble", func(control.Event) bool { return true })[0].Trouble
	}
	if err := os.Rename(remote, remote+".away"); err != nil {
		t.Fatal(err)
	}
	wake()
	began := next()
	if err := os.Rename(remote+".away", remote); err != nil {
		t.Fatal(err)
	}
	wake()
	ended := next()
	if began.Change != "began" || ended.Change != "ended" || began.Text == "" || began.Text != ended.Text {
		t.Errorf("the remote was away: %+v, then %+v", began, ended)
	}
	n.notices.Wrong("hosts/far.md", "hosts/far.md cannot be read")
	n.notices.Wrong("hosts/far.md", "hosts/far.md cannot be read")
	n.notices.Wrong("hosts/far.md", "hosts/far.md is empty")
	n.notices.Mended("hosts/far.md")
	n.notices.Mended("hosts/far.md")
	n.notices.Happened("somebody changed a file")
	want := []control.TroubleChange{
		{Change: "began", Text: "hosts/far.md cannot be read"}, {Change: "ended", Text: "hosts/far.md cannot be read"},
		{Change: "began", Text: "hosts/far.md is empty"}, {Change: "ended", Text: "hosts/far.md is empty"},
		{Change: "happened", Text: "somebody changed a file"},
	}
	for _, w := range want {
		if diff := cmp.Diff(w, next()); diff != "" {
			t.Error(diff)
		}
	}
}

// A follower that does not take what comes holds up nobody. It is told how much it missed, at the
// place where that is missing.
func TestAFollowerThatIsSlowMissesEvents(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	telling, events, ended := make(chan control.Event, 2*feed.MaxEvents), make(chan control.Event), make(chan error, 1)
	go func() {
		ended <- control.Events.Ask(ctx, n, control.EventsRequest{Kinds: []control.EventKind{control.EventTrouble}}, func(e control.Event) error {
			telling <- e
			events <- e
			return nil
		})
	}()
	awaited(t, "the beginning", events)
	n.events.Happened("first")
	if e := awaited(t, "the first event", events); e.Trouble.Text != "first" {
		t.Fatalf("%+v", e)
	}
	n.events.Happened("blocks")
	for told := (control.Event{}); told.Trouble == nil || told.Trouble.Text != "blocks"; {
		told = awaited(t, "the event that blocks", telling)
	}
	const missed = 7
	for i := range feed.MaxEvents + missed {
		n.events.Happened(fmt.Sprint(i))
	}
	say(t, n, protocol.All, "nobody waits for it")
	awaited(t, "what blocked", events)
	for i := range feed.MaxEvents {
		if e := awaited(t, fmt.Sprint("number ", i), events); e.Trouble == nil || e.Trouble.Text != fmt.Sprint(i) {
			t.Fatalf("number %d is %+v", i, e)
		}
	}
	if e := awaited(t, "how many it missed", events); e.Kind != control.EventMissed || e.Missed != missed {
		t.Errorf("after what was kept: %+v, want %d missed", e, missed)
	}
	n.events.Happened("goes on")
	if e := awaited(t, "what comes after", events); e.Trouble == nil || e.Trouble.Text != "goes on" {
		t.Errorf("after what was missed: %+v", e)
	}
	cancel()
	if err := awaited(t, "the end", ended); err != nil {
		t.Error(err)
	}
	if n.events.Followed() {
		t.Error("who has gone is still followed up")
	}
}

func TestEventsThatThereAreNone(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	err := control.Events.Ask(t.Context(), n, control.EventsRequest{Kinds: []control.EventKind{"weather"}}, func(e control.Event) error {
		return fmt.Errorf("it is told %+v", e) // ends the asking, which would follow for ever
	})
	if want := `cannot follow what happens: there are no events of the kind "weather"`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
