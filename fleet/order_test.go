package fleet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// fewCases says that tests try few random cases, which need not come to everything that can be.
var fewCases = scratch.Raced || !scratch.Longer() && os.Getenv("PARLEY_SOAK") == ""

// seeds returns how many random cases a test tries if it tries `usually` with PARLEY_LONG_TESTS: else
// a third of them, and many with PARLEY_SOAK. There are very few with the race detector, which makes
// them slow and finds nothing in one goroutine.
func seeds(usually int) int {
	switch {
	case os.Getenv("PARLEY_SOAK") != "":
		return 5000
	case scratch.Raced:
		return max(1, usually/20)
	case fewCases:
		return usually / 3
	default:
		return usually
	}
}

// The same messages give the same state in whatever order they arrive
// (DESIGN, invariant 5).
func TestStateDoesNotDependOnOrder(t *testing.T) {
	for seed := range seeds(30) {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		files := randomFleet(t, r)
		want := ""
		for range 4 {
			s := New(keys.Anchor{RecordID: testRecord})
			fold(t, s, files)
			got := snapshot(s)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("case %d: another order gives another state:\n%s", seed, cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
			}
			r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		}
	}
}

// randomFleet returns what some hosts with crooked clocks wrote. Among the writers are a stranger
// with another host's alias and somebody with plain git.
func randomFleet(t *testing.T, r *rand.Rand) []testFile {
	var files []testFile
	world := New(keys.Anchor{RecordID: testRecord})
	names := []string{"nat", "eve", "mawjs", "words", "calc"}
	now := time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC)
	hosts := []*testHost{newTestHost(t, "a", "a"), newTestHost(t, "b", "b"), newTestHost(t, "a", "stranger")}
	skew := []time.Duration{0, -2 * time.Hour, time.Hour}
	for i := range 10 + r.IntN(40) {
		now = now.Add(time.Duration(r.IntN(2000)) * time.Millisecond)
		which := r.IntN(len(hosts))
		h, at := hosts[which], now.Add(skew[which])
		for _, d := range randomDrafts(t, r, world, h, names) {
			d.Message.Timestamp = at
			f := h.write(t, d, at, uint32(i))
			if r.IntN(8) == 0 { // the same path with other bytes, from plain git
				f = testFile{f.path, fmt.Appendf(nil, "---\nfrom: eve\nto: nat\ntype: text\ntimestamp: %s\n---\n\nother %d\n",
					at.Format(protocol.TimestampLayout), r.IntN(9))}
				files = append(files, f)
				continue
			}
			files = append(files, f)
			if _, err := world.Apply(f.path, f.data); err != nil && !errors.Is(err, ErrKnown) {
				t.Fatal(err)
			}
		}
	}
	return files
}

func randomDrafts(t *testing.T, r *rand.Rand, s *State, h *testHost, names []string) []Draft {
	who := Who{Name: names[r.IntN(len(names))], Host: h.alias}
	var c Command = Say{As: who, To: []string{names[r.IntN(len(names))]}, Body: "hello"}
	switch all := slices.Collect(s.Ledger.All()); r.IntN(6) {
	case 0:
		says := protocol.HostState{Host: h.alias, Key: h.public(t), Humans: []protocol.Name{"nat"}}
		for _, n := range names[1:] {
			if r.IntN(2) == 0 {
				says.Agents = append(says.Agents, protocol.HostedAgent{Name: protocol.Name(n), Tiers: []protocol.Tier{{Name: "default", Count: 1 + r.IntN(3)}}})
			}
		}
		return []Draft{s.hostDraft(protocol.ActHostJoin, says)}
	case 1:
		c = Say{As: who, To: []string{protocol.All}, Body: "to all"}
	case 2, 3:
		if len(all) > 0 {
			c = Answer{As: who, To: all[r.IntN(len(all))].Path, Body: "yes", ByAgent: true}
		}
	case 4:
		if len(all) > 0 {
			c = GiveReceipt{As: who, Of: all[r.IntN(len(all))].Path}
		}
	}
	drafts, err := s.Decide(c, time.Time{})
	if err != nil {
		return nil // a rule forbids it
	}
	return drafts
}

// snapshot returns all that the state answers.
func snapshot(s *State) string {
	var b strings.Builder
	told := map[protocol.ChannelID]bool{} // channels whose messages were listed
	for it := range s.Ledger.All() {
		if id := it.Path.Channel(); !told[id] {
			told[id] = true
			fmt.Fprintln(&b, "channel", hashes(slices.Collect(s.Ledger.Channel(id))))
		}
		fmt.Fprintln(&b, it.Place, it.Path, it.Hash, s.Signature(it), s.Talk.Stage(it.Path))
		fmt.Fprintln(&b, "  answers", hashes(s.Talk.Answers(it.Path)), s.Talk.Hops(it))
		fmt.Fprintln(&b, "  conversation", s.Talk.Conversation(it))
		fmt.Fprintln(&b, "  progress", s.Talk.Progress(it), s.Talk.AuthorOf(it, "a"), s.Talk.Answerable(it))
		for _, in := range s.Talk.Thread(it.Path) {
			fmt.Fprint(&b, "  ", in.Depth, " ", in.Hash[:8])
		}
	}
	fmt.Fprintln(&b, s.Flags())
	for _, h := range s.Keys().AllHosts() {
		last, ok := s.Chains.LastOf(h.Alias)
		if !ok {
			last = &keys.File{}
		}
		fmt.Fprintln(&b, h.Alias, h.Keys(), h.Out(), s.Keys().Unvouched(h.Alias), s.Keys().Seniors(h.Alias))
		alias, _ := s.Keys().HostOfKey(h.Key, time.Time{})
		fmt.Fprintln(&b, h.Alias, h.Key, alias, h.Hostname, h.Addresses, h.Humans, h.Agents, last.Path, last.Hash)
	}
	b.WriteString(ballots(s))
	for _, r := range s.DeadLetters(true) {
		fmt.Fprintf(&b, "dead %+v %+v\n", *r.Dead, s.Run(r.Message, r.Agent).Retries)
	}
	for _, name := range []string{"nat", "eve", "mawjs", "words", "calc"} {
		fmt.Fprintln(&b, name, s.People.Known(name))
		for _, host := range []protocol.Name{"a", "b", "c"} {
			who := Who{Name: name, Host: host}
			fmt.Fprintln(&b, "  unread", who, hashes(slices.Collect(s.Talk.Inbox(who, false))))
			for it := range s.Talk.Inbox(who, true) {
				tier, n := s.Talk.ChosenTier(it, who)
				fmt.Fprintln(&b, "  inbox", who, it.Hash, tier, n, s.Talk.Handle(it, who, Limits{MaxHops: 2}), s.Talk.AwaitsReceipt(it, who))
			}
		}
	}
	return b.String()
}

func hashes(items []*Item) []string {
	var all []string
	for _, it := range items {
		all = append(all, it.Hash[:8])
	}
	return all
}

// References that run in a circle do not hang the fold. Only a mischievous writer makes them.
func TestCirclesOfReferencesEnd(t *testing.T) {
	channel := protocol.DeriveChannel(testRecord, "circle")
	at := time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC)
	const size = 5
	s := New(keys.Anchor{RecordID: testRecord})
	for i := range size {
		m := protocol.Message{From: "eve", To: []protocol.Address{{Name: "nat"}}, Type: protocol.TypeText, Timestamp: at, Body: "round",
			Path: protocol.NewPath(channel, at, uint32(i)), Re: protocol.NewPath(channel, at, uint32((i+1)%size)).Rel()}
		data, err := protocol.Encode(&m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Apply(m.Path, data); err != nil {
			t.Fatal(err)
		}
	}
	if s.Ledger.Len() != size || len(slices.Collect(s.Ledger.All())) != size {
		t.Errorf("the state holds %d and lists %d, want %d", s.Ledger.Len(), len(slices.Collect(s.Ledger.All())), size)
	}
}

// FuzzApply feeds the fold any file at any path. The fold never panics, and a refused file leaves
// no trace.
func FuzzApply(f *testing.F) {
	f.Add("2026/05/23/190000000Z-00000001.md", "---\nfrom: eve\nto: nat\ntype: text\ntimestamp: 2026-05-23T19:00:00.000Z\nre: 2026/05/23/190000000Z-00000001.md\n---\n\nhi\n")
	f.Add("2026/05/23/x.md", "---\nfrom: eve\nto: all\ntype: read\ntimestamp: 2026-05-23T19:00:00Z\nref: 2026/05/23/x.md\n---\n")
	f.Add("2026/05/23/y.md", "---\nfrom: a\nto: a\ntype: text\ntimestamp: 2026-05-23T19:00:00Z\nact: host-join\nhost: a\nkey: U\nsig: x\n---\n\nHOST-JOIN | host: a\n")
	f.Fuzz(func(t *testing.T, rel, data string) {
		p, err := protocol.JoinPath(protocol.SystemChannel(testRecord), rel)
		if err != nil {
			return
		}
		s := New(keys.Anchor{RecordID: testRecord})
		it, err := s.Apply(p, []byte(data))
		if err != nil {
			if s.Ledger.Len() != 0 || len(slices.Collect(s.Ledger.All())) != 0 {
				t.Fatalf("refused (%v) and yet there", err)
			}
			return
		}
		if _, err := s.Apply(p, []byte(data)); !errors.Is(err, ErrKnown) {
			t.Fatalf("the second arrival is %v", err)
		}
		snapshot(s)
		s.Ledger.remove(it)
		s.Ledger.settle()
		if s.Ledger.Len() != 0 || len(slices.Collect(s.Ledger.All())) != 0 || len(slices.Collect(s.Ledger.Channel(p.Channel()))) != 0 {
			t.Fatal("removed and yet there")
		}
	})
}

// FuzzFold feeds the fold a few files at a time, cut out of any bytes. Their order makes no
// difference, and nothing hangs.
func FuzzFold(f *testing.F) {
	file := func(re string) string {
		return "---\nfrom: eve\nto: nat\ntype: text\ntimestamp: 2026-05-23T19:00:00.000Z\nre: 2026/05/23/" + re + ".md\n---\n\nhi\n"
	}
	f.Add("b=" + file("c") + "\x00c=" + file("a") + "\x00a=" + file("b") + "\x00d=" + file("a"))
	f.Add("a=" + file("a") + "\x00a=" + file("b") + "\x00b=" + file("a") + "\x00a=nothing")
	f.Fuzz(func(t *testing.T, text string) {
		var files []testFile
		for part := range strings.SplitSeq(text, "\x00") {
			name, data, _ := strings.Cut(part, "=")
			p, err := protocol.JoinPath(protocol.SystemChannel(testRecord), "2026/05/23/"+name+".md")
			if err == nil && len(files) < 12 {
				files = append(files, testFile{p, []byte(data)})
			}
		}
		there, back := New(keys.Anchor{RecordID: testRecord}), New(keys.Anchor{RecordID: testRecord})
		for i := range files {
			one, other := files[i], files[len(files)-1-i]
			before := snapshot(there)
			if _, err := there.Apply(one.path, one.data); err != nil && !errors.Is(err, ErrKnown) && snapshot(there) != before {
				t.Fatalf("refused (%v) and yet it changed the state", err)
			}
			_, _ = back.Apply(other.path, other.data) // judged by the state at the end
		}
		if diff := cmp.Diff(snapshot(there), snapshot(back)); diff != "" {
			t.Fatalf("the other way round gives another state:\n%s", diff)
		}
	})
}

func BenchmarkApply(b *testing.B) {
	h := newTestHost(b, "a", "a")
	at := time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC)
	files := make([]testFile, 5000)
	for i := range files {
		d := Draft{Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Body: "hello"},
			Channel: protocol.DeriveChannel(testRecord, "a", "b")}
		files[i] = h.write(b, d, at.Add(time.Duration(i)*time.Millisecond), uint32(i))
	}
	for b.Loop() {
		s := New(keys.Anchor{RecordID: testRecord})
		for _, f := range files {
			if _, err := s.Apply(f.path, f.data); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(files)), "ns/message")
}
