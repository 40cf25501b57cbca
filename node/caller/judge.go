package caller

import (
	"cmp"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Judge decides who calls on the control socket. An error is a refusal. Then the returned caller
// only says how it was recognised.
func (b *Book) Judge(c control.Calling) (control.Caller, error) {
	return b.decide(c, b.look(c.Peer, c.Thread))
}

// JudgeAgent decides who calls on the socket that is only for agents. A caller that nothing else
// identifies has to bear a token.
func (b *Book) JudgeAgent(c control.Calling) (control.Caller, error) {
	s := b.look(c.Peer, c.Thread)
	if c.Token == "" && s.run == nil && s.seat == "" {
		return control.Caller{How: s.words()}, control.Errorf(control.KindRefused,
			"the operator of the host makes one: parley agent token NAME; PARLEY_TOKEN takes it",
			"cannot tell which agent calls: this socket is for agents, and no token was shown")
	}
	return b.decide(c, s)
}

func (b *Book) decide(c control.Calling, s sight) (control.Caller, error) {
	by, err := b.recognise(c, s)
	if c.Peer != nil && err == nil {
		by.Process = c.Peer.ID
	}
	return by, err
}

func (b *Book) recognise(c control.Calling, s sight) (control.Caller, error) {
	agent, err := b.agentOf(c, s)
	switch {
	case err != nil:
		return control.Caller{How: s.words()}, err
	case agent.Kind == control.ByAgent:
		return agent, nil
	case s.stray != "":
		return control.Caller{Kind: control.ByAgent, How: s.stray}, nil
	case s.gone != "":
		return control.Caller{How: s.gone}, control.Errorf(control.KindRefused, "let the program that opens a connection ask by it, and wait for the answer",
			"cannot tell who calls: %s", s.gone)
	case s.blind != "":
		return control.Caller{Kind: control.Unattended, Name: b.named(c), Left: s.left, How: s.blind}, nil
	case b.named(c) != b.o.Human:
		name := b.named(c)
		return control.Caller{Kind: control.ByAgent, Name: name, Because: b.lastGiven(name), How: "PARLEY_AGENT"}, nil
	}
	return control.Caller{Kind: control.Operator, Name: b.o.Human, How: s.words()}, nil
}

// agentOf is the agent that the token or the process proves. It is none if neither proves one.
func (b *Book) agentOf(c control.Calling, s sight) (control.Caller, error) {
	var a control.Caller
	if s.run != nil && s.run.alone {
		return a, control.Errorf(control.KindRefused, "", "this is a member of an inquiry, which works alone: nothing is answered to it (known by %s)", s.how)
	}
	if s.seat != "" {
		a = control.Caller{Kind: control.ByAgent, Name: s.seat, Because: b.lastGiven(s.seat), How: s.how}
	}
	if s.run != nil {
		a = control.Caller{Kind: control.ByAgent, Name: s.run.Agent, Because: s.run.Because, Run: s.run.ID, How: s.how}
	}
	if c.Token != "" {
		t, err := b.open(c.Token)
		switch {
		case err != nil:
			return a, refusal("PARLEY_TOKEN is refused: %v", err)
		case s.run == nil && s.seat != "" && t.Agent != s.seat:
			return a, refusal("PARLEY_TOKEN is that of %s, and this is a process of the session of %s", t.Agent, s.seat)
		case s.run == nil:
			a = control.Caller{Kind: control.ByAgent, Name: t.Agent, Because: t.cause(), Run: t.Run, How: "its token"}
			if t.Run == "" {
				a.Because = b.lastGiven(t.Agent)
			}
		case t.Agent != s.run.Agent || t.Run != "" && t.Run != s.run.ID:
			return a, refusal("PARLEY_TOKEN is that of another run, of %s, and this is a process of %s", t.Agent, s.run.Agent)
		}
	}
	if a.Kind == control.ByAgent && c.Agent != "" && c.Agent != a.Name.String() {
		return a, refusal("PARLEY_AGENT says %q, and this is %s (known by %s)", c.Agent, a.Name, a.How)
	}
	return a, nil
}

func refusal(format string, args ...any) error {
	e := control.Errorf(control.KindRefused, "an agent leaves its environment as it was set; a person has neither PARLEY_TOKEN nor PARLEY_AGENT in it", format, args...)
	e.Message = "cannot tell who calls: " + e.Message
	return e
}

// named is the one as whom a caller says that it acts, by its PARLEY_AGENT. If it says nothing,
// that is the human.
func (b *Book) named(c control.Calling) protocol.Name {
	if c.Agent == "" {
		return b.o.Human
	}
	return protocol.Name(c.Agent)
}

// words says what was seen.
func (s sight) words() string {
	return cmp.Or(s.stray, s.gone, s.blind, s.how)
}
