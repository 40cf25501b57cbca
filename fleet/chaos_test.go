package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/testdata/ballot"
	"github.com/parleyfleet/parley/protocol"
)

// Whatever mischief a record holds (keys that serve several aliases, several
// joins of one alias, files that claim the path of another, references to
// anything), the order in which its files arrive makes no difference.
func TestMischiefDoesNotDependOnOrder(t *testing.T) {
	t.Parallel()
	for seed := range seeds(50) {
		c := newChaos(t, uint64(seed))
		c.ballot = seed%2 == 0
		for range 5 + c.IntN(30) {
			c.step()
		}
		c.sameInAnyOrder(seed, snapshot(foldedOf(t, c.anchor, c.files)), 4, false)
	}
}

// sameInAnyOrder wants the files to give a state that looks so in several other orders, now
// and then with files that come twice: one after the other, all at once, and in groups.
func (c *chaos) sameInAnyOrder(seed int, want string, orders int, twice bool) {
	for range orders {
		other := slices.Clone(c.files)
		if twice {
			other = append(other, c.files[:len(c.files)/3]...)
		}
		c.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		if snapshot(foldedOf(c.t, c.anchor, other)) != want {
			reportOrder(c.t, seed, c.anchor, c.files, other)
		}
		batch := New(c.anchor, testKinds()...)
		batch.Batch(func() { fold(c.t, batch, other) })
		if diff := cmp.Diff(want, snapshot(batch)); diff != "" {
			c.t.Fatalf("case %d: a batch gives another state:\n%s", seed, diff)
		}
		if diff := cmp.Diff(want, snapshot(c.together(other))); diff != "" {
			c.t.Fatalf("case %d: groups give another state:\n%s", seed, diff)
		}
	}
}

// together folds files in groups, freezes now and then, and checks that what is said to
// have changed is the difference, and that no message comes to be judged otherwise in an
// epoch of its host.
func (c *chaos) together(files []testFile) *State {
	s := New(c.anchor, testKinds()...)
	before := look(s)
	for len(files) > 0 {
		n := 1 + c.IntN(min(7, len(files)))
		var group []Examined
		for _, f := range files[:n] {
			group = append(group, examined(s, f))
		}
		files = files[n:]
		if s.TakeAll(group); c.IntN(4) == 0 {
			s = icy(c.t, s, c.Rand)
			before = look(s) // a restarted state tells nothing of what was before
			continue
		}
		if c.IntN(3) == 0 {
			_ = ballots(s) // what is folded from here on goes on from this
		}
		after := look(s)
		if is, said := before.changesTo(after), toldOf(s.Ledger.Changes()); !maps.Equal(is, said) {
			c.t.Fatalf("what changed (-is +told):\n%s", cmp.Diff(is, said))
		}
		for file, v := range before.verdicts {
			if now, there := after.verdicts[file]; there && now != v && before.epochs[file.host] == after.epochs[file.host] {
				c.t.Fatalf("%v was %v and is %v in one epoch", file, v, now)
			}
		}
		before = after
	}
	return s
}

// sight is how a state looks.
type sight struct {
	stands   map[string]time.Time // every message by path and hash
	verdicts map[verdictOf]protocol.Signature
	epochs   map[protocol.Name]int
}

type verdictOf struct {
	path protocol.Path
	hash string
	host protocol.Name
}

func look(s *State) sight {
	l := sight{map[string]time.Time{}, map[verdictOf]protocol.Signature{}, map[protocol.Name]int{}}
	for it := range s.Ledger.All() {
		l.stands[it.Path.String()+" "+it.Hash] = it.Place
		l.epochs[it.Host] = s.Epoch(it.Host)
		l.verdicts[verdictOf{it.Path, it.Hash, it.Host}] = s.Signature(it)
	}
	return l
}

// changesTo is what differs: what came, left, and from where what moved.
func (l sight) changesTo(next sight) map[string]string {
	changes := map[string]string{}
	for file, at := range next.stands {
		if from, stood := l.stands[file]; !stood {
			changes[file] = "came"
		} else if !from.Equal(at) {
			changes[file] = "from " + from.String()
		}
	}
	for file := range l.stands {
		if _, stands := next.stands[file]; !stands {
			changes[file] = "left"
		}
	}
	return changes
}

func toldOf(c Changes) map[string]string {
	changes := map[string]string{}
	for _, it := range c.Came {
		changes[it.Path.String()+" "+it.Hash] = "came"
	}
	for _, it := range c.Left {
		changes[it.Path.String()+" "+it.Hash] = "left"
	}
	for _, m := range c.Moved {
		changes[m.Path.String()+" "+m.Hash] = "from " + m.From.String()
	}
	return changes
}

func folded(t testing.TB, files []testFile) *State {
	t.Helper()
	return foldedOf(t, keys.Anchor{RecordID: testRecord}, files)
}

func foldedOf(t testing.TB, anchor keys.Anchor, files []testFile) *State {
	t.Helper()
	s := New(anchor, testKinds()...)
	fold(t, s, files)
	return s
}

func fold(t testing.TB, s *State, files []testFile) {
	t.Helper()
	for _, f := range files {
		if _, err := s.Take(examined(s, f)); err != nil && !errors.Is(err, ErrKnown) {
			t.Fatalf("%s: %v", f.path, err)
		}
	}
}

// fitting are the files, by record, path and hash, whose signature examined has found to fit.
var fitting sync.Map

// examined is Examine for a file that many states read, in many orders: a signature that
// fits is checked once, else that would take half of the time.
func examined(s *State, f testFile) Examined {
	file := [3]string{s.anchor.RecordID, f.path.String(), protocol.Hash(f.data)}
	if _, fits := fitting.Load(file); fits {
		return s.ExamineOwn(f.path, f.data)
	}
	e := s.Examine(f.path, f.data)
	if e.err == nil && e.item.Sealed {
		fitting.Store(file, true)
	}
	return e
}

// reportOrder leaves out files as long as the two orders still differ, and fails
// with what is left.
func reportOrder(t *testing.T, seed int, anchor keys.Anchor, first, other []testFile) {
	t.Helper()
	for i := 0; i < len(first); {
		gone := func(f testFile) bool { return f.path == first[i].path && string(f.data) == string(first[i].data) }
		a, b := slices.DeleteFunc(slices.Clone(first), gone), slices.DeleteFunc(slices.Clone(other), gone)
		if snapshot(foldedOf(t, anchor, a)) == snapshot(foldedOf(t, anchor, b)) {
			i++
			continue
		}
		first, other, i = a, b, 0
	}
	var orders strings.Builder
	for _, order := range [][]testFile{first, other} {
		orders.WriteString("======== an order\n")
		for _, f := range order {
			fmt.Fprintf(&orders, "%s (%.8s)\n%s\n", f.path, protocol.Hash(f.data), f.data)
		}
	}
	t.Fatalf("case %d: another order gives another state:\n%s\n%s", seed,
		cmp.Diff(snapshot(foldedOf(t, anchor, first)), snapshot(foldedOf(t, anchor, other))), &orders)
}

// chaos writes what no honest fleet would.
type chaos struct {
	*rand.Rand
	t      *testing.T
	anchor keys.Anchor
	now    time.Time
	hosts  []*testHost
	skew   []time.Duration
	files  []testFile
	later  []protocol.Path // messages that are referred to before they are there
	ballot bool            // much is about a ballot
	opened []protocol.Path
	dead   []protocol.RunWord // what may have been given up
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{Rand: rand.New(rand.NewPCG(seed, 2026)), t: t, now: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)}
	for _, alias := range []string{"a", "b", "c"} {
		c.hosts = append(c.hosts, newTestHost(t, alias, alias), newTestHost(t, alias, "thief"))
		skew := time.Duration(c.IntN(20)-10) * time.Second
		c.skew = append(c.skew, skew, skew)
	}
	c.anchor = keys.Anchor{RecordID: testRecord}
	if c.IntN(2) == 0 {
		founder := c.hosts[2*c.IntN(3)]
		c.anchor.Founder = protocol.HostState{Host: founder.alias, Key: founder.public(t), Humans: []protocol.Name{"nat"}}
	}
	return c
}

// step writes one more file.
func (c *chaos) step() {
	c.now = c.now.Add(time.Duration(c.IntN(3)) * time.Second)
	i := c.IntN(len(c.hosts))
	if i%2 == 1 && c.IntN(3) > 0 { // the thief is rarer
		i--
	}
	h, at := c.hosts[i], c.now.Add(c.skew[i])
	if c.IntN(10) == 0 { // dated about as far ahead as counts, or much farther
		at = at.Add([]time.Duration{ClockReach - time.Second, ClockReach, ClockReach + time.Second, 70_000 * time.Hour}[c.IntN(4)])
	}
	d := Draft{Message: c.message(), Channel: protocol.DeriveChannel(testRecord, string("xy"[c.IntN(2)]))}
	if strings.HasPrefix(string(d.Message.Act), "ballot") {
		d.Channel = protocol.DeriveChannel(testRecord, "x") // so that they meet
	}
	defer func() {
		if last := len(c.files) - 1; d.Message.Act == ballot.Propose.Act && last >= 0 && c.files[last].path.Channel() == d.Channel {
			c.opened = append(c.opened, c.files[last].path)
		}
	}()
	switch c.IntN(13) {
	case 0, 1:
		c.files = append(c.files, h.write(c.t, c.hostAct(h), at, c.Uint32()))
	case 9, 10, 11, 12:
		c.keyAct(h, at)
	case 2, 3, 4, 5:
		c.files = append(c.files, h.write(c.t, d, at, c.Uint32()))
	case 6:
		c.rival(h, d.Message, at)
	default:
		d.Message.Timestamp, d.Message.Path = at, protocol.NewPath(d.Channel, at, c.Uint32())
		if len(c.later) > 0 && c.IntN(2) == 0 {
			d.Message.Path, c.later = c.later[0], c.later[1:]
		}
		c.plain(d.Message)
	}
}

// keyAct is a vouch, rotation or revocation of any key of any host.
func (c *chaos) keyAct(h *testHost, at time.Time) {
	of := c.hosts[c.IntN(len(c.hosts))]
	known := protocol.HostKey{Host: of.alias, Key: c.aKey(of)}
	d := New(c.anchor).hostDraft(protocol.ActHostVouch, protocol.Vouch{Host: h.alias, Knows: []protocol.HostKey{known}})
	switch c.IntN(3) {
	case 0:
		c.rotate(h, at)
		return
	case 1:
		var ends []protocol.RunEnd
		for range c.IntN(3) {
			ends = append(ends, c.end())
		}
		slices.SortFunc(ends, protocol.CompareRunEnds)
		ends = slices.Compact(ends)
		d = New(c.anchor).hostDraft(protocol.ActHostRevoke, protocol.Revocation{Host: h.alias, Revokes: known, Last: ends})
		d.Message.Human = c.name()
	}
	c.files = append(c.files, h.write(c.t, d, at, c.Uint32()))
}

// end is the end of a run that a revocation may name: mostly a message that is there.
func (c *chaos) end() protocol.RunEnd {
	none := protocol.RunEnd{Run: "0badcafe", Seq: 1, Hash: strings.Repeat(fmt.Sprint(c.IntN(10)), 64)}
	if len(c.files) == 0 {
		return none
	}
	f := c.files[c.IntN(len(c.files))]
	m, err := protocol.Decode(f.path, f.data)
	if err != nil || m.Run == "" {
		return none
	}
	return protocol.RunEnd{Run: m.Run, Seq: m.Seq, Hash: protocol.Hash(f.data)}
}

// rotate gives a host another key, with which it mostly goes on.
func (c *chaos) rotate(h *testHost, at time.Time) {
	next := newTestHost(c.t, h.alias.String(), h.alias.String()+"next")
	if c.IntN(3) == 0 {
		next = newTestHost(c.t, h.alias.String(), "last")
	}
	if next.public(c.t) == h.public(c.t) {
		return
	}
	c.files = append(c.files, h.write(c.t, rotation(c.t, h, next, at.Add(time.Duration(c.IntN(20)-5)*time.Second)), at, c.Uint32()))
	if c.IntN(3) > 0 {
		h.key = next.key
	}
}

// rotation is the message by which a host takes the key of next.
func rotation(t testing.TB, h, next *testHost, until time.Time, last ...protocol.RunEnd) Draft {
	t.Helper()
	r := protocol.Rotation{Host: h.alias, Until: until, Last: last}
	if err := r.Prove(testRecord, h.public(t), next.key); err != nil {
		t.Fatal(err)
	}
	return New(keys.Anchor{RecordID: testRecord}).hostDraft(protocol.ActHostRotate, r)
}

// aKey is a key that the host has, or may have had.
func (c *chaos) aKey(h *testHost) string {
	if c.IntN(2) == 0 {
		return newTestHost(c.t, h.alias.String(), h.alias.String()).public(c.t)
	}
	return h.public(c.t)
}

func (c *chaos) plain(m protocol.Message) {
	data, err := protocol.Encode(&m)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.IntN(4) == 0 { // as some programs write their names
		from := []string{m.From + "@a", "b:" + m.From, m.From + "@", protocol.All}[c.IntN(4)]
		data = bytes.Replace(data, []byte("from: "+m.From+"\n"), fmt.Appendf(nil, "from: %q\n", from), 1)
	}
	c.files = append(c.files, testFile{m.Path, data})
}

// rival writes another file, signed or not, to a path that is taken.
func (c *chaos) rival(h *testHost, m protocol.Message, at time.Time) {
	if len(c.files) == 0 {
		return
	}
	if c.IntN(3) == 0 {
		m = c.hostAct(h).Message
	}
	m.Path, m.Timestamp = c.files[c.IntN(len(c.files))].path, at
	if c.IntN(2) == 0 {
		c.plain(m)
		return
	}
	m.Host, m.Run, m.Seq = h.alias, "0badcafe", 99
	data, err := protocol.Sign(&m, testRecord, h.key)
	if err != nil {
		c.t.Fatal(err)
	}
	c.files = append(c.files, testFile{m.Path, data})
}

func (c *chaos) name() string { return []string{"nat", "eve", "mawjs", "words", "calc"}[c.IntN(5)] }

// hostAct is what a host says of itself, joining or later.
func (c *chaos) hostAct(h *testHost) Draft {
	says := protocol.HostState{Host: h.alias, Humans: []protocol.Name{protocol.Name(c.name())}}
	act := protocol.ActHostAgents
	if c.IntN(2) == 0 {
		act, says.Key = protocol.ActHostJoin, h.public(c.t)
	}
	for _, n := range []protocol.Name{"mawjs", "words", "calc"} {
		if c.IntN(2) == 0 {
			says.Agents = append(says.Agents, protocol.HostedAgent{Name: n,
				Tiers: []protocol.Tier{{Name: "opus", Count: 1}, {Name: "haiku", Count: 1 + c.IntN(3)}}})
		}
	}
	return New(keys.Anchor{RecordID: testRecord}).hostDraft(act, says)
}

// message is mail, an answer or a receipt.
func (c *chaos) message() protocol.Message {
	m := protocol.Message{From: c.name(), Type: protocol.TypeText, Act: protocol.ActHey, Body: fmt.Sprint("word ", c.Uint32())}
	for range 1 + c.IntN(2) {
		to := protocol.Address{Name: c.name()}
		switch c.IntN(8) {
		case 0:
			to.Name = protocol.All
		case 1:
			to.Host = "b"
		}
		m.To = append(m.To, to)
	}
	if c.IntN(5) == 0 {
		m.Chosen = []protocol.Choice{{Agent: m.To[0].Name, Instance: protocol.Instance{Host: c.hosts[c.IntN(6)].alias, Tier: "opus"}}}
	}
	if len(c.files) == 0 {
		return m
	}
	asked := c.files[c.IntN(len(c.files))].path.String()
	if c.IntN(6) == 0 { // what nobody has written yet: references can run in circles
		c.later = append(c.later, protocol.NewPath(protocol.DeriveChannel(testRecord, "z"), c.now, c.Uint32()))
		asked = c.later[c.IntN(len(c.later))].String()
	}
	if c.ballot && c.IntN(3) > 0 {
		c.deed(&m, asked)
		return m
	}
	switch c.IntN(7) {
	case 0, 1:
		m.Act, m.Re, m.Hops = protocol.ActReply, asked, c.IntN(4)
	case 2:
		m.Act, m.Because, m.Hops = protocol.ActNote, asked, c.IntN(4)
	case 3, 4:
		m.Type, m.Act, m.Body, m.Ref = protocol.TypeRead, protocol.ActRead, "", asked
	case 5:
		c.runDeed(&m, asked)
	}
	return m
}

// runDeed gives a message up, or says something about one that may have been given up;
// then and now a receipt for such a one.
func (c *chaos) runDeed(m *protocol.Message, asked string) {
	if p, err := protocol.ParsePath(asked); len(c.dead) == 0 || err == nil && c.IntN(3) == 0 {
		m.Act, m.Re, m.Body = protocol.ActFailed, asked, protocol.Failed.Format(protocol.Failure{Problem: m.Body, Attempts: c.IntN(4)})
		c.dead = append(c.dead, protocol.RunWord{Of: p, Agent: m.From})
		return
	}
	about := c.dead[c.IntN(len(c.dead))]
	switch c.IntN(5) {
	case 1:
		m.Act, m.From = protocol.ActRunClaim, about.Agent
		m.Body = protocol.RunClaim.Format(protocol.RunClaimed{Of: about.Of, Agent: about.Agent, Epoch: c.IntN(2), From: "a"})
	case 0:
		m.Type, m.Act, m.Body, m.Ref, m.From = protocol.TypeRead, protocol.ActRead, "", about.Of.String(), about.Agent
	case 2:
		m.Act, m.Body = protocol.ActRunDrop, protocol.RunDrop.Format(about)
	default:
		m.Act, m.Body = protocol.ActRunRetry, protocol.RunRetry.Format(about)
	}
}

// deed makes a message one of a ballot, now and then one that makes no sense.
func (c *chaos) deed(m *protocol.Message, otherwise string) {
	m.To, m.Re = []protocol.Address{{Name: protocol.All}}, otherwise
	if len(c.opened) > 0 && c.IntN(8) > 0 {
		m.Re = c.opened[c.IntN(len(c.opened))].Rel()
	}
	switch {
	case len(c.opened) == 0 || c.IntN(8) == 0:
		m.Act, m.Re = ballot.Propose.Act, ""
		m.Body = ballot.Propose.Format(ballot.Proposal{Question: m.Body, For: time.Duration(5+c.IntN(60)) * time.Second})
	case c.IntN(4) == 0:
		m.Act = ballot.Withdraw.Act
	default:
		m.Act, m.Body = ballot.Vote.Act, ballot.Vote.Format(c.name())
	}
	if c.IntN(16) == 0 {
		m.Body = "nonsense"
	}
}

// Who claims the path of a host's word with a word of its own cannot unsay it.
func TestNobodyUnsaysAnothersJoin(t *testing.T) {
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	honest, thief := newTestHost(t, "white", "white"), newTestHost(t, "evil", "evil")
	says := protocol.HostState{Host: "white", Key: honest.public(t), Humans: []protocol.Name{"nat"}}
	join := honest.write(t, New(keys.Anchor{RecordID: testRecord}).hostDraft(protocol.ActHostJoin, says), at, 0)
	said := honest.write(t, Draft{Channel: protocol.DeriveChannel(testRecord, "nat", "eve"),
		Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "eve"}}, Type: protocol.TypeText, Body: "hi"}}, at.Add(time.Second), 1)
	won := 0
	for i := range 64 { // some have the lower hash
		says := protocol.HostState{Host: "evil", Key: thief.public(t), Hostname: fmt.Sprint("evil", i)}
		rival := thief.write(t, New(keys.Anchor{RecordID: testRecord}).hostDraft(protocol.ActHostJoin, says), at, 0)
		if rival.path != join.path {
			t.Fatal("the join's path is not contested")
		}
		files := []testFile{join, said, rival}
		for _, order := range permutations(len(files)) {
			s := folded(t, []testFile{files[order[0]], files[order[1]], files[order[2]]})
			h, joined := s.Keys().Host("white")
			if !joined || h.Key != honest.public(t) || s.Signature(s.Ledger.at(said.path)) != protocol.SignatureValid {
				t.Fatalf("order %v: white has lost its key", order)
			}
			if s.Ledger.at(join.path).Host == "evil" {
				won++
			}
		}
	}
	if won == 0 {
		t.Fatal("no rival won the path: the test shows nothing")
	}
}
