package fleet

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/fleet/testdata/ballot"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/internal/testkit/dump"
	"github.com/parleyfleet/parley/protocol"
)

// testKinds returns the kinds of affairs of these tests.
func testKinds() []affair.Any {
	return []affair.Any{ballot.Kind(), topics.Kind(testRecord), policy.Kind(testRecord), parties.Kind(testRecord)}
}

// ballots returns what a state says of all its affairs, and of each of their deeds.
func ballots(s *State) string {
	var b strings.Builder
	affairs := map[affair.ID]bool{}
	for it := range s.Ledger.All() {
		if it.affair == (affair.ID{}) {
			continue
		}
		affairs[it.affair] = true
		fmt.Fprintln(&b, "deed", it.Hash[:8], s.Void(it))
	}
	now := time.Date(2026, 5, 23, 19, 0, 30, 0, time.UTC)
	for _, id := range slices.SortedFunc(maps.Keys(affairs), func(a, b affair.ID) int { return strings.Compare(listName(a), listName(b)) }) {
		switch id.Kind {
		case "ballot":
			fmt.Fprintf(&b, "ballot %+v\n", Value(s, ballot.Kind(), id.Name, now))
		case policy.KindName:
			fmt.Fprintf(&b, "policy %+v\n", Value(s, policy.Kind(testRecord), id.Name, now).All())
		case parties.KindName:
			fmt.Fprintln(&b, "party", dump.Text(Value(s, parties.Kind(testRecord), id.Name, now)))
		case "topic":
			fmt.Fprintln(&b, "topic", dump.Text(Value(s, topics.Kind(testRecord), id.Name, now)))
		}
	}
	return b.String()
}

// Commands propose a ballot, vote on it and take votes back. Each command is given what came of
// those before. Time closes the ballot.
func TestBallot(t *testing.T) {
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	h, c := newTestHost(t, "white", "white"), protocol.DeriveChannel(testRecord, "nat", "eve")
	s := New(keys.Anchor{RecordID: testRecord}, ballot.Kind())
	n := uint32(0)
	do := func(command affair.Command) *Item {
		t.Helper()
		at, n = at.Add(time.Second), n+1
		drafts, err := s.Decide(Do{command}, at)
		if err != nil || len(drafts) != 1 {
			t.Fatalf("decided %v, %v", drafts, err)
		}
		f := h.write(t, drafts[0], at, n)
		it, err := s.Apply(f.path, f.data)
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	refused := func(command affair.Command) {
		t.Helper()
		if _, err := s.Decide(Do{command}, at); !errors.As(err, new(*Refusal)) {
			t.Errorf("got %v, want a refusal", err)
		}
	}
	refused(ballot.Choose("eve", c, "yes"))
	opened := do(ballot.Open("nat", c, ballot.Proposal{Question: "Shall we?", For: time.Minute}))
	refused(ballot.Open("eve", c, ballot.Proposal{Question: "Now?", For: time.Minute}))
	do(ballot.Choose("eve", c, "no"))
	do(ballot.Choose("eve", c, "yes"))
	do(ballot.Choose("nat", c, "no"))
	do(ballot.Abstain("nat", c))
	again := do(ballot.Abstain("nat", c))
	if err := s.Void(again); err == nil || s.Void(opened) != nil {
		t.Errorf("a vote was taken back twice: %v; the ballot: %v", err, s.Void(opened))
	}
	want := ballot.Ballot{Opened: opened.Path, By: "nat", Question: "Shall we?", Until: opened.Timestamp.Add(time.Minute), Votes: map[string]string{"eve": "yes"}}
	for range 2 {
		got := Value(s, ballot.Kind(), c.String(), at)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(protocol.Path{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		freeze(t, s)
		s = restart(t, s) // a state that is restored from an archive gives the same
	}
	if got := Value(s, ballot.Kind(), c.String(), at.Add(time.Hour)); !got.Closed {
		t.Error("it is open an hour later")
	}
	at = at.Add(time.Hour)
	refused(ballot.Choose("eve", c, "no"))
}

// A deed in the middle of a long affair is folded in from near its place, not from the beginning of
// the affair. Words that are too long say nothing.
func TestLongBallot(t *testing.T) {
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	c := protocol.DeriveChannel(testRecord, "nat", "eve")
	kind, steps := ballot.Kind(), 0
	step := kind.Step
	kind.Step = func(b ballot.Ballot, d affair.Deed) (ballot.Ballot, error) {
		steps++
		return step(b, d)
	}
	s := New(keys.Anchor{RecordID: testRecord}, kind)
	files := ballotFiles(t, c, at, 5000)
	late := files[4000]
	fold(t, s, slices.Delete(slices.Clone(files), 4000, 4001))
	value := func() ballot.Ballot { return Value(s, kind, c.String(), at) }
	value()
	if steps != 4999 {
		t.Fatalf("%d steps", steps)
	}
	steps = 0
	fold(t, s, []testFile{late})
	got := value()
	if steps > 1500 {
		t.Errorf("%d steps to fold a thousand deeds again", steps)
	}
	if diff := cmp.Diff(Value(foldedOf(t, keys.Anchor{RecordID: testRecord}, files), ballot.Kind(), c.String(), at), got, cmp.AllowUnexported(protocol.Path{})); diff != "" {
		t.Errorf("a late deed (-in order +late):\n%s", diff)
	}
	long := vote(t, c, at.Add(time.Hour), 9999, files[0].path, strings.Repeat("x", MaxWords))
	it, err := s.Apply(long.path, long.data)
	if err != nil || s.Void(it) == nil || it.Body != "" {
		t.Errorf("a vote of %d bytes: %v, void %v", MaxWords, err, s.Void(it))
	}
}

// ballotFiles returns a ballot that is open for long, and n-1 votes of a hundred people.
func ballotFiles(t testing.TB, c protocol.ChannelID, at time.Time, n int) []testFile {
	m := protocol.Message{From: "nat", To: []protocol.Address{{Name: protocol.All}}, Type: protocol.TypeText, Timestamp: at, Act: ballot.Propose.Act,
		Body: ballot.Propose.Format(ballot.Proposal{Question: "Shall we?", For: 1000 * time.Hour}), Path: protocol.NewPath(c, at, 0)}
	data, err := protocol.Encode(&m)
	if err != nil {
		t.Fatal(err)
	}
	files := []testFile{{m.Path, data}}
	for i := 1; i < n; i++ {
		files = append(files, vote(t, c, at.Add(time.Duration(i)*time.Millisecond), i, m.Path, fmt.Sprint("choice ", i)))
	}
	return files
}

func vote(t testing.TB, c protocol.ChannelID, at time.Time, i int, about protocol.Path, choice string) testFile {
	m := protocol.Message{From: fmt.Sprint("voter-", i%100), To: []protocol.Address{{Name: protocol.All}}, Type: protocol.TypeText, Timestamp: at,
		Act: ballot.Vote.Act, Re: protocol.Refer(c, about), Body: ballot.Vote.Format(choice), Path: protocol.NewPath(c, at, uint32(i))}
	data, err := protocol.Encode(&m)
	if err != nil {
		t.Fatal(err)
	}
	return testFile{m.Path, data}
}

// BenchmarkDeed applies a deed and looks at its affair. It measures a new affair, one of 10,000
// deeds, and one of 10,000 deeds beside a million other messages (a tenth of that if the test is
// short).
func BenchmarkDeed(b *testing.B) {
	at := time.Date(2026, 6, 23, 19, 0, 0, 0, time.UTC)
	c := protocol.DeriveChannel(testRecord, "nat", "eve")
	for _, size := range []struct{ deeds, others int }{{1, 0}, {10_000, 0}, {10_000, 1_000_000}} {
		if testing.Short() {
			size.others /= 10
		}
		b.Run(fmt.Sprintf("deeds=%d/others=%d", size.deeds, size.others), func(b *testing.B) {
			s := New(keys.Anchor{RecordID: testRecord}, ballot.Kind())
			files := ballotFiles(b, c, at, size.deeds)
			s.Batch(func() {
				fold(b, s, benchFiles(b, size.others, 0))
				fold(b, s, files)
			})
			freeze(b, s)
			ends := files[len(files)-1].path.Time()
			Value(s, ballot.Kind(), c.String(), at)
			for i := 0; b.Loop(); i++ {
				ends = ends.Add(time.Millisecond)
				f := vote(b, c, ends, i, files[0].path, "yes")
				if _, err := s.Apply(f.path, f.data); err != nil {
					b.Fatal(err)
				}
				Value(s, ballot.Kind(), c.String(), at)
			}
		})
	}
}

// A signed vote no longer counts once its key is revoked, although no deed came. The value is made
// again in another epoch of its host.
func TestRevokedVote(t *testing.T) {
	a, b := newTestHost(t, "a", "a"), newTestHost(t, "b", "b")
	s := New(keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "a", Key: a.public(t), Humans: []protocol.Name{"nat"}}}, ballot.Kind())
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	take := func(h *testHost, d Draft) *Item {
		at = at.Add(time.Second)
		f := h.write(t, d, at, uint32(at.Unix()))
		it, err := s.Apply(f.path, f.data)
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	for h, human := range map[*testHost]protocol.Name{a: "nat", b: "eve"} {
		take(h, s.hostDraft(protocol.ActHostJoin, protocol.HostState{Host: h.alias, Key: h.public(t), Humans: []protocol.Name{human}}))
	}
	c := protocol.DeriveChannel(testRecord, "nat", "eve")
	do := func(h *testHost, command affair.Command) *Item {
		drafts, err := s.Decide(Do{command}, at)
		if err != nil {
			t.Fatal(err)
		}
		return take(h, drafts[0])
	}
	do(a, ballot.Open("nat", c, ballot.Proposal{Question: "Shall we?", For: time.Hour}))
	vote := do(b, ballot.Choose("eve", c, "yes"))
	if got := Value(s, ballot.Kind(), c.String(), at); got.Votes["eve"] != "yes" {
		t.Fatalf("votes: %v", got.Votes)
	}
	drafts, err := s.Decide(Revoke{By: "a", Human: "nat", Of: protocol.HostKey{Host: "b", Key: b.public(t)}}, at)
	if err != nil {
		t.Fatal(err)
	}
	take(a, drafts[0])
	if got := Value(s, ballot.Kind(), c.String(), at); len(got.Votes) != 0 || s.Void(vote) == nil {
		t.Errorf("votes after the revocation: %v, the vote is void because %v", got.Votes, s.Void(vote))
	}
}

// It prevents: a node that forgets the topics it has folded, because of the claims of runs that it
// looks at all day. The next list then takes as long as the first.
func TestManyRunsLeaveTopicsFolded(t *testing.T) {
	kind, steps := topics.Kind(testRecord), 0
	step := kind.Step
	kind.Step = func(v topics.Topic, d affair.Deed) (topics.Topic, error) {
		steps++
		return step(v, d)
	}
	s := New(keys.Anchor{RecordID: testRecord}, kind)
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	drafts, err := s.Decide(Do{topics.Speaker{Record: testRecord, Me: "skills", With: "mawjs", Topic: "x"}.Open("")}, at)
	if err != nil {
		t.Fatal(err)
	}
	f := newTestHost(t, "a", "a").write(t, drafts[0], at, 1)
	if _, err := s.Apply(f.path, f.data); err != nil {
		t.Fatal(err)
	}
	look := func() topics.Topic { return Value(s, kind, f.path.Channel().String(), at) }
	if look().Opened != f.path {
		t.Fatal("the topic is not open")
	}
	steps = 0
	for i := range maxFolds + 1 {
		Value(s, runs.Kind(), fmt.Sprint("run ", i), at)
	}
	if look(); steps > 0 {
		t.Errorf("the topic was folded again in %d steps", steps)
	}
}
