package inquiries

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Member is an agent that investigates a perspective.
type Member struct {
	Perspective string
	Agent       protocol.Address
	Made        bool          // made for this perspective, because no agent fitted
	Attempt     int           // number of this run, from 1
	Cycle       int           // the cycle in which this attempt began
	Given       protocol.Path // the deed that says that it was started; zero: it has not been yet
	Tasked      bool
	Orientation []string
	Prompt      string // hash of the prompt
	Signal      *protocol.InquirySignal
	SignalPath  protocol.Path
	Result      string        // text of the result, once it is told
	Revealed    protocol.Path // the deed that tells it
	Flags       []string      // what the result lacks of its form (R57)
	Degraded    string        // why its session did not go on (R52)
	Moves       int           // how often it was given to another agent while it had to speak
	Dropped     bool          // the human goes on without its result
	Earlier     []Attempt     // the attempts before, the first one first
}

// Attempt is one run of a member that another run followed.
type Attempt struct {
	Attempt int
	Agent   protocol.Address
	Result  string // hash of the result; empty if there was none
	Text    string // text of the result, if it was told
}

// Failed reports whether the member's run has ended without a result, and nobody has decided what
// to do.
func (m *Member) Failed() bool {
	return m.Signal != nil && m.Signal.Outcome != protocol.SignalCompleted && !m.Dropped
}

func (m *Member) again() {
	before := Attempt{Attempt: m.Attempt, Agent: m.Agent, Text: m.Result}
	if m.Signal != nil {
		before.Result = m.Signal.Result
	}
	*m = Member{
		Perspective: m.Perspective, Agent: m.Agent, Made: m.Made, Attempt: m.Attempt + 1, Orientation: m.Orientation, Prompt: m.Prompt,
		Earlier: affair.Added(m.Earlier, before),
	}
}

// told is the last earlier attempt whose result was told; nil if there is none.
func (m *Member) told() *Attempt {
	for i := range slices.Backward(m.Earlier) {
		if m.Earlier[i].Text != "" {
			return &m.Earlier[i]
		}
	}
	return nil
}

// Carries are the hashes of what a deepening takes over: the last result that was told.
func (m *Member) Carries() []string {
	if before := m.told(); before != nil {
		return []string{before.Result}
	}
	return nil
}

// repeats reports whether this attempt is given the same as the last one, because that one had no
// result.
func (m *Member) repeats() bool {
	return len(m.Earlier) > 0 && m.Earlier[len(m.Earlier)-1].Text == ""
}

// Member is the member that investigates a perspective; nil if there is none.
func (v Inquiry) Member(perspective string) *Member {
	return each.Find(v.Members, func(m *Member) bool { return m.Perspective == perspective })
}

// Carried is what a member found before, which it is given so that it goes deeper. It is "" if the
// member begins anew.
func (v Inquiry) Carried(perspective string) string {
	if m := v.Member(perspective); m != nil && m.told() != nil {
		return m.told().Text
	}
	return ""
}

// Standing are the members that have a result, or are still to have one.
func (v Inquiry) Standing() []*Member {
	return slices.DeleteFunc(slices.Clone(v.Members), func(m *Member) bool { return m.Dropped })
}

func (v Inquiry) investigated() []string {
	var names []string
	for _, m := range v.Standing() {
		if m.Result != "" {
			names = append(names, m.Perspective)
		}
	}
	return names
}

// mapped notes which agents fit the new perspectives. If each has only one, nobody is asked.
func (s *step) mapped(w protocol.InquiryMapping) error {
	var want, got []string
	for _, p := range s.Chosen {
		if s.Member(p) == nil {
			want = append(want, p)
		}
	}
	several := false
	for _, f := range w.Fits {
		got = append(got, f.Perspective)
		several = several || len(f.Candidates) > 1
		for _, c := range f.Candidates {
			if c.Key == s.Coordinator.String() {
				return breach("F36", "%s coordinates, and analyses nothing itself", c.Key)
			}
			if len(s.Opening.Agents) > 0 && !f.Made && !slices.Contains(s.Opening.Agents, c.Key) && !slices.Contains(s.Opening.Agents, nameOfAgent(c.Key)) {
				return senseless("%s is none of the agents that were named", c.Key)
			}
			if a, err := protocol.ParseAddress(c.Key); err != nil || !s.MayReceive(a, f.Made) {
				return senseless("%s is none of those who may be given what is investigated", c.Key)
			}
		}
	}
	if !slices.Equal(want, got) {
		return breach("F27", "it maps other perspectives than the chosen ones")
	}
	s.Fits, s.State = w.Fits, GateMap
	if !several {
		s.assign(func(f protocol.InquiryFit) string { return f.Candidates[0].Key })
	}
	return nil
}

// MayReceive reports whether an agent may be given what is investigated: whoever confirmed the brief
// saw who may. A member that is made after an agent or a preset may if that one may. An agent of
// such a name that is not made may not.
func (v Inquiry) MayReceive(a protocol.Address, made bool) bool {
	base := protocol.Address{Name: MadeAfter(a.Name), Host: a.Host}
	return len(v.Opening.Receivers) == 0 || slices.Contains(v.Opening.Receivers, a.String()) || made && slices.Contains(v.Opening.Receivers, base.String())
}

// MadeAfter is the name of the agent or preset after which a member is called: mawjs-2 is called
// after mawjs.
func MadeAfter(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" && i+1 < len(name) {
		return name[:i]
	}
	return name
}

func nameOfAgent(address string) string {
	name, _, _ := strings.Cut(address, "@")
	return name
}

// assign makes a member for each perspective that was mapped.
func (s *step) assign(who func(protocol.InquiryFit) string) {
	for _, f := range s.Fits {
		key := f.Candidates[0].Key
		if len(f.Candidates) > 1 {
			key = who(f)
		}
		a, _ := protocol.ParseAddress(key) // it was checked when it was read
		s.Members = affair.Added(s.Members, &Member{Perspective: f.Perspective, Agent: a, Made: f.Made, Attempt: 1})
	}
	s.State = Spawn
}

// start notes that a member was started. What the member was given follows from the record.
func (s *step) start(w protocol.InquiryStart) error {
	m := s.Member(w.Perspective)
	if m == nil || !m.Given.IsZero() || m.Dropped || m.Attempt != w.Attempt {
		return senseless("attempt %d at %q is not to be started", w.Attempt, w.Perspective)
	}
	agent, err := protocol.ParseAddress(w.Member)
	switch {
	case err != nil:
		return affair.Malformed(err)
	case w.Member == s.Coordinator.String():
		return breach("F36", "%s coordinates, and analyses nothing itself", w.Member)
	case m.Attempt == 1 && m.Moves == 0 && agent != m.Agent:
		return senseless("%s investigates %q, and not %s", m.Agent, w.Perspective, w.Member)
	case !s.MayReceive(agent, m.Made || m.Attempt > 1 || m.Moves > 0):
		return senseless("%s is none of those who may be given what is investigated", w.Member)
	case w.Question != s.Opening.Hash:
		return breach("F31", "its question is another one")
	case !slices.Equal(w.Carries, m.Carries()):
		return breach("F77", "it carries over something else than the result before")
	}
	for _, o := range w.Orientation {
		if !slices.ContainsFunc([]string{s.Brief.Intent, s.Brief.Deliverable, s.Brief.Scope}, func(part string) bool { return strings.Contains(part, o) }) {
			return breach("F32", "the orientation %q is not of the brief", o)
		}
	}
	if protocol.Hash([]byte(s.Prompt(w.Perspective, w.Orientation))) != w.Prompt || (m.repeats() || m.Moves > 0) && m.Prompt != "" && w.Prompt != m.Prompt {
		return breach("F30", "its prompt is not the one that follows from the brief")
	}
	s.Members = affair.Edited(s.Members, m, func(m *Member) {
		m.Agent, m.Given, m.Orientation, m.Prompt, m.Cycle, m.Degraded = agent, s.deed.Message.Path, w.Orientation, w.Prompt, s.Cycle, cmp.Or(w.Degraded, m.Degraded)
	})
	return nil
}

// task notes what a started member has to do. When all members have their tasks, the waiting
// begins.
func (s *step) task(w protocol.InquiryTask) error {
	m := s.Member(w.Perspective)
	switch {
	case m == nil || m.Given.IsZero() || m.Tasked || m.Attempt != w.Attempt:
		return senseless("no task of attempt %d at %q is to be noted", w.Attempt, w.Perspective)
	case w.Question != s.Opening.Hash || w.Scope != s.Brief.Scope:
		return breach("F29", "its question or its scope is another one")
	}
	s.Members = affair.Edited(s.Members, m, func(m *Member) { m.Tasked = true })
	s.waited()
	return nil
}

// settled reports whether all members have been started and have signalled.
func (v Inquiry) settled() bool {
	return !slices.ContainsFunc(v.Standing(), func(m *Member) bool { return !m.Tasked || m.Signal == nil })
}

// Awaits reports whether a member has to say something before the inquiry goes on: that its run has
// ended or, when all runs have ended, its result, or what it has to say in a dialogue.
func (v Inquiry) Awaits(m *Member) bool {
	if m.Given.IsZero() || m.Dropped {
		return false
	}
	return v.State == Await && m.Signal == nil || v.State == Collect && m.Revealed.IsZero() ||
		v.State == Dialogue && slices.ContainsFunc(Next(v), func(c Call) bool { return c.Perspective == m.Perspective && c.By == m.Agent })
}

// waited goes on when no member is waited for any more.
func (s *step) waited() {
	all := s.Standing()
	if s.State == Spawn && !slices.ContainsFunc(all, func(m *Member) bool { return !m.Tasked }) {
		s.State = Await
	}
	if s.State == Await && s.settled() && !slices.ContainsFunc(all, (*Member).Failed) {
		s.State = Collect
	}
	if s.State == Collect && !slices.ContainsFunc(all, func(m *Member) bool { return m.Revealed.IsZero() }) {
		s.State = Preview
	}
}

// signal notes that the run of a member has ended. The signal of an attempt that was given up is
// kept and has no effect. One that comes when the inquiry is over is kept as late, and its result is
// not collected.
func (s *step) signal(w protocol.InquirySignal) error {
	m := s.Member(w.Perspective)
	if m == nil {
		return refusal.New(refusal.Unknown, "", "nobody investigates %q", w.Perspective)
	}
	late := inquiry.Late{Path: s.deed.Message.Path, Perspective: w.Perspective, Attempt: w.Attempt, Result: w.Result}
	if i := slices.IndexFunc(m.Earlier, func(a Attempt) bool { return a.Attempt == w.Attempt }); i >= 0 && writes(s.deed, m.Earlier[i].Agent) {
		if m.Earlier[i].Result != "" || slices.ContainsFunc(s.Late, func(l inquiry.Late) bool { return l.Perspective == w.Perspective && l.Attempt == w.Attempt }) {
			return senseless("it has signalled already")
		}
		s.Late = affair.Added(s.Late, late)
		return nil
	}
	switch {
	case !writes(s.deed, m.Agent) || m.Given.IsZero() || w.Attempt != m.Attempt:
		return refusal.New(refusal.Forbidden, "", "%s@%s does not investigate %q in attempt %d", s.deed.Author().Name, s.deed.Host, w.Perspective, w.Attempt)
	case m.Signal != nil:
		return senseless("it has signalled already")
	case s.State.Over():
		s.Late = affair.Added(s.Late, late)
		s.Members = affair.Edited(s.Members, m, func(m *Member) { m.Signal, m.SignalPath = &w, s.deed.Message.Path })
		return nil
	}
	s.Members = affair.Edited(s.Members, m, func(m *Member) {
		m.Signal, m.SignalPath, m.Degraded = &w, s.deed.Message.Path, cmp.Or(m.Degraded, w.Degraded)
	})
	s.heard(w.Perspective)
	s.waited()
	return nil
}

// heard takes back the question about a member that was lost, because the member says something.
func (s *step) heard(perspective string) {
	if g := s.Open(); g != nil && g.Gate == protocol.GateLost && g.Perspective == perspective && len(g.Answers) == 0 {
		s.Gates = affair.Edited(s.Gates, g, func(g *Gate) { g.Moot = true })
	}
}

// reveal tells a result, after all members have signalled. The result must have the hash that was
// told then. While a human is asked about a lost host, no result is told.
func (s *step) reveal(w protocol.InquiryReveal) error {
	m := s.Member(w.Perspective)
	if err := s.in(Collect); err != nil {
		if m == nil || !writes(s.deed, m.Agent) {
			return err
		}
		return s.early("F42", err, Spawn, Await)
	}
	switch {
	case m == nil || !writes(s.deed, m.Agent) || w.Attempt != m.Attempt || m.Dropped:
		return refusal.New(refusal.Forbidden, "", "%s@%s has no result of attempt %d at %q", s.deed.Author().Name, s.deed.Host, w.Attempt, w.Perspective)
	case s.Open() != nil:
		return breaks("F41", refusal.New(refusal.Forbidden, "wait for the human", "a human is asked about a host that was lost"))
	case !m.Revealed.IsZero():
		return senseless("it was told already")
	case protocol.Hash([]byte(w.Text)) != m.Signal.Result:
		return breach("F42", "it is another result than the one whose hash was told")
	}
	s.Members = affair.Edited(s.Members, m, func(m *Member) {
		m.Result, m.Revealed, m.Flags = w.Text, s.deed.Message.Path, CheckResult(w.Text, s.Brief.Abstract)
	})
	s.waited()
	return nil
}

// lost does what a human has decided about a member that is waited for, or that has no result.
func (s *step) lost(perspective, how string) {
	m := s.Member(perspective)
	switch {
	case how == RunElsewhere && s.State == Dialogue: // what it found is there
		s.Members = affair.Edited(s.Members, m, func(m *Member) {
			m.Given, m.Moves, m.Degraded = protocol.Path{}, m.Moves+1, "another agent speaks for it, which is given its prompt and its result again"
		})
	case how == RunElsewhere:
		told := slices.ContainsFunc(s.Members, func(o *Member) bool { return o != m && o.Cycle == m.Cycle && !o.Revealed.IsZero() })
		s.Members = affair.Edited(s.Members, m, func(m *Member) {
			m.again()
			if told {
				m.Degraded = "results of others were told before it began"
			}
		})
		s.State = Await
	case how == GoOnWithout:
		s.Members = affair.Edited(s.Members, m, func(m *Member) { m.Dropped = true })
		s.waited()
	}
}
