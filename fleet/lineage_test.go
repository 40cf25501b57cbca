package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// pens writes what revocations have to tell apart: chains of several runs. They are written in
// several places with the same key. Each place can go on from wherever it wants.
type pens struct {
	*rand.Rand
	t      *testing.T
	from   *State
	anchor keys.Anchor
	hosts  []*testHost // each of them holds a key of an alias, and some hold the same key
	files  []testFile
	at     time.Time
}

func newPens(t *testing.T, seed uint64) *pens {
	p := &pens{Rand: rand.New(rand.NewPCG(seed, 7)), t: t, from: New(keys.Anchor{RecordID: testRecord}), at: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)}
	for _, alias := range []string{"a", "b", "c"} {
		h := newTestHost(t, alias, alias)
		h.run = fmt.Sprintf("%08x", p.IntN(3))
		p.hosts = append(p.hosts, h)
	}
	p.anchor = keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "a", Key: p.hosts[0].public(t), Humans: []protocol.Name{"nat"}}}
	if p.IntN(6) == 0 {
		p.anchor.Founder = protocol.HostState{}
	}
	for _, h := range p.hosts {
		p.word(h, protocol.ActHostJoin, protocol.HostState{Host: h.alias, Key: h.public(t), Humans: []protocol.Name{"nat"}})
		p.word(p.hosts[0], protocol.ActHostVouch, protocol.Vouch{Host: "a", Knows: []protocol.HostKey{{Host: h.alias, Key: h.public(t)}}})
	}
	for range 10 + p.IntN(30) {
		p.step()
	}
	return p
}

func (p *pens) step() {
	i := p.IntN(len(p.hosts))
	h := p.hosts[i]
	switch p.IntN(14) {
	case 0: // a second place where the key is used, in the same run
		twin := *h
		p.hosts = append(p.hosts, &twin)
	case 1: // another start, in another run or in one that says it is the same
		h.seq = 0
		if p.IntN(3) > 0 {
			h.run = fmt.Sprintf("%08x", p.IntN(4))
		}
	case 2: // it goes on from anything that anybody wrote
		h.prev = protocol.Hash(p.any().data)
		h.seq = uint64(p.IntN(4))
	case 3:
		next := newTestHost(p.t, h.alias.String(), fmt.Sprint(h.alias, p.IntN(3)))
		if next.public(p.t) == h.public(p.t) {
			return
		}
		var last []protocol.RunEnd
		if p.IntN(2) == 0 { // it bounds what counts of the old key
			last = foldedOf(p.t, p.anchor, p.files).Chains.Heads(protocol.HostKey{Host: h.alias, Key: h.public(p.t)})
		}
		for range p.IntN(3) {
			last = append(last, p.end())
		}
		d := rotation(p.t, h, next, p.at.Add(time.Duration(p.IntN(20))*time.Second), last...)
		p.write(h, d)
		next.run, next.prev = fmt.Sprintf("%08x", p.IntN(4)), h.prev
		if p.IntN(2) == 0 {
			p.hosts[i] = next
		} else {
			p.hosts = append(p.hosts, next)
		}
	case 4, 5, 6:
		p.revoke(h)
	case 7:
		p.word(h, protocol.ActHostAgents, protocol.HostState{Host: h.alias, Humans: []protocol.Name{"nat", "eve"}[p.IntN(2):]})
	case 8:
		of := p.hosts[p.IntN(len(p.hosts))]
		p.word(h, protocol.ActHostVouch, protocol.Vouch{Host: h.alias, Knows: []protocol.HostKey{{Host: of.alias, Key: of.public(p.t)}}})
	default:
		p.write(h, p.mail())
	}
}

// mail returns the draft of a message, an answer or a receipt.
func (p *pens) mail() Draft {
	m := protocol.Message{From: "nat", To: []protocol.Address{{Name: "eve"}}, Type: protocol.TypeText, Act: protocol.ActHey, Body: "hi"}
	asked := p.any().path
	switch p.IntN(4) {
	case 0:
		m.Act, m.Re = protocol.ActReply, asked.String()
	case 1:
		m.From, m.To, m.Type, m.Act, m.Body, m.Ref = "eve", []protocol.Address{{Name: "nat"}}, protocol.TypeRead, protocol.ActRead, "", asked.String()
	}
	return Draft{Message: m, Channel: protocol.DeriveChannel(testRecord, "nat", "eve")}
}

func (p *pens) any() testFile { return p.files[p.IntN(len(p.files))] }

func (p *pens) word(h *testHost, act protocol.Act, w protocol.HostWord) {
	d := p.from.hostDraft(act, w)
	d.Message.Human = "nat"
	p.write(h, d)
}

// write writes one file: dated now, dated back, or at the path of another file.
func (p *pens) write(h *testHost, d Draft) {
	p.at = p.at.Add(time.Second)
	at, suffix := p.at, uint32(len(p.files))
	if p.IntN(8) == 0 {
		at = at.Add(-time.Duration(p.IntN(30)) * time.Second)
	}
	if f := p.from; f != nil && len(p.files) > 0 && p.IntN(8) == 0 {
		if taken := p.any().path; taken.Channel() == d.Channel {
			at = taken.Time()
			_, _ = fmt.Sscanf(taken.Suffix(), "%x", &suffix)
		}
	}
	p.files = append(p.files, h.write(p.t, d, at, suffix))
}

// revoke revokes any key, with the ends that are known or with any at all. Such an end may have
// another run or number than the message with its hash, and be of another host or key.
func (p *pens) revoke(h *testHost) {
	of := p.hosts[p.IntN(len(p.hosts))]
	r := protocol.Revocation{Host: h.alias, Revokes: protocol.HostKey{Host: of.alias, Key: of.public(p.t)}}
	switch p.IntN(3) {
	case 0:
		r.Last, _ = foldedOf(p.t, p.anchor, p.files).Chains.Ends(r.Revokes, protocol.Path{})
	case 1:
		r.Last, _ = foldedOf(p.t, p.anchor, p.files).Chains.Ends(r.Revokes, p.any().path)
	}
	for range p.IntN(4) {
		r.Last = append(r.Last, p.end())
	}
	slices.SortFunc(r.Last, protocol.CompareRunEnds)
	r.Last = slices.Compact(r.Last)
	p.word(h, protocol.ActHostRevoke, r)
}

func (p *pens) end() protocol.RunEnd {
	f := p.any()
	m, err := protocol.Decode(f.path, f.data)
	if err != nil {
		p.t.Fatal(err)
	}
	e := protocol.RunEnd{Run: m.Run, Seq: m.Seq, Hash: protocol.Hash(f.data)}
	if p.IntN(3) == 0 {
		e.Run = fmt.Sprintf("%08x", p.IntN(4))
	}
	if p.IntN(3) == 0 {
		e.Seq = 1 + uint64(p.IntN(4))
	}
	return e
}

// answered returns all that a state says.
func answered(s *State) []string {
	all := append(told(s), snapshot(s))
	for _, f := range s.Verify(time.Unix(2e9, 0)) {
		all = append(all, fmt.Sprint(f))
	}
	for _, h := range s.Keys().AllHosts() {
		for _, k := range h.Keys() {
			ends, later := s.Chains.Ends(protocol.HostKey{Host: h.Alias, Key: k.Key}, protocol.Path{})
			all = append(all, fmt.Sprint(h.Alias, " ", k, " ", ends, later, s.Chains.Forks(protocol.HostKey{Host: h.Alias, Key: k.Key})))
		}
	}
	for _, gap := range s.Chains.Awaited(1000) {
		all = append(all, fmt.Sprint("awaited ", gap.Host, gap.Hash))
	}
	slices.Sort(all)
	return all
}

// What revocations and rotations leave in is the same in whatever order and groups the files come. Some files may
// never come. The state may be frozen or begun again in between.
func TestRevocationsLeaveInTheSameInEveryOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(seeds(20)) {
		p := newPens(t, seed)
		if p.IntN(2) == 0 { // some never come
			p.files = slices.DeleteFunc(p.files, func(testFile) bool { return p.IntN(6) == 0 })
		}
		whole := foldedOf(t, p.anchor, p.files)
		want := answered(whole)
		together := chaos{Rand: p.Rand, t: t, anchor: p.anchor}
		for range 3 {
			p.Shuffle(len(p.files), func(i, j int) { p.files[i], p.files[j] = p.files[j], p.files[i] })
			batch := New(p.anchor)
			batch.Batch(func() { fold(t, batch, p.files) })
			for name, s := range map[string]*State{
				"another order": foldedOf(t, p.anchor, p.files), "a batch": batch, "groups": together.together(p.files),
				"ice": foldedIcily(t, p.anchor, p.files, p.Rand),
			} {
				if diff := cmp.Diff(whole.Keys(), s.Keys(), histories()); diff != "" {
					t.Fatalf("seed %d: %s gives another history of keys:\n%s", seed, name, diff)
				}
				if got := answered(s); !slices.Equal(want, got) {
					t.Fatalf("seed %d: %s gives another state:\n%s", seed, name, cmp.Diff(want, got))
				}
			}
		}
	}
}
