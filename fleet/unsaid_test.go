package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// silence is a channel in which programs answer without saying what they answer.
type silence struct {
	*rand.Rand
	t       *testing.T
	channel protocol.ChannelID
	at      time.Time
	host    *testHost
	files   []testFile
}

// write adds a message, mostly at the end, or a receipt for one of the last six.
func (w *silence) write() {
	w.at = w.at.Add(time.Duration(1+w.IntN(3)) * time.Second)
	at := w.at.Add([]time.Duration{0, 0, 0, -4 * time.Second, -48 * time.Hour}[w.IntN(5)])
	names := []string{"nat", "bob", "eve"}
	m := protocol.Message{
		From: names[w.IntN(3)], To: []protocol.Address{{Name: names[w.IntN(3)]}}, Type: protocol.TypeText, Act: protocol.ActHey,
		Timestamp: at, Body: fmt.Sprint("word ", w.Uint32()), Path: protocol.NewPath(w.channel, at, w.Uint32()),
	}
	if w.IntN(8) == 0 {
		m.To = append(m.To, protocol.Address{Name: []string{"zed", "zed", protocol.All}[w.IntN(3)]})
	}
	if len(w.files) > 0 {
		of := w.files[max(0, len(w.files)-1-w.IntN(6))]
		asked, err := protocol.Decode(of.path, of.data)
		if err != nil {
			w.t.Fatal(err)
		}
		switch w.IntN(5) {
		case 0:
			m.Re = of.path.Rel()
		case 1, 2:
			m.From, m.To = asked.To[0].Name, []protocol.Address{{Name: asked.From}}
			m.Type, m.Act, m.Body, m.Ref = protocol.TypeRead, protocol.ActRead, "", of.path.Rel()
		}
	}
	if m.From == "nat" { // nat's host has a key
		if len(w.files) > 0 && w.IntN(2) == 0 { // as an agent's
			m.Because, m.Hops = protocol.Refer(w.channel, w.files[w.IntN(len(w.files))].path), 1
		}
		w.files = append(w.files, w.host.write(w.t, Draft{Message: m, Channel: w.channel}, w.at, w.Uint32()))
		return
	}
	data, err := protocol.Encode(&m)
	if err != nil {
		w.t.Fatal(err)
	}
	w.files = append(w.files, testFile{m.Path, data})
}

func (w *silence) says(humans ...protocol.Name) {
	says := protocol.HostState{Host: "a", Key: w.host.public(w.t), Humans: humans}
	w.files = append(w.files, w.host.write(w.t, New(keys.Anchor{}).hostDraft(protocol.ActHostJoin, says), w.at, w.Uint32()))
}

// unsaid applies the rule as R15a has it to the whole channel, without any window. It returns which
// messages each text answers.
func unsaid(s *State, channel protocol.ChannelID) map[string]string {
	all := slices.Collect(s.Ledger.Channel(channel))
	taken := map[exchange]map[int]bool{}
	answers := map[string]string{}
	for i, r := range all {
		x, asked := s.Talk.asked(r)
		if asked == nil {
			continue
		}
		if taken[x] == nil {
			taken[x] = map[int]bool{}
		}
		for j := i - 1; j >= max(0, i-unsaidReach); j-- {
			if x.says(all[j]) && !taken[x][j] && mayAnswer(all[j], r, asked) {
				taken[x][j] = true
				answers[all[j].Hash] += asked.Hash[:8] + " "
				break
			}
		}
	}
	return answers
}

// Which text answers which message without saying so is the same in every order of arrival, and
// wherever the messages lie. It is the same from both ends, and as the rule has it.
func TestUnsaidAnswersAreTheSameInEveryOrder(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range seeds(15) {
		w := &silence{Rand: rand.New(rand.NewPCG(uint64(seed), 15)), t: t, channel: protocol.DeriveChannel(testRecord, "x"),
			at: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC), host: newTestHost(t, "a", "a")}
		w.says("nat")
		long := 10 + w.IntN(120)
		for i := range long {
			if w.write(); i == long-5 && w.IntN(2) == 0 {
				w.says("nat", "bob") // from here on bob is declared
			}
		}
		want := ""
		for range 3 {
			s := foldedIcily(t, keys.Anchor{RecordID: testRecord}, w.files, w.Rand)
			now := snapshot(s)
			if want != "" && now != want {
				t.Fatalf("case %d: another order gives another state:\n%s", seed, cmp.Diff(want, now))
			}
			want = now
			rule := unsaid(s, w.channel)
			found += len(rule)
			for it := range s.Ledger.Channel(w.channel) {
				if it.Type != protocol.TypeText || it.Re != "" {
					continue
				}
				got := ""
				if asked := s.Talk.answered(it); asked != nil {
					got = asked.Hash[:8]
					if !slices.ContainsFunc(s.Talk.Answers(asked.Path), func(a *Item) bool { return a.Path == it.Path }) {
						t.Fatalf("case %d: %s answers %s, which does not know it", seed, it.Path, asked.Path)
					}
				}
				if got != "" && !strings.Contains(rule[it.Hash], got) || got == "" && rule[it.Hash] != "" {
					t.Fatalf("case %d: %s answers %q, by the rule %q", seed, it.Path, got, rule[it.Hash])
				}
			}
			w.Shuffle(len(w.files), func(i, j int) { w.files[i], w.files[j] = w.files[j], w.files[i] })
		}
	}
	if found == 0 {
		t.Fatal("no receipt took any text: the test shows nothing")
	}
	t.Logf("%d answers", found)
}

// The cost of finding such an answer does not grow with the channel.
func TestUnsaidAnswersDoNotGrowWithHistory(t *testing.T) {
	scratch.Long(t)
	cost := func(history int) float64 {
		w := &silence{Rand: rand.New(rand.NewPCG(1, 15)), t: t, channel: protocol.DeriveChannel(testRecord, "x"),
			at: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC), host: newTestHost(t, "a", "a")}
		for range history {
			w.write()
		}
		s := folded(t, w.files)
		freeze(t, s)
		last := firstOf(s.Ledger.ChannelBackward(w.channel), 200)
		return testing.AllocsPerRun(3, func() {
			for _, it := range last {
				s.Talk.Stage(it.Path)
				s.Talk.Hops(it)
			}
		})
	}
	small, large := cost(600), cost(6000)
	if large > 1.5*small+10 {
		t.Errorf("200 stages cost %.0f allocations after 600 messages and %.0f after 6,000", small, large)
	}
}

// Each look at a text became one look for each addressee. If a text had thousands of addressees, a
// push of some kilobytes kept a node busy for minutes.
func TestUnsaidAnswersDoNotGrowWithAddressees(t *testing.T) {
	channel, at := protocol.DeriveChannel(testRecord, "x"), time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	cost := func(addressees int) float64 {
		s := New(keys.Anchor{RecordID: testRecord})
		m := protocol.Message{From: "bob", Type: protocol.TypeText, Timestamp: at, Body: "hello"}
		for i := range addressees {
			m.To = append(m.To, protocol.Address{Name: fmt.Sprint("to", i)})
		}
		for i := range uint32(unsaidReach) {
			m.Path = protocol.NewPath(channel, at, i)
			data, err := protocol.Encode(&m)
			if err == nil {
				_, err = s.Apply(m.Path, data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		first := s.Ledger.at(protocol.NewPath(channel, at, 0))
		return testing.AllocsPerRun(3, func() { s.Talk.answered(first) })
	}
	if few, many := cost(1), cost(1000); many > few+10 {
		t.Errorf("a look costs %.0f allocations with one addressee and %.0f with a thousand", few, many)
	}
}
