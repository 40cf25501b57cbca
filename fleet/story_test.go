package fleet

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

const testRecord = "0123456789abcdef0123456789abcdef01234567"

// TestStories runs testdata/*.txt. Each line is a command or message of the
// story, or what is to hold then; what holds at the end must hold as well when
// the same messages arrive the other way round.
//
//	ID: rule WHO@HOST KEY VALUE: REASON                a human settles something for the fleet; "_" takes it back
//	policy KEY = VALUE by WHO                          what holds of it, and who settled it last
//	join HOST humans=A,B agents=X,Y/TIER [at=ADDRESS,…]   a host joins, or says anew who it serves and where it is reached
//	addresses HOST = ADDRESS…
//	ID: say WHO@HOST -> TO[,TO]: TEXT      also: wormhole
//	ID: answer WHO@HOST ID2: TEXT          by an agent's door; a human: reply; a failure: fail; too many hops: stop
//	ID: read WHO@HOST ID2
//	ID: tell WHO@HOST -> TO[,TO] [re=ID2] [because=ID2] [in=CHANNEL] [act=ACT] [anyway] [request=…]: TEXT   also: agenttell, by an agent's door
//	channel NAME [parent=NAME] [members=A,B]   a CHANNEL.md of that name
//	ID: plain NAME -> TO [re=ID2] [act=ACT]: TEXT    an unsigned file, {ID2} in its text is a path; plainread NAME ID2
//	ID: forge WHO@HOST -> TO: TEXT         signed with another key; also: forged answer …, forged read …
//	steal HOST humans=A agents=X           another key says that it is this host's
//	clock HOST DURATION                    sets a host's clock off, or that of "plain" mail
//	refuse WORDS = REASON                  a say, wormhole, answer, read or join (by another key) that is refused
//	hint WORDS = HINT                      what a refusal advises
//	inbox WHO@HOST = ID…    handle WHO@HOST ID [answers] [verified] [wakes=ACT,…] = run|receipt|halt|ignore|leave
//	stage ID = …    signature ID = …    order = ID…    chosen ID = …    answers ID = ID…
//	to ID = NAME…   act ID = …          hops ID = …    wrote = how many messages the last line made
//	thread ID = ID, each with as many dots before it as it is deep    progress ID = NAME[:read|:answered]…
//	in ID = CHANNEL    requested HOST REQUEST = ID
//	ID: holdtalk WHO@HOST ID2: WHY         agents did too much; also: hold. ID: resume WHO@HOST ID2 AGENT: WHY
//	runs ID = ID2 N [told]                 what agents did in the conversation that begins with ID2; caused WHO@HOST ID = true|false
//
// What is about keys stands in story_keys_test.go, about dead letters in
// story_runs_test.go, about topics in story_topics_test.go.
//
// Each story is told to a state that keeps everything in memory, and to states that
// are frozen into an archive, or restarted from one, between its messages.
func TestStories(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d stories found, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for mode, cold := range map[string]*rand.Rand{"loose": nil, "archived": rand.New(rand.NewPCG(1, 1)), "archived otherwise": rand.New(rand.NewPCG(2, 2))} {
				t.Run(mode, func(t *testing.T) {
					s := &story{T: t, cold: cold, state: New(keys.Anchor{RecordID: testRecord}, topics.Kind(testRecord), policy.Kind(testRecord)), ids: map[string]protocol.Path{}, clocks: map[protocol.Name]time.Duration{},
						hosts: map[protocol.Name]*testHost{}, now: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)}
					s.run(string(text))
				})
			}
		})
	}
}

type story struct {
	*testing.T
	state  *State
	ids    map[string]protocol.Path
	hosts  map[protocol.Name]*testHost
	clocks map[protocol.Name]time.Duration
	now    time.Time
	files  []testFile
	last   []string // expectations since the last message
	wrote  int      // messages that the last command decided
	line   string
	text   string     // of the last command
	cold   *rand.Rand // nil, or when the state is frozen
}

type testFile struct {
	path protocol.Path
	data []byte
}

// testHost is the part of a node's writer that the rules need.
type testHost struct {
	alias protocol.Name
	key   nkeys.KeyPair
	run   string // empty: 0badcafe
	seq   uint64
	prev  string
}

func newTestHost(t testing.TB, alias, seed string) *testHost {
	t.Helper()
	raw := sha256.Sum256([]byte(seed))
	key, err := nkeys.FromRawSeed(nkeys.PrefixByteUser, raw[:])
	if err != nil {
		t.Fatal(err)
	}
	return &testHost{alias: protocol.Name(alias), key: key}
}

func (h *testHost) public(t testing.TB) string {
	t.Helper()
	key, err := h.key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// write makes the file of a draft.
func (h *testHost) write(t testing.TB, d Draft, at time.Time, suffix uint32) testFile {
	t.Helper()
	m := d.Message
	h.seq++
	m.Timestamp = at
	m.Path = protocol.NewPath(d.Channel, at, suffix)
	m.Chosen = d.Choose(m.Path)
	m.Host, m.Run, m.Seq, m.Prev = h.alias, cmp.Or(h.run, "0badcafe"), h.seq, h.prev
	data, err := protocol.Sign(&m, testRecord, h.key)
	if err != nil {
		t.Fatal(err)
	}
	h.prev = protocol.Hash(data)
	return testFile{m.Path, data}
}

func (s *story) run(text string) {
	for line := range strings.Lines(text) {
		s.line = strings.TrimSpace(line)
		if s.line == "" || strings.HasPrefix(s.line, "#") {
			continue
		}
		if !s.expect(s.line) {
			s.last = nil
			s.tell(s.line)
		} else {
			s.last = append(s.last, s.line)
		}
	}
	backwards := New(s.state.anchor, topics.Kind(testRecord), policy.Kind(testRecord))
	for _, f := range slices.Backward(s.files) {
		if _, err := backwards.Apply(f.path, f.data); err != nil && !errors.Is(err, ErrKnown) {
			s.Errorf("the other way round, %s is %v", f.path, err)
		}
		if s.cold != nil {
			backwards = icy(s, backwards, s.cold)
		}
	}
	s.state = backwards
	for _, line := range s.last {
		s.line = line + " (the other way round)"
		s.expect(line)
	}
}

// who reads "name@host".
func (s *story) who(text string) Who {
	a, err := protocol.ParseAddress(text)
	if err != nil {
		s.Fatalf("%s: %v", s.line, err)
	}
	return Who{Name: a.Name, Host: protocol.Name(a.Host)}
}

func (s *story) host(alias protocol.Name) *testHost {
	if s.hosts[alias] == nil {
		s.hosts[alias] = newTestHost(s, alias.String(), alias.String())
	}
	return s.hosts[alias]
}

// tell takes in one line that happens.
func (s *story) tell(line string) {
	s.now = s.now.Add(time.Second)
	words := strings.Fields(line)
	switch words[0] {
	case "join":
		s.decide("", Join{Host: s.says(s.host(protocol.Name(words[1])), words[2:])}, s.host(protocol.Name(words[1])))
		return
	case "steal":
		thief := s.forger(protocol.Name(words[1]))
		s.write("", s.state.hostDraft(protocol.ActHostJoin, s.says(thief, words[2:])), thief)
		return
	case "wait":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			s.Fatalf("%s: %v", line, err)
		}
		s.now = s.now.Add(d)
		return
	case "clock":
		d, err := time.ParseDuration(words[2])
		if err != nil {
			s.Fatalf("%s: %v", line, err)
		}
		s.clocks[protocol.Name(words[1])] = d
		return
	case "founder", "vouch", "rotate", "revoke":
		s.tellKeys(words)
		return
	case "channel":
		s.state.Channels.Set(storyChannel(words[1]), s.channelFile(words[1:]))
		return
	case "refuse", "hint":
		s.refuse(words[0], strings.TrimPrefix(line, words[0]+" "))
		return
	}
	id, rest, ok := strings.Cut(line, ": ")
	if !ok {
		s.Fatalf("what is this: %s", line)
	}
	if strings.HasPrefix(rest, "hand ") {
		s.byHand(id, rest)
		return
	}
	if strings.HasPrefix(rest, "plain") {
		s.plain(id, rest)
		return
	}
	holder, rest := s.withKey(rest)
	honest := strings.TrimPrefix(strings.Replace(rest, "forge ", "forged say ", 1), "forged ")
	c, who := s.command(honest)
	host := s.host(who.Host)
	if honest != rest {
		host = s.forger(who.Host)
	}
	if holder != nil {
		host = holder(who.Host)
	}
	s.decide(id, c, host)
}

// forger writes in the name of a host with a key of its own.
func (s *story) forger(alias protocol.Name) *testHost {
	return newTestHost(s, alias.String(), "forger")
}

// refuse checks that what is asked is refused, for that reason or with that hint.
func (s *story) refuse(what, line string) {
	asked, want, _ := strings.Cut(line, " = ")
	c, _ := s.command(asked)
	_, err := s.state.Decide(c, s.now)
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		s.Errorf("%s: not refused: %v", s.line, err)
		return
	}
	got := refusal.Reason
	if what == "hint" {
		got = refusal.Hint
	}
	if !strings.Contains(got, want) {
		s.Errorf("%s: got %q", s.line, got)
	}
}

// says reads what a host says of itself.
func (s *story) says(h *testHost, words []string) protocol.HostState {
	says := protocol.HostState{Host: h.alias, Key: h.public(s)}
	for _, word := range words {
		kind, list, _ := strings.Cut(word, "=")
		for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
			switch kind {
			case "humans":
				says.Humans = append(says.Humans, protocol.Name(name))
				continue
			case "at":
				says.Addresses = append(says.Addresses, name)
				continue
			}
			name, n, _ := strings.Cut(name, "*")
			name, tier, _ := strings.Cut(name, "/")
			count := 1
			if n != "" {
				fmt.Sscan(n, &count)
			}
			says.Agents = append(says.Agents, protocol.HostedAgent{Name: protocol.Name(name), Tiers: []protocol.Tier{{Name: cmp.Or(tier, "default"), Count: count}}})
		}
	}
	return says
}

// command reads "say who@host -> to: text" and its like.
func (s *story) command(line string) (Command, Who) {
	head, text, _ := strings.Cut(line, ": ")
	words := strings.Fields(head)
	s.text = text
	if words[0] == "join" {
		return Join{Host: s.says(s.forger(protocol.Name(words[1])), words[2:])}, Who{}
	}
	who := s.who(words[1])
	switch words[0] {
	case "work":
		return s.topicCommand(words), who
	case "rule":
		value := strings.TrimSuffix(words[3], ":")
		return Do{policy.Set(testRecord, who.Name, who.Host, words[2], strings.Trim(value, "_"), text, "")}, who
	case "say", "wormhole":
		return Say{As: who, To: strings.Split(words[3], ","), Body: text, Cross: words[0] == "wormhole"}, who
	case "tell", "agenttell":
		return s.tellOf(who, words), who
	case "answer", "reply":
		return Answer{As: who, To: s.path(words[2]), Body: text, ByAgent: words[0] == "answer"}, who
	case "read":
		return GiveReceipt{As: who, Of: s.path(words[2])}, who
	case "stop":
		return Stop{As: who, At: s.path(words[2]), Human: "nat", Body: "stopped"}, who
	case "hold", "holdtalk":
		c := Hold{As: who, At: s.path(words[2]), Human: "nat", Act: protocol.RunHeld, Reason: text}
		if words[0] == "holdtalk" {
			c.Act = protocol.TalkHeld
		}
		return c, Who{Name: who.Host.String(), Host: who.Host}
	case "resume":
		return Resume{By: who, At: s.path(words[2]), Agent: words[3], Reason: text}, who
	case "fail", "retry", "drop", "claim":
		return s.runCommand(who, words), who
	}
	s.Fatalf("what is this: %s", line)
	return nil, who
}

// tellOf reads "tell who@host -> to [re=id] [because=id] [in=channel] [anyway] [unattended] [request=id]".
func (s *story) tellOf(who Who, words []string) (command Command) {
	request, because, unattended := "", protocol.Path{}, false
	c := Say{As: who, To: strings.Split(words[3], ","), Body: s.text, ByAgent: words[0] == "agenttell"}
	for _, word := range words[4:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "re":
			c.Re = s.path(value)
		case "because":
			because = s.path(value)
		case "in":
			c.Channel = storyChannel(value)
		case "act":
			c.Act = protocol.Act(value)
		case "unattended":
			unattended = true
		case "anyway":
			c.Anyway = true
		case "request":
			request = value
		default:
			s.Fatalf("what is %s: %s", word, s.line)
		}
	}
	command = c
	if unattended || !because.IsZero() {
		command = Called{Command: command, Because: because, Unattended: unattended}
	}
	if request != "" {
		command = Requested{Command: command, ID: request}
	}
	return command
}

// storyChannel is the id of a channel that a story calls by name.
func storyChannel(name string) protocol.ChannelID {
	sum := sha256.Sum256([]byte(name))
	return protocol.NewChannelID([16]byte(sum[:16]))
}

func (s *story) channelFile(words []string) protocol.ChannelFile {
	f := protocol.ChannelFile{Name: words[0]}
	for _, word := range words[1:] {
		if parent, ok := strings.CutPrefix(word, "parent="); ok {
			f.Parent = storyChannel(parent)
		}
		if members, ok := strings.CutPrefix(word, "members="); ok {
			f.Members = strings.Split(members, ",")
		}
	}
	return f
}

// path is the message of that id; an unknown id is the path of none.
func (s *story) path(id string) protocol.Path {
	if p, ok := s.ids[id]; ok {
		return p
	}
	return protocol.NewPath(protocol.SystemChannel(testRecord), time.Unix(0, 0), 0)
}

func (s *story) decide(id string, c Command, h *testHost) {
	at := s.now.Add(s.clocks[h.alias])
	drafts, err := s.state.Decide(c, at)
	if err != nil {
		s.Errorf("%s: refused: %v", s.line, err)
	}
	s.wrote = len(drafts)
	for i, d := range drafts {
		if i > 0 {
			id = ""
		}
		s.write(id, d, h)
	}
}

func (s *story) write(id string, d Draft, h *testHost) {
	f := h.write(s, d, s.now.Add(s.clocks[h.alias]), uint32(len(s.files)))
	if id != "" {
		s.ids[id] = f.path
	}
	s.apply(f)
}

func (s *story) apply(f testFile) {
	s.files = append(s.files, f)
	if s.cold != nil {
		defer func() { s.state = icy(s, s.state, s.cold) }()
	}
	if _, err := s.state.Apply(f.path, f.data); err != nil {
		s.Errorf("%s: not taken: %v", s.line, err)
	}
}

// plain is a file as one writes it with a text editor.
func (s *story) plain(id, line string) {
	head, text, _ := strings.Cut(line, ": ")
	for id, p := range s.ids {
		text = strings.ReplaceAll(text, "{"+id+"}", p.String())
	}
	words := strings.Fields(head)
	m := protocol.Message{From: words[1], Type: protocol.TypeText, Act: protocol.ActHey, Timestamp: s.now.Add(s.clocks["plain"]), Body: text}
	channel := protocol.DeriveChannel(testRecord, "plain")
	if words[0] == "plainread" {
		asked := s.state.Ledger.at(s.path(words[2]))
		m.Type, m.Act, m.Ref, channel = protocol.TypeRead, protocol.ActRead, asked.Path.Rel(), asked.Path.Channel()
		words = []string{"", "", "", asked.From}
	}
	for _, to := range strings.Split(words[3], ",") {
		a, err := protocol.ParseAddress(to)
		if err != nil {
			s.Fatal(err)
		}
		m.To = append(m.To, a)
	}
	for _, word := range words[min(4, len(words)):] {
		if act, ok := strings.CutPrefix(word, "act="); ok {
			m.Act = protocol.Act(act)
			continue
		}
		if room, ok := strings.CutPrefix(word, "in="); ok {
			channel = storyChannel(room)
			continue
		}
		asked := s.path(strings.TrimPrefix(word, "re="))
		m.Re, channel = asked.Rel(), asked.Channel()
	}
	m.Path = protocol.NewPath(channel, s.now, uint32(len(s.files)))
	const author = "author"
	from := m.From
	m.From = author
	data, err := protocol.Encode(&m)
	if err != nil {
		s.Fatal(err)
	}
	data = bytes.Replace(data, []byte("from: "+author+"\n"), []byte("from: "+protocol.Quote(from)+"\n"), 1) // Encode writes no "name@host"
	s.ids[id] = m.Path
	s.apply(testFile{m.Path, data})
}

// expect checks a line that says what holds; other lines it leaves alone.
func (s *story) expect(line string) bool {
	ask, want, ok := strings.Cut(line, " =")
	words := strings.Fields(ask)
	want = strings.TrimSpace(want)
	var got string
	switch {
	case !ok:
		return false
	case words[0] == "inbox":
		got = s.names(slices.Collect(s.state.Talk.Inbox(s.who(words[1]), false)))
	case words[0] == "handle":
		limits := Limits{MaxHops: 2}
		for _, setting := range words[3:] {
			switch acts, wakes := strings.CutPrefix(setting, "wakes="); {
			case wakes:
				for act := range strings.SplitSeq(acts, ",") {
					limits.WakesOn = append(limits.WakesOn, protocol.Act(act))
				}
			case setting == "verified":
				limits.Verified = true
			default:
				limits.RunsReplies = true
			}
		}
		h := s.state.Talk.Handle(s.state.Ledger.at(s.path(words[2])), s.who(words[1]), limits)
		got = []string{"ignore", "receipt", "run", "halt", "leave"}[h]
	case words[0] == "stage":
		got = s.state.Talk.Stage(s.path(words[1])).String()
	case words[0] == "signature":
		got = string(s.state.Signature(s.state.Ledger.at(s.path(words[1]))))
	case words[0] == "chosen":
		got = fmt.Sprint(s.state.Ledger.at(s.path(words[1])).Chosen)
	case words[0] == "answers":
		got = s.names(s.state.Talk.Answers(s.path(words[1])))
	case words[0] == "before": // the answer that another host had given before
		if first, ok := s.state.Talk.AnsweredBefore(s.state.Ledger.at(s.path(words[1]))); ok {
			got = s.names([]*Item{first})
		}
	case words[0] == "to":
		got = strings.Join(s.state.Ledger.at(s.path(words[1])).Names(), " ")
	case words[0] == "act":
		got = string(s.state.Ledger.at(s.path(words[1])).Act)
	case words[0] == "hops":
		got = fmt.Sprint(s.state.Ledger.at(s.path(words[1])).Hops)
	case words[0] == "caused":
		got = fmt.Sprint(s.state.Talk.Caused(s.state.Ledger.at(s.path(words[2])), s.who(words[1])))
	case words[0] == "runs": // of agents in the conversation, see Conversation
		c := s.state.Talk.Conversation(s.state.Ledger.at(s.path(words[1])))
		root, _ := s.state.Ledger.Item(c.Root)
		got = fmt.Sprint(s.names([]*Item{root}), " ", c.Runs)
		if c.Told {
			got += " told"
		}
	case words[0] == "hops!": // with those that only receipts tell of
		got = fmt.Sprint(s.state.Talk.Hops(s.state.Ledger.at(s.path(words[1]))))
	case words[0] == "awaits":
		got = fmt.Sprint(s.state.Talk.AwaitsReceipt(s.state.Ledger.at(s.path(words[2])), s.who(words[1])))
	case words[0] == "requested":
		host := protocol.Name(words[1])
		if it, ok := s.state.Requested(host, words[2], s.now.Add(s.clocks[host])); ok {
			got = s.names([]*Item{it})
		}
	case words[0] == "addresses":
		h, _ := s.state.Keys().Host(protocol.Name(words[1]))
		got = strings.Join(h.Addresses, " ")
	case words[0] == "wrote":
		got = fmt.Sprint(s.wrote)
	case words[0] == "thread":
		for _, it := range s.state.Talk.Thread(s.path(words[1])) {
			got += " " + strings.Repeat(".", it.Depth) + s.names([]*Item{it.Item})
		}
		got = strings.TrimPrefix(got, " ")
	case words[0] == "progress":
		got = s.progress(s.state.Ledger.at(s.path(words[1])))
	case words[0] == "policy":
		p := Value(s.state, policy.Kind(testRecord), policy.KindName, s.now)
		set, _ := p.Settled(words[1])
		got, _ = p.Value(words[1])
		got = strings.TrimSuffix(got+" by "+set.By, " by ")
	case words[0] == "in":
		got = s.state.Channels.Describe(s.path(words[1]).Channel()).Name
	case words[0] == "order":
		got = s.names(slices.Collect(s.state.Ledger.All()))
	default:
		if got, ok = s.runsNow(words); ok {
			break
		}
		if got, ok = s.keysNow(words); !ok {
			if got, ok = s.topicNow(words, want); !ok {
				return false
			}
		}
	}
	if got != want {
		s.Errorf("%s: got %q", s.line, got)
	}
	return true
}

func (s *story) progress(it *Item) string {
	var list []string
	for _, p := range s.state.Talk.Progress(it) {
		switch {
		case p.Answered:
			p.Name += ":answered"
		case p.Read:
			p.Name += ":read"
		}
		list = append(list, p.Name)
	}
	return strings.Join(list, " ")
}

// names are the ids of items, without those that have none.
func (s *story) names(items []*Item) string {
	var list []string
	for _, it := range items {
		for id, p := range s.ids {
			if p == it.Path {
				list = append(list, id)
			}
		}
	}
	return strings.Join(list, " ")
}

// The same path with other bytes: whatever the order, verified beats
// unverified, then the lower hash wins.
func TestConflictIsDecidedTheSameWayInEveryOrder(t *testing.T) {
	h := newTestHost(t, "white", "white")
	join := h.write(t, New(keys.Anchor{RecordID: testRecord}).hostDraft(protocol.ActHostJoin, protocol.HostState{
		Host: "white", Key: h.public(t), Humans: []protocol.Name{"nat"}}), time.Unix(1e9, 0), 0)
	say := Draft{Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Body: "signed"},
		Channel: protocol.DeriveChannel(testRecord, "a", "b")}
	signed := h.write(t, say, time.Unix(1e9+1, 0), 1)
	plain := func(body string) testFile {
		m := say.Message
		m.Path, m.Timestamp, m.Body = signed.path, time.Unix(1e9+1, 0), body
		data, err := protocol.Encode(&m)
		if err != nil {
			t.Fatal(err)
		}
		return testFile{signed.path, data}
	}
	files := []testFile{join, signed, plain("one"), plain("two"), plain("three")}
	for _, order := range permutations(len(files)) {
		s := New(keys.Anchor{RecordID: testRecord})
		for _, i := range order {
			if _, err := s.Apply(files[i].path, files[i].data); err != nil && !errors.Is(err, ErrKnown) {
				t.Fatal(err)
			}
		}
		if got := s.Ledger.at(signed.path); got.Hash != protocol.Hash(signed.data) {
			t.Errorf("order %v: the signed file lost", order)
		}
	}
	lower, upper := plain("one"), plain("two")
	if protocol.Hash(lower.data) > protocol.Hash(upper.data) {
		lower, upper = upper, lower
	}
	s := New(keys.Anchor{RecordID: testRecord})
	if !s.Prefer(lower.path, lower.data, upper.data) || s.Prefer(lower.path, upper.data, lower.data) {
		t.Error("of two unsigned files the lower hash must win")
	}
	if bytes.Equal(lower.data, upper.data) {
		t.Fatal("the files are the same")
	}
}

// A key that comes late gives a path to the file that it signed: Apply says so,
// because nobody has seen that file yet.
func TestLateKeyTurnsAPath(t *testing.T) {
	h := newTestHost(t, "white", "white")
	join := h.write(t, New(keys.Anchor{RecordID: testRecord}).hostDraft(protocol.ActHostJoin, protocol.HostState{
		Host: "white", Key: h.public(t), Humans: []protocol.Name{"nat"}}), time.Unix(1e9, 0), 0)
	say := Draft{Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Body: "signed"},
		Channel: protocol.DeriveChannel(testRecord, "a", "b")}
	signed := h.write(t, say, time.Unix(1e9+1, 0), 1)
	var plain testFile
	for i := 0; plain.data == nil || protocol.Hash(plain.data) > protocol.Hash(signed.data); i++ {
		m := say.Message
		m.Path, m.Timestamp, m.Body = signed.path, time.Unix(1e9+1, 0), fmt.Sprint("plain ", i)
		data, err := protocol.Encode(&m)
		if err != nil {
			t.Fatal(err)
		}
		plain = testFile{signed.path, data}
	}
	s := New(keys.Anchor{RecordID: testRecord})
	for _, f := range []testFile{signed, plain} {
		_, _ = s.Apply(f.path, f.data) // one of the two loses
	}
	if got := s.Ledger.at(signed.path).Hash; got != protocol.Hash(plain.data) {
		t.Fatalf("without a key %s stands there", got)
	}
	if _, err := s.Apply(join.path, join.data); err != nil {
		t.Fatal(err)
	}
	changed := s.Ledger.Changes()
	if len(changed.Came) != 2 || len(changed.Left) != 1 || changed.Left[0].Hash != protocol.Hash(plain.data) || !slices.Contains(changed.Came, s.Ledger.at(signed.path)) {
		t.Errorf("changed: %+v", changed)
	}
	other := h.write(t, say, time.Unix(1e9+2, 0), 2)
	if _, err := s.Apply(other.path, other.data); err != nil || len(s.Ledger.Changes().Came) != 1 || len(s.Ledger.Changes().Left) != 0 {
		t.Errorf("changed by a message: %+v, %v", s.Ledger.Changes(), err)
	}
}

func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(p), at, n-1))
		}
	}
	return all
}
