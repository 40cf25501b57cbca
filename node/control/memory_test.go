package control_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// memory answers the verbs that the contract of mail needs without a node: it keeps messages in a
// slice. It shows that the contract can be met, and gives server and client something to carry.
type memory struct {
	mu       sync.Mutex
	messages []control.Message // guarded by mu
	agents   []control.Agent   // guarded by mu
	changed  chan struct{}     // guarded by mu; closed and replaced at each change
	stopped  bool              // guarded by mu
}

func newMemory() *memory { return &memory{changed: make(chan struct{})} }

func (s *memory) bindings() []control.Binding {
	return []control.Binding{
		control.ShowStatus.By(s.Status), control.Send.By(s.Send), control.Wait.By(s.Wait), control.Inbox.By(s.Inbox),
		control.Read.By(s.Read), control.ReadAll.By(s.ReadAll), control.Shown.By(s.Shown), control.Show.By(s.Show), control.Log.By(s.Log),
		control.Agents.By(s.Agents), control.AddAgent.By(s.AddAgent), control.RemoveAgent.By(s.RemoveAgent), control.List.By(s.List),
		control.Stop.By(s.Stop),
	}
}

func (s *memory) answers() control.Answers { return control.Bind(s.bindings()...) }

const memoryHuman = "nat"

func (s *memory) Status(context.Context) (control.Status, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	speaker := protocol.Name(s.speaker(""))
	return control.Status{Version: "memory", API: control.API, Fleet: "lab", Host: "here", Human: memoryHuman, Speaker: speaker}, nil
}

// speaker returns the name under which a request speaks (R14). The caller holds mu.
func (s *memory) speaker(as string) string { return cmp.Or(as, memoryHuman) }

// store appends a message. The caller holds mu.
func (s *memory) store(m control.Message) control.Message {
	slices.Sort(m.To)
	m.Channel = protocol.DeriveChannel("record", append([]string{m.From}, m.To...)...)
	m.Timestamp = time.UnixMilli(int64(len(s.messages))).UTC()
	m.Path = protocol.NewPath(m.Channel, m.Timestamp, uint32(len(s.messages)+1))
	m.Host, m.Run, m.Seq = "here", "0badcafe", uint64(len(s.messages)+1)
	m.Stage, m.Signature = protocol.StageStored, protocol.SignatureValid
	s.messages = append(s.messages, m)
	close(s.changed)
	s.changed = make(chan struct{})
	return m
}

func (s *memory) Send(_ context.Context, r control.SendRequest) (control.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := control.Message{From: s.speaker(r.As), To: r.To, Type: protocol.TypeText, Act: r.Act, Body: r.Body}
	if r.Body == "" || (len(r.To) == 0) == (r.Re == "") {
		return m, control.Errorf(control.KindUsage, "", "cannot send that")
	}
	if slices.Contains(r.To, m.From) {
		return m, control.Errorf(control.KindRefused, "", "%s cannot write to itself", m.From)
	}
	if r.Re != "" {
		asked, err := s.find(r.Re)
		if err != nil {
			return m, err
		}
		m.To = []string{asked.From}
		m.Re = asked.Path.String()
	}
	for _, to := range m.To {
		if err := s.addressable(to, r.Cross); err != nil {
			return m, err
		}
	}
	return s.store(m), nil
}

// addressable checks an addressee. The caller holds mu.
func (s *memory) addressable(to string, cross bool) error {
	address, err := protocol.ParseAddress(to)
	if err != nil || cross && address.Host == "" {
		return control.Errorf(control.KindUsage, "", "cannot send to %q", to)
	}
	if to != protocol.All && to != memoryHuman && s.agent(to) < 0 {
		return control.Errorf(control.KindNotFound, "", "cannot send to %q: nobody has that name", to)
	}
	return nil
}

// agent returns the index of an agent, or -1. The caller holds mu.
func (s *memory) agent(name string) int {
	return slices.IndexFunc(s.agents, func(a control.Agent) bool { return a.Name.String() == name })
}

// find returns the message that a path or its suffix names (R2). The caller holds mu.
func (s *memory) find(path string) (control.Message, error) {
	for _, m := range s.messages {
		if path == m.Path.Suffix() {
			return s.staged(m), nil
		}
	}
	p, err := protocol.ParsePath(path)
	if err != nil {
		return control.Message{}, control.Errorf(control.KindUsage, "", "cannot find a message: %v", err)
	}
	for _, m := range s.messages {
		if m.Path == p {
			return s.staged(m), nil
		}
	}
	return control.Message{}, control.Errorf(control.KindNotFound, "", "cannot find %s", path)
}

// staged returns m with the stage that later messages give it. The caller holds mu.
func (s *memory) staged(m control.Message) control.Message {
	for _, later := range s.messages {
		switch {
		case later.Ref == m.Path.String():
			m.Stage = max(m.Stage, protocol.StageRead)
		case later.Re == m.Path.String():
			m.Stage = max(m.Stage, protocol.StageAnswered)
		}
	}
	return m
}

func (s *memory) Wait(ctx context.Context, r control.WaitRequest) (control.Message, error) {
	within, cancel := context.WithTimeout(ctx, r.Within)
	defer cancel()
	for {
		reply, changed, err := s.reply(r.Re)
		if err != nil || !reply.Path.IsZero() {
			return reply, err
		}
		select {
		case <-changed:
		case <-within.Done():
			if ctx.Err() != nil {
				return reply, control.AsError(ctx.Err())
			}
			return reply, control.Errorf(control.KindTimeout, "", "nothing came within %s", r.Within)
		}
	}
}

func (s *memory) reply(re string) (control.Message, chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, err := s.find(re)
	if err != nil {
		return asked, nil, err
	}
	for _, m := range s.messages {
		if m.Re == asked.Path.String() {
			return s.staged(m), nil, nil
		}
	}
	return control.Message{}, s.changed, nil
}

func (s *memory) Inbox(_ context.Context, r control.InboxRequest) ([]control.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mail(s.speaker(r.As), r.All), nil
}

// mail returns what name was sent. The caller holds mu.
func (s *memory) mail(name string, all bool) []control.Message {
	var mail []control.Message
	for _, m := range s.messages {
		forMe := slices.Contains(m.To, name) || slices.Contains(m.To, protocol.All) && m.From != name
		if forMe && m.Type == protocol.TypeText && (all || !s.receipted(m, name)) {
			mail = append(mail, s.staged(m))
		}
	}
	return mail
}

// receipted reports whether name has read m. The caller holds mu.
func (s *memory) receipted(m control.Message, name string) bool {
	return slices.ContainsFunc(s.messages, func(r control.Message) bool {
		return r.Ref == m.Path.String() && r.From == name
	})
}

func (s *memory) Read(_ context.Context, r control.ReadRequest) (control.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.find(r.Path)
	if err != nil {
		return m, err
	}
	if reader := s.speaker(r.As); !s.receipted(m, reader) {
		s.receipt(reader, m)
	}
	return s.staged(m), nil
}

func (s *memory) ReadAll(_ context.Context, r control.ReadAllRequest) (control.Marked, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who, marked := s.speaker(r.As), 0
	for _, m := range s.mail(who, false) {
		if (r.Channel == "" || r.Channel == m.Channel.String()) && (r.From == "" || r.From == m.From) {
			s.receipt(who, m)
			marked++
		}
	}
	return control.Marked{Read: marked}, nil
}

func (s *memory) Shown(_ context.Context, r control.ShownRequest) (control.Marked, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who, marked := s.speaker(r.As), 0
	for _, m := range s.mail(who, false) {
		if slices.Contains(r.Paths, m.Path) {
			s.receipt(who, m)
			marked++
		}
	}
	return control.Marked{Read: marked}, nil
}

// receipt stores that reader has read m. The caller holds mu.
func (s *memory) receipt(reader string, m control.Message) {
	s.store(control.Message{From: reader, To: []string{m.From}, Type: protocol.TypeRead, Act: protocol.ActRead, Ref: m.Path.String()})
}

func (s *memory) Show(_ context.Context, r control.ShowRequest) (control.Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(r.Path)
}

func (s *memory) Log(ctx context.Context, r control.LogRequest, yield func(control.Message) error) error {
	if r.Before != "" && r.Follow {
		return control.Errorf(control.KindUsage, "", "cannot follow the log: what comes stands before no message")
	}
	next := 0
	for first := true; ; first = false {
		s.mu.Lock()
		var due []control.Message
		for _, m := range s.messages[next:] {
			if m.Path.String() == r.Before {
				break
			}
			if (r.Channel == "" || r.Channel == m.Channel.String()) && (r.Everything || m.Type == protocol.TypeText) {
				due = append(due, m)
			}
		}
		next = len(s.messages)
		changed := s.changed
		s.mu.Unlock()
		if first && r.Last > 0 && len(due) > r.Last {
			due = due[len(due)-r.Last:]
		}
		for _, m := range due {
			if err := yield(m); err != nil {
				return err
			}
		}
		if !r.Follow {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *memory) Agents(context.Context) ([]control.Agent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	agents := slices.Clone(s.agents)
	for i := range agents {
		agents[i].Unread = len(s.mail(agents[i].Name.String(), false))
	}
	return agents, nil
}

func (s *memory) AddAgent(_ context.Context, r control.AddAgentRequest) (control.Agent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, err := protocol.ParseName(r.Name)
	if err != nil || (r.Exec != "") == r.Inbox {
		return control.Agent{}, control.Errorf(control.KindUsage, "", "cannot add %q", r.Name)
	}
	if s.agent(r.Name) >= 0 {
		return control.Agent{}, control.Errorf(control.KindConflict, "", "cannot add %s: it is served here already", name)
	}
	a := control.Agent{Name: name, Door: "inbox", Dir: strings.Join(r.Settings["dir"], ""), Presence: control.AgentAway}
	s.agents = append(s.agents, a)
	slices.SortFunc(s.agents, func(a, b control.Agent) int { return strings.Compare(a.Name.String(), b.Name.String()) })
	return a, nil
}

func (s *memory) RemoveAgent(_ context.Context, r control.AgentRequest) (control.None, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.agent(r.Name)
	if i < 0 {
		return control.None{}, control.Errorf(control.KindNotFound, "parley agent list", "cannot remove %s: it is not served here", r.Name)
	}
	s.agents = slices.Delete(s.agents, i, i+1)
	return control.None{}, nil
}

func (s *memory) List(context.Context, control.HostsRequest) ([]control.Participant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	people := []control.Participant{{Name: memoryHuman, Kind: "human", Host: "here", Live: true, Here: true}}
	for _, a := range s.agents {
		people = append(people, control.Participant{Name: a.Name, Kind: "agent", Host: "here", Live: true, Here: true})
	}
	return people, nil
}

func (s *memory) Stop(context.Context) (control.None, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return control.None{}, fmt.Errorf("stopped twice")
	}
	s.stopped = true
	return control.None{}, nil
}
