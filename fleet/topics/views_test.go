package topics_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/testkit/dump"
	"github.com/parleyfleet/parley/protocol"
)

var noon = time.Date(2026, 4, 16, 12, 0, 0, 0, time.UTC)

const record = "0123456789abcdef0123456789abcdef01234567"

// table is a topic to which commands are given, one after the other.
type table struct {
	*testing.T
	now      time.Time
	t        topics.Topic
	last     protocol.Path
	n        uint32
	standing affair.Standing // of what is said next
}

func (tb *table) do(c affair.Command) {
	tb.Helper()
	kind := topics.Kind(record)
	tb.now = tb.now.Add(time.Second)
	drafts, err := c.Decide(kind.At(tb.t, tb.now), tb.now)
	if err != nil {
		tb.Fatal(err)
	}
	for _, d := range drafts {
		m := d.Message
		tb.n++
		if m.Human != "" {
			m.Host = map[string]protocol.Name{"nat": "oracle-world", "eve": "white"}[m.Human]
		}
		m.Timestamp, m.Path = tb.now, protocol.NewPath(d.Channel, tb.now, tb.n)
		if tb.t, err = kind.Step(tb.t, affair.Deed{Message: &m, Position: affair.Position{Place: tb.now, Path: m.Path}, Standing: tb.standing}); err != nil {
			tb.Fatal(err)
		}
		tb.last = m.Path
	}
}

// Failure prevented: who can open a topic with an agent has its human's access to an issue,
// or takes it from that human by naming the issue too.
func TestWhoHasNamedAnAnchor(t *testing.T) {
	skills, mawjs := speakers()
	nat, eve := skills, mawjs
	nat.Human, nat.Host, eve.Human, eve.Host = "nat", "oracle-world", "eve", "white"
	tb := &table{T: t, now: noon}
	for _, step := range []struct {
		by     topics.Speaker
		anchor string
		want   string
	}{
		{skills, "nat/maw-js#332", "[]"},
		{nat, "nat/maw-js#332", "[{nat oracle-world}]"},
		{mawjs, "nat/maw-js#332", "[{nat oracle-world}]"},
		{eve, "nat/maw-js#332", "[{nat oracle-world} {eve white}]"},
		{nat, "nat/maw-js#332", "[{nat oracle-world} {eve white}]"},
		{nat, "", "[{nat oracle-world} {eve white}]"},
		{eve, "nat/private#1", "[{eve white}]"},
		{skills, "nat/maw-js#332", "[]"},
	} {
		tb.do(step.by.Open(step.anchor))
		if got := fmt.Sprint(tb.t.Named); got != step.want {
			t.Errorf("%s of %s has named %q: %s, want %s", step.by.Human, step.by.Host, step.anchor, got, step.want)
		}
	}
	opening := &protocol.Message{
		From: "mawjs", Host: "oracle-world", Human: "nat", Type: protocol.TypeText, Act: protocol.ActTopic, Timestamp: tb.now.Add(time.Second),
		Path: protocol.NewPath(tb.last.Channel(), tb.now.Add(time.Second), 99), To: []protocol.Address{{Name: "skills"}},
		Body: protocol.OpenTopic.Format(protocol.Opening{FormHead: protocol.FormHead{From: "mawjs", With: "skills", Topic: "tmux design"}, Anchor: "nat/private#1"}),
	}
	forged, err := topics.Kind(record).Step(tb.t, affair.Deed{Message: opening, Standing: affair.Unsigned})
	if err != nil || forged.Anchor != "nat/private#1" || len(forged.Named) > 0 {
		t.Errorf("an unsigned opening: %v, anchored on %q, named by %v", err, forged.Anchor, forged.Named)
	}
	tb.do(nat.Open("nat/maw-js#332"))
	tb.do(nat.Close(""))
	tb.do(skills.Open(""))
	if got := fmt.Sprint(tb.t.Named); got != "[{nat oracle-world}]" {
		t.Errorf("in the next term %s have named it", got)
	}
}

func speakers() (skills, mawjs topics.Speaker) {
	return topics.Speaker{Record: record, Me: "skills", With: "mawjs", Topic: "tmux design"}, topics.Speaker{Record: record, Me: "mawjs", With: "skills", Topic: "tmux design"}
}

// Work-with W183: it is asked again at the milestones of the seed and at nothing else, and once each.
func TestDueValidations(t *testing.T) {
	skills, mawjs := speakers()
	tb := &table{T: t, now: noon}
	tb.do(skills.Open(""))
	tb.do(skills.Agree("Keys are four", 0))
	tb.do(skills.Agree("Titles have a tag", 0))
	tb.do(mawjs.Accept("A1", ""))
	due := func(sessions topic.Sessions, forward bool) string {
		text := ""
		for _, d := range tb.t.DueValidations("skills", sessions, tb.now, forward) {
			text += fmt.Sprint(d.Item.Label, " ", d.Milestone, ";")
		}
		return text
	}
	sessions := func(n int) (days topic.Sessions) {
		for i := range n {
			days = append(days, noon.Add(time.Duration(i+1)*24*time.Hour))
		}
		return days
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q is due, want %q", what, got, want)
		}
	}
	want("on the day that it was accepted", due(nil, true), "")
	tb.now = tb.now.Add(24 * time.Hour)
	want("in a check", due(nil, false), "")
	want("in a forward", due(nil, true), "A1 forward;")
	want("after four sessions", due(sessions(4), false), "")
	want("after five sessions", due(sessions(5), false), "A1 sessions;")
	answer := func(score float64, d protocol.Decision) {
		tb.do(skills.Check(nil, 0, protocol.Heard{}))
		tb.do(mawjs.Answer(tb.last, []protocol.SyncRow{{Claim: protocol.ItemRef{Label: "A1"}, Score: protocol.NewScore(score), Decision: d, Evidence: "x"}}, ""))
	}
	answer(0.7, protocol.DecisionPartial)
	want("at 70%", due(nil, false), "")
	answer(0.699, protocol.DecisionPartial)
	want("below 70%", due(nil, false), "A1 score;")
	answer(0, protocol.DecisionReject)
	want("after a contradiction", due(nil, true), "A1 contradiction;")
	tb.do(skills.Validate("A1", protocol.MilestoneContradiction, 0))
	want("while it is asked", due(nil, true), "")
	answer(0, protocol.DecisionReject)
	want("at the next check, which says the same", due(nil, false), "")
	tb.now = tb.now.Add(24 * time.Hour)
	want("at the end of the next session, though an answer is waited for", due(nil, true), "A1 forward;")
	answer(1, protocol.DecisionAccept)
	answer(0.5, protocol.DecisionPartial)
	want("when the score falls, though an answer is waited for", due(nil, false), "A1 score;")
	tb.now = tb.now.Add(5 * 24 * time.Hour)
	want("after five sessions, though an answer is waited for", due(sessions(5), false), "A1 score;")
	tb.do(skills.Validate("A1", protocol.MilestoneScore, 0))
	want("of two milestones, one is asked about", due(sessions(5), false), "")
	answer(1, protocol.DecisionAccept)
	answer(0, protocol.DecisionReject)
	want("after another contradiction", due(nil, false), "A1 contradiction;")
	tb.do(skills.Validate("A1", protocol.MilestoneContradiction, 0))
	tb.now = tb.now.Add(topics.Window)
	want("when nobody has answered", due(nil, false), "A1 score;")
	tb.do(skills.Validate("A1", protocol.MilestoneScore, 0))
	tb.now = tb.now.Add(topics.Window)
	want("when nobody has answered again", due(nil, false), "")
	tb.do(mawjs.ReAccept("A1", "", "", 0))
	want("once it is answered", due(nil, true), "")
}

// R60: the state file has the least settled of the two, with what it was before.
// Work-with W173, W180, W181: what has run out is computed whenever somebody looks, with no sweeper, and asks
// again where the fleet has it so.
func TestSidecar(t *testing.T) {
	skills, mawjs := speakers()
	tb := &table{T: t, now: noon}
	tb.do(skills.Open(""))
	for _, text := range []string{"Keys are four", "Titles have a tag", "Panes are three", "Buds are kits"} {
		tb.do(skills.Agree(text, 24*time.Hour))
	}
	tb.do(mawjs.Accept("A1", "so be it"))
	tb.do(mawjs.Defer("A2", "later", noon.Add(100*time.Hour)))
	tb.do(mawjs.Reject("A3", "no"))
	got, err := json.MarshalIndent(topics.Kind(record).At(tb.t, noon.Add(48*time.Hour)).Sidecar(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "topic": "tmux-design",
  "items": {
    "A1": {
      "text": "Keys are four",
      "phase": "accept",
      "decidedAt": "2026-04-16T12:00:06Z",
      "decidedBy": "mawjs",
      "reason": "so be it",
      "previousPhase": "pending"
    },
    "A2": {
      "text": "Titles have a tag",
      "phase": "defer",
      "decidedAt": "2026-04-16T12:00:07Z",
      "decidedBy": "mawjs",
      "reason": "later",
      "deferredUntil": "2026-04-20T16:00:00Z",
      "previousPhase": "pending"
    },
    "A3": {
      "text": "Panes are three",
      "phase": "reject",
      "decidedAt": "2026-04-16T12:00:08Z",
      "decidedBy": "mawjs",
      "reason": "no",
      "previousPhase": "pending"
    },
    "A4": {
      "text": "Buds are kits",
      "phase": "timeout",
      "timeoutAt": "2026-04-17T12:00:05Z",
      "previousPhase": "pending"
    }
  }
}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	// Work-with W181: where a fleet has it so, what was put off asks again instead of being timed out.
	late := topics.Kind(record).At(tb.t, noon.Add(200*time.Hour))
	phase := func(t topics.Topic) topic.Phase {
		it, err := t.Find(protocol.ItemRef{Label: "A2"})
		if err != nil {
			tb.Fatal(err)
		}
		return it.Stand("mawjs").Phase
	}
	if a, b, c := phase(late), phase(late.Reprompted()), phase(tb.t); a != topic.TimedOut || b != topic.Pending || c != topic.Deferred {
		t.Errorf("put off: %s when it has run out, %s where it asks again, %s in the value, which does not change", a, b, c)
	}
	// Work-with W179: looking twice is looking once.
	twice := topics.Kind(record).At(late, noon.Add(200*time.Hour))
	if diff := cmp.Diff(late, twice, cmp.AllowUnexported(protocol.Path{}, protocol.Score{})); diff != "" {
		t.Error(diff)
	}
}

// Work-with W182: what is put off until a time of another zone has run out at that instant. It
// prevents: times that are compared as texts, by which 00:30 at +07:00 is later than 17:31 UTC.
func TestPutOffUntilAnotherZonesTime(t *testing.T) {
	skills, _ := speakers()
	tb := &table{T: t, now: noon}
	tb.do(skills.Open(""))
	tb.do(skills.Agree("Keys are four", 0))
	at := tb.now.Add(time.Second)
	m := protocol.Message{
		From: "mawjs", To: []protocol.Address{{Name: "skills"}}, Type: protocol.TypeText, Act: protocol.ActDefer, Timestamp: at, Path: protocol.NewPath(tb.last.Channel(), at, 99),
		Body: "DEFER | from: mawjs\nITEM: A1\nUNTIL: 2026-04-17T00:30:00+07:00",
	}
	next, err := topics.Kind(record).Step(tb.t, affair.Deed{Message: &m, Position: affair.Position{Place: at, Path: m.Path}})
	if err != nil {
		t.Fatal(err)
	}
	until := time.Date(2026, 4, 16, 17, 30, 0, 0, time.UTC)
	for ahead, want := range map[time.Duration]topic.Phase{-time.Second: topic.Deferred, time.Second: topic.TimedOut} {
		it, err := topics.Kind(record).At(next, until.Add(ahead)).Find(protocol.ItemRef{Label: "A1"})
		if err != nil {
			t.Fatal(err)
		}
		if st := it.Stand("mawjs"); st.Phase != want || !st.Until.Equal(until) {
			t.Errorf("%s after %s it is %s until %s, want %s", ahead, until, st.Phase, st.Until, want)
		}
	}
}

// Failure prevented: a check of many claims is made too long to be kept by what strangers wrote.
func TestClaimsComeBeforeComments(t *testing.T) {
	skills, _ := speakers()
	tb := &table{T: t, now: noon}
	tb.do(skills.Open(""))
	for _, c := range []struct {
		claims int
		quotes bool
	}{{1, true}, {55, false}} {
		drafts, err := skills.Check(slices.Repeat([]string{strings.Repeat("x", 1000)}, c.claims), 0, protocol.Heard{Comments: 3, Said: strings.Repeat("> y", 3000)}).Decide(
			topics.Kind(record).At(tb.t, tb.now), tb.now)
		if err != nil {
			t.Fatal(err)
		}
		body := drafts[0].Message.Body
		check, err := protocol.CheckSync.Parse(body)
		if err != nil || len(check.Claims) != c.claims+1 || (check.Said != "") != c.quotes || check.Comments != 3 || len(body) > 64<<10 {
			t.Errorf("%d claims: %d bytes with %d claims and %d of others, %v", c.claims, len(body), len(check.Claims), len(check.Said), err)
		}
	}
}

// Work-with W48, W49: the history keeps raw scores alone and has a line for each answer with a score, of earlier terms too.
func TestHistory(t *testing.T) {
	skills, mawjs := speakers()
	tb := &table{T: t, now: noon}
	tb.do(skills.Open(""))
	for term, score := range []float64{0.5, 0.9} {
		tb.do(skills.Check(nil, 0, protocol.Heard{}))
		tb.do(mawjs.Answer(tb.last, []protocol.SyncRow{{Claim: protocol.ItemRef{Label: "P1"}, Score: protocol.NewScore(score), Evidence: "x"}}, ""))
		if term == 0 {
			tb.do(skills.Close(""))
			tb.do(skills.Open(""))
		}
	}
	tb.do(skills.Check(nil, 0, protocol.Heard{Comments: 12, Seen: noon})) // nobody answers
	tb.do(mawjs.Check(nil, 0, protocol.Heard{Comments: 99, Seen: noon.AddDate(9, 0, 0)}))
	tb.do(skills.Check(nil, 0, protocol.Heard{})) // without gh
	if got := tb.t.CommentsSeen("skills"); !got.Equal(noon) {
		t.Errorf("skills has read comments until %s", got)
	}
	lambda := func(time.Time) topic.Lambda { return topic.Lambda{Value: 0.1} }
	want := []topic.Sample{
		{At: noon.Add(3 * time.Second), By: "mawjs", Topic: "tmux-design", Raw: 0.5, Lambda: 0.1},
		{At: noon.Add(7 * time.Second), By: "mawjs", Topic: "tmux-design", Raw: 0.9, Lambda: 0.1},
	}
	if diff := cmp.Diff(want, tb.t.History("mawjs", lambda)); diff != "" {
		t.Error(diff)
	}
	if got := tb.t.History("skills", lambda); len(got) != 0 {
		t.Errorf("skills answered nothing: %v", got)
	}
	tb.do(skills.Teach("one"))
	tb.do(skills.Teach("two"))
	tb.do(mawjs.Teach("three"))
	if given, received := tb.t.TeachBacks("skills"); given != 2 || received != 1 {
		t.Errorf("%d given, %d received", given, received)
	}
}

// What cannot be said is refused before it is written, with a hint where there is one.
func TestRefused(t *testing.T) {
	skills, _ := speakers()
	for name, c := range map[string]affair.Command{
		"no topic":   skills.Agree("x", 0),
		"no name":    topics.Speaker{Record: record, Me: "a", With: "b", Topic: "..."}.Open(""),
		"two lines":  topics.Speaker{Record: record, Me: "a", With: "b", Topic: "a\nb"}.Open(""),
		"no partner": topics.Speaker{Record: record, Me: "a", Topic: "x"}.Open(""),
		"no item":    skills.Accept("A1", ""),
		"no answer":  skills.Judge(protocol.Path{}, protocol.ActRatified, ""),
	} {
		if drafts, err := c.Decide(topics.Topic{}, noon); !errors.As(err, new(*refusal.Refusal)) || drafts != nil {
			t.Errorf("%s: %v, %v", name, drafts, err)
		}
	}
}

// Whatever a deed says, the fold takes it in or says why not, and the value that it was
// given stays as it was.
func FuzzStep(f *testing.F) {
	kind := topics.Kind(record)
	skills, mawjs := speakers()
	for _, spec := range kind.Acts {
		f.Add(string(spec.Act), spec.Example(), true, "")
		f.Add(string(spec.Act), "ITEM: A1\nREASON: x", false, "2026/04/16/120002000Z-00000002.md")
	}
	f.Fuzz(func(t *testing.T, act, body string, first bool, re string) {
		tb := &table{T: t, now: noon}
		tb.do(skills.Open(""))
		tb.do(skills.Agree("Keys are four", 0))
		tb.do(skills.Check(nil, 0, protocol.Heard{}))
		tb.do(mawjs.Checkpoint("All is open.", ""))
		before := dump.Text(tb.t)
		m := protocol.Message{From: "skills", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Act: protocol.Act(act), Body: body, Re: re, Timestamp: noon.Add(time.Hour)}
		if !first {
			m.From = "mawjs"
		}
		m.Path = protocol.NewPath(tb.last.Channel(), m.Timestamp, 99)
		next, err := kind.Step(tb.t, affair.Deed{Message: &m, Position: affair.Position{Place: m.Timestamp, Path: m.Path}})
		_ = kind.At(next, noon.Add(10000*time.Hour)).Sidecar()
		if after := dump.Text(tb.t); before != after {
			t.Errorf("the value that was given has changed:\n%s", cmp.Diff(before, after))
		}
		if err != nil && dump.Text(next) != before {
			t.Errorf("a void deed changes the value: %v", err)
		}
	})
}

// A topic that a stranger opened concerns who is named in it once they did something in it.
func TestWhomATopicConcerns(t *testing.T) {
	skills, mawjs := speakers()
	for name, c := range map[string]struct {
		standing affair.Standing
		then     func(tb *table)
		want     bool
	}{
		"a stranger's":          {affair.Unsigned, func(*table) {}, false},
		"before its host's key": {affair.BeforeKey, func(*table) {}, false},
		"signed":                {affair.Signed, func(*table) {}, true},
		"the stranger goes on":  {affair.Unsigned, func(tb *table) { tb.do(mawjs.Ask("Why?")); tb.do(mawjs.Checkpoint("All.", "")) }, false},
		"something was asked":   {affair.Unsigned, func(tb *table) { tb.do(skills.Ask("Why?")) }, true},
		"something was decided": {affair.Unsigned, func(tb *table) { tb.do(mawjs.Agree("Four", 0)); tb.do(skills.Reject("A1", "no")) }, true},
		"something was settled": {affair.Unsigned, func(tb *table) { tb.do(skills.Resolve("P1", "so")) }, true},
		"it was checked":        {affair.Unsigned, func(tb *table) { tb.do(mawjs.Agree("Four", 0)); tb.do(skills.Check(nil, 0, protocol.Heard{})) }, true},
		"it was summed up":      {affair.Unsigned, func(tb *table) { tb.do(skills.Checkpoint("All.", "")) }, true},
		"a sum was ratified": {affair.Unsigned, func(tb *table) {
			tb.do(mawjs.Checkpoint("All.", ""))
			tb.do(skills.Judge(tb.last, protocol.ActRatified, ""))
		}, true},
		"it was closed":            {affair.Unsigned, func(tb *table) { tb.do(skills.Close("")) }, true},
		"in an earlier term":       {affair.Unsigned, func(tb *table) { tb.do(skills.Ask("Why?")); tb.do(mawjs.Close("")); tb.do(mawjs.Open("")) }, true},
		"an earlier term's signed": {affair.Signed, func(tb *table) { tb.do(mawjs.Close("")); tb.standing = affair.Unsigned; tb.do(mawjs.Open("")) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			tb := &table{T: t, now: noon, standing: c.standing}
			tb.do(mawjs.Open(""))
			c.then(tb)
			if got := tb.t.Concerns("skills"); got != c.want {
				t.Errorf("concerns skills: %v", got)
			}
		})
	}
}
