package seats

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/protocol"
)

const testRecord = "0198f2ab-0000-7000-8000-0000000000ff"

// fleetOf is a fleet of the hosts hub and white, seen at white, with a clock that the test sets. Its
// sessions are those of a program that the test plays.
type fleetOf struct {
	testing.TB
	book    *Book
	program *played
	tick    atomic.Uint64 // of processes; 0: before all that the test starts
	passed  atomic.Int64  // nanoseconds since the beginning; apart from mu, because the book reads the clock under its own lock

	mu       sync.Mutex // guards what follows
	state    *fleet.State
	pair     map[protocol.Name]nkeys.KeyPair
	seq      map[protocol.Name]uint64
	prev     map[protocol.Name]string
	given    map[protocol.Name]protocol.Path
	warned   map[string]string
	notified map[string]string
	woken    []protocol.Path
	bodies   map[protocol.Path]string
	n        uint32
}

func newFleet(t testing.TB) *fleetOf {
	t.Helper()
	f := &fleetOf{
		TB: t, program: &played{status: agentprogram.Idle},
		pair: map[protocol.Name]nkeys.KeyPair{}, seq: map[protocol.Name]uint64{}, prev: map[protocol.Name]string{},
		bodies: map[protocol.Path]string{}, given: map[protocol.Name]protocol.Path{}, warned: map[string]string{}, notified: map[string]string{},
	}
	public := map[protocol.Name]string{}
	for _, host := range []protocol.Name{"hub", "white"} {
		var err error
		if f.pair[host], err = nkeys.CreateUser(); err == nil {
			public[host], err = f.pair[host].PublicKey()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f.state = fleet.New(keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "hub", Key: public["hub"], Humans: []protocol.Name{"zoe"}}})
	for host, human := range map[protocol.Name]protocol.Name{"hub": "zoe", "white": "nat"} {
		f.write(host, protocol.SystemChannel(testRecord), protocol.Message{
			From: host.String(), To: []protocol.Address{{Name: host.String()}}, Act: protocol.ActHostJoin, Type: protocol.TypeText,
			Body: protocol.FormatHostWord(protocol.ActHostJoin, protocol.HostState{Host: host, Key: public[host], Humans: []protocol.Name{human}}),
		})
	}
	f.open(filepath.Join(t.TempDir(), "sessions.json"))
	return f
}

// open opens the book of a node that starts, or starts again.
func (f *fleetOf) open(file string) {
	f.Helper()
	f.book = New(Options{
		Host: "white", Human: "nat", Fleet: "demo", File: file, Words: []string{"who"}, MaxHops: 8, MaxRuns: 30, MaxTurns: 20, Log: zerolog.Nop(), Now: f.clock,
		Tick: func() uint64 { return f.tick.Load() },
		Find: func(name string) (agentprogram.Program, bool) {
			return named{f.program, name}, name == "claude" || name == "codex"
		},
		Roster: new(agents.Roster), Sessions: sessions.New(f.clock, nil), Messages: new(feed.Feeds[protocol.Path]),
		Folded:    func(read func(*fleet.State)) { f.mu.Lock(); defer f.mu.Unlock(); read(f.state) },
		Load:      f.load,
		Store:     f.store,
		Gave:      func(agent protocol.Name, p protocol.Path) { f.noted(func() { f.given[agent] = p }) },
		Publish:   func(context.Context) error { return nil },
		Installed: func(string) (path, home string) { return "", "" },
		Announce:  func() {},
		Notify:    func(id, text string) { f.noted(func() { f.notified[id] = text }) },
		Woken: func(agent protocol.Name, paths []protocol.Path) {
			f.noted(func() { f.woken = append(f.woken, paths...) })
		},
		Wrong: func(about, text string) { f.noted(func() { f.warned[about] = text }) },
	})
	f.Cleanup(f.stop)
}

// stop ends what the book does beside.
func (f *fleetOf) stop() {
	f.book.cancel()
	f.book.work.Wait()
}

func (f *fleetOf) noted(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *fleetOf) clock() time.Time {
	return time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(f.passed.Load()))
}

func (f *fleetOf) wait(d time.Duration) { f.passed.Add(int64(d)) }

// write signs a message for a host, and has the state take it. The caller holds mu, or nobody else
// runs yet.
func (f *fleetOf) write(host protocol.Name, channel protocol.ChannelID, m protocol.Message) protocol.Path {
	f.Helper()
	f.wait(time.Millisecond)
	f.n++
	f.seq[host]++
	now := f.clock()
	m.Timestamp, m.Path = now, protocol.NewPath(channel, now, f.n)
	m.Host, m.Run, m.Seq, m.Prev = host, "0badcafe", f.seq[host], f.prev[host]
	data, err := protocol.Sign(&m, testRecord, f.pair[host])
	if err == nil {
		f.prev[host] = protocol.Hash(data)
		_, err = f.state.Apply(m.Path, data)
	}
	if err != nil {
		f.Fatal(err)
	}
	f.bodies[m.Path] = m.Body
	return m.Path
}

func (f *fleetOf) load(it *fleet.Item) (m *protocol.Message, err error) {
	f.noted(func() {
		if body, there := f.bodies[it.Path]; there {
			m = &protocol.Message{Body: body}
		} else {
			err = errors.New("it is not there")
		}
	})
	return m, err
}

// mail is a message of zoe to an agent, which is signed and asks for work unless `change` says
// otherwise.
func (f *fleetOf) mail(to, body string, change func(*protocol.Message)) protocol.Path {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	m := protocol.Message{From: "zoe", To: []protocol.Address{{Name: to}}, Type: protocol.TypeText, Act: protocol.ActHey, Body: body}
	if change != nil {
		change(&m)
	}
	return f.write("hub", protocol.DeriveChannel(testRecord, "zoe", to), m)
}

// plain is a message of zoe to an agent that nobody signed.
func (f *fleetOf) plain(to string) {
	f.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wait(time.Millisecond)
	f.n++
	now := f.clock()
	m := protocol.Message{
		From: "zoe", To: []protocol.Address{{Name: to}}, Type: protocol.TypeText, Act: protocol.ActHey, Timestamp: now,
		Path: protocol.NewPath(protocol.DeriveChannel(testRecord, "zoe", to), now, f.n),
	}
	data, err := protocol.Encode(&m)
	if err == nil {
		_, err = f.state.Apply(m.Path, data)
	}
	if err != nil {
		f.Fatal(err)
	}
}

// store writes what a command of a participant of white decides.
func (f *fleetOf) store(_ context.Context, c fleet.Command, _ protocol.Path) (all []protocol.Path, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	drafts, err := f.state.Decide(c, f.clock())
	for _, d := range drafts {
		all = append(all, f.write("white", d.Channel, d.Message))
	}
	return all, err
}

// unread is how many messages wait for an agent of white.
func (f *fleetOf) unread(agent string) (n int) {
	f.book.work.Wait()
	f.noted(func() {
		for range f.state.Talk.Inbox(fleet.Who{Name: agent, Host: "white"}, false) {
			n++
		}
	})
	return n
}

// look has every session looked at once, as the book does each second, and waits until bells have rung.
func (f *fleetOf) look(news bool) {
	for _, s := range f.book.held() {
		f.book.lookAt(f.Context(), s, news)
	}
	f.book.work.Wait()
}

// rung wants the bell to have rung that often since the test began.
func (f *fleetOf) rung(what string, want int) {
	f.Helper()
	if got := len(f.program.rung()); got != want {
		f.Errorf("%s: rung %d times, want %d: %q", what, got, want, f.program.rung())
	}
}

// session is one session of the program that the test plays.
type session struct {
	*fleetOf
	process process.ID
	thread  string // what it says of itself as a server of tools
	request control.SessionEventRequest
}

// begin starts a process of the program in a folder, and tells of its session.
func (f *fleetOf) begin(folder, id string) *session {
	f.Helper()
	cat, err := exec.LookPath("cat")
	if err != nil {
		f.Skip(err)
	}
	cmd := exec.Command(cat) // it waits for its input
	cmd.Dir = folder
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		_ = in.Close() // that ends it
		_ = cmd.Wait() // it may have been killed
	})
	p, err := process.Find(cmd.Process.Pid)
	if err != nil {
		f.Skipf("processes cannot be seen: %v", err)
	}
	s := &session{f, p, "", control.SessionEventRequest{
		Program: "claude", Session: id, Folder: folder, Process: p.PID, Takes: true, Typed: true, Ring: control.SessionBell{Socket: "/a/socket"},
	}}
	s.tell(control.SessionStarted)
	return s
}

// end kills the process of a session, and waits until it has ended.
func (s *session) end() {
	s.Helper()
	killed, err := os.FindProcess(s.process.PID)
	if err == nil {
		err = killed.Kill()
	}
	if err == nil {
		_, err = killed.Wait()
	}
	if err != nil {
		s.Fatal(err)
	}
}

// by is what the node sees of the session when it calls.
func (s *session) by() control.Caller {
	agent, seated := s.book.At(s.process, process.ID{}, s.thread)
	if !seated {
		return control.Caller{Kind: control.Unattended, Name: "nat", Process: s.process}
	}
	by := control.Caller{Kind: control.ByAgent, Name: agent, Process: s.process}
	s.noted(func() { by.Because = s.given[agent] })
	return by
}

// tell tells of an event as the hook does, whose answer is printed.
func (s *session) tell(e control.SessionEventKind) control.SessionAnswer {
	s.Helper()
	a := s.unprinted(e)
	if a.Nonce != "" {
		if _, err := s.book.Given(s.Context(), s.by(), control.SessionGivenRequest{Nonce: a.Nonce}); err != nil {
			s.Fatal(err)
		}
	}
	return a
}

// unprinted is tell of a hook that does not print what it is answered.
func (s *session) unprinted(e control.SessionEventKind) control.SessionAnswer {
	s.Helper()
	r := s.request
	r.Event = e
	a, err := s.book.Tell(s.Context(), s.by(), r)
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// name wants the session to have that name.
func (s *session) name(want string) {
	s.Helper()
	if agent, _ := s.book.At(s.process, process.ID{}, s.thread); agent.String() != want {
		s.Errorf("session %s is %q, want %q", s.request.Session, agent, want)
	}
}

// named is the program that a test plays, under the name of one.
type named struct {
	*played
	name string
}

func (n named) Name() string     { return n.name }
func (n named) Shares() bool     { return n.name == "codex" }
func (n named) Variable() string { return "" }

// played is an agent program that the test plays. Every process is one of it.
type played struct {
	agentprogram.Program // its hooks are not asked here

	mu        sync.Mutex // guards what follows
	status    agentprogram.Status
	sentences []string

	fails error // what comes of a ring
	once  bool  // its sessions end with their turn
}

func (p *played) Is(string, []string) bool { return true }
func (p *played) Once([]string) bool       { return p.once }

func (p *played) Ring(_ context.Context, _ process.ID, _ agentprogram.Bell, sentence string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sentences = append(p.sentences, sentence)
	return p.fails
}

// deaf has the program take no bell.
func (p *played) deaf(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails = nil; yes {
		p.fails = errors.New("nobody takes it")
	}
}

func (p *played) State(string, process.ID) (agentprogram.State, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return agentprogram.State{Status: p.status}, nil
}

func (p *played) at(status agentprogram.Status) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status = status
}

func (p *played) rung() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sentences
}
