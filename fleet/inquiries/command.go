package inquiries

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Actor is the one who does something in an inquiry: its coordinator, a member or a human. Each
// command gives one deed, or a refusal with the reason why such a deed would be void.
type Actor affair.Actor

// MaxResult is how long a result may be, in bytes: the text and its words have to fit into one
// deed. A host cuts a longer result before it tells the hash. Otherwise it could never tell the
// text.
const MaxResult = maxBody - 4<<10

// maxBody is how long the words of a deed may be, in bytes: a longer deed says nothing.
const maxBody = 64 << 10

// deed is an act with its words, the message that it answers, its addressees and its channel.
type deed struct {
	act     protocol.Act
	body    string
	re      protocol.Path // zero: the last deed
	to      []protocol.Address
	channel protocol.ChannelID // empty: the channel of the inquiry
}

// command makes a command that gives one deed of an inquiry. The deed is tried on the value first,
// and what would be void is refused.
func (a Actor) command(in protocol.ChannelID, decide func(v Inquiry, head protocol.FormHead) (deed, error)) affair.Command {
	kind := Kind(a.Record)
	return kind.Command(in.String(), func(v Inquiry, now time.Time) ([]affair.Draft, error) {
		now = now.UTC().Truncate(time.Millisecond)
		d, err := decide(v, protocol.FormHead{From: a.Me, At: now})
		if err != nil {
			return nil, affair.Refused(err)
		}
		if len(d.body) > maxBody {
			return nil, refusal.New(refusal.Senseless, "", "its words are longer than %d KiB", maxBody>>10)
		}
		d.channel = cmp.Or(d.channel, in)
		m := protocol.Message{From: a.Me, To: d.to, Act: d.act, Body: d.body}
		if d.re.IsZero() { // otherwise a host whose clock is behind would write it before the deed from which it follows
			d.re = v.Last
		}
		if !d.re.IsZero() {
			m.Re = protocol.Refer(d.channel, d.re)
		}
		drafts, err := kind.Does(affair.Actor(a), v, m, d.channel, now)
		if err == nil {
			if flaws := v.strict(&drafts[0].Message); len(flaws) > 0 {
				err = refusal.New(refusal.Senseless, "", "%s", reasons(flaws))
			}
		}
		return drafts, err
	})
}

// reasons are the reasons of flaws, each once, for whoever is to say it better.
func reasons(flaws []flaw) string {
	var all []string
	for _, f := range flaws {
		if !slices.Contains(all, f.why) && len(all) < 5 {
			all = append(all, f.why)
		}
	}
	return strings.Join(all, "; ")
}

func (v Inquiry) humans() []protocol.Address {
	return each.Of(v.Deciders, Decider.Address)
}

// Open begins an inquiry at the time o.At, from which its channel is made.
func (a Actor) Open(o protocol.InquiryOpening) (affair.Command, protocol.ChannelID) {
	o.From, o.At, o.Hash = a.Me, o.At.UTC().Truncate(time.Millisecond), protocol.Hash([]byte(o.Text))
	channel := protocol.InquiryChannel(a.Record, a.Host, o.Hash, o.At)
	return a.command(channel, func(Inquiry, protocol.FormHead) (deed, error) {
		return deed{act: protocol.ActFrame, body: protocol.OpenInquiry.Format(o), to: []protocol.Address{{Name: o.Coordinator, Host: a.Host.String()}}}, nil
	}), channel
}

// Words are the words of an act that have a method to set who writes them.
type Words[W any] interface {
	*W
	Say(head protocol.FormHead, epoch int)
}

// Draft makes a deed of the coordinator from words that a call has made: brief, context, proposals,
// mapping, preview, detection, outcomes, synthesis, trace, findings. It addresses the humans if
// they are to see the words.
func Draft[W any, P Words[W]](a Actor, in protocol.ChannelID, act protocol.WordAct[W], words W) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		P(&words).Say(head, v.Epoch)
		d := deed{act: act.Act, body: act.Format(words)}
		if shown(act.Act) {
			d.to = v.humans()
		}
		return d, nil
	})
}

// shown reports whether the humans see what a call has made before they decide.
func shown(act protocol.Act) bool {
	switch act {
	case protocol.ActFrameContext, protocol.ActFrameMap, protocol.ActFrameDetection:
		return false
	}
	return true
}

// Ask asks the gate that is due, or the gate about a member whose host is lost. `about` is what is
// said about options, by question and key. It adds what follows from the record.
func (a Actor) Ask(in protocol.ChannelID, gate, perspective string, about map[string]string) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		g := protocol.InquiryGate{Gate: gate, Perspective: perspective, Questions: v.Questions(gate)}
		g.Say(head, v.Epoch)
		if gate == protocol.GateBrief && !strings.ContainsFunc(v.Opening.In, unicode.IsControl) { // version 0.1.0 takes any name
			g.In, g.Snapshot, g.Receivers = v.Opening.In, v.Opening.Snapshot, v.Opening.Receivers
		}
		for _, q := range g.Questions {
			for i, o := range q.Options {
				switch {
				case gate == protocol.GatePerspectives:
					q.Options[i].About = v.contribution(o.Key)
				case gate == protocol.GateRoute && o.Key == Withdraw:
					q.Options[i].About = AboutWithdraw
				case o.About == "":
					q.Options[i].About = about[o.Key]
				}
			}
		}
		g.Set = protocol.InquirySet(gate, g.Questions)
		return deed{act: protocol.ActFrameGate, body: protocol.AskInquiry.Format(g), to: v.humans()}, nil
	})
}

// Answer says what a human decides at a gate.
func (a Actor) Answer(in protocol.ChannelID, gate protocol.Path, w protocol.InquiryAnswer) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		g := v.Gate(gate)
		if g == nil {
			return deed{}, refusal.New(refusal.Unknown, "see what waits: parley gates", "the inquiry asks nothing there")
		}
		w.FormHead, w.Gate, w.Set = head, g.Gate, g.Set
		return deed{act: protocol.ActFrameAnswer, body: protocol.AnswerInquiry.Format(w), re: g.Path, to: []protocol.Address{v.Coordinator}}, nil
	})
}

// Esc ends an inquiry at once.
func (a Actor) Esc(in protocol.ChannelID, reason string) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		w := protocol.InquiryEsc{InquiryWords: protocol.InquiryWords{FormHead: head, Text: reason}}
		to := []protocol.Address{v.Coordinator}
		for _, m := range v.Members {
			if !slices.Contains(to, m.Agent) {
				to = append(to, m.Agent)
			}
		}
		return deed{act: protocol.ActFrameEsc, body: protocol.EscInquiry.Format(w), to: to}, nil
	})
}

// Resume has the actor's host coordinate the inquiry from now on.
func (a Actor) Resume(in protocol.ChannelID, coordinator string) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		w := protocol.InquiryEpoch{InquiryWords: protocol.InquiryWords{FormHead: head, Epoch: v.Epoch + 1}, Coordinator: coordinator}
		return deed{act: protocol.ActFrameResume, body: protocol.ResumeInquiry.Format(w), to: []protocol.Address{v.Coordinator, {Name: coordinator, Host: a.Host.String()}}}, nil
	})
}

// Start says that a member was started, with the prompt that follows from the record.
func (a Actor) Start(in protocol.ChannelID, perspective string, member protocol.Address, orientation []string, degraded string) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		m := v.Member(perspective)
		if m == nil {
			return deed{}, refusal.New(refusal.Unknown, "", "nobody investigates %q", perspective)
		}
		w := protocol.InquiryStart{
			Perspective: perspective, Attempt: m.Attempt, Member: member.String(), Orientation: orientation, Question: v.Opening.Hash,
			Prompt: protocol.Hash([]byte(v.Prompt(perspective, orientation))), Carries: m.Carries(), Degraded: degraded,
		}
		w.Say(head, v.Epoch)
		return deed{act: protocol.ActFrameStart, body: protocol.StartMember.Format(w), to: []protocol.Address{member}}, nil
	})
}

// Task notes what a started member has to do.
func (a Actor) Task(in protocol.ChannelID, perspective string) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		w := protocol.InquiryTask{Perspective: perspective, Question: v.Opening.Hash, Scope: v.Brief.Scope}
		if m := v.Member(perspective); m != nil {
			w.Attempt = m.Attempt
		}
		w.Say(head, v.Epoch)
		return deed{act: protocol.ActFrameTask, body: protocol.NoteTask.Format(w)}, nil
	})
}

// Signal says that the run of a member of this host has ended. The result itself stays in its
// host's spool until Reveal.
func (a Actor) Signal(in protocol.ChannelID, w protocol.InquirySignal) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		w.FormHead = head
		return deed{act: protocol.ActFrameSignal, body: protocol.SignalEnd.Format(w), to: []protocol.Address{v.Coordinator}}, nil
	})
}

// Reveal tells the result of a member of this host, once all have signalled.
func (a Actor) Reveal(in protocol.ChannelID, perspective, result string) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		w := protocol.InquiryReveal{InquiryWords: protocol.InquiryWords{FormHead: head, Text: result}, Perspective: perspective}
		if m := v.Member(perspective); m != nil {
			w.Attempt = m.Attempt
		}
		return deed{act: protocol.ActFrameReveal, body: protocol.RevealResult.Format(w), to: []protocol.Address{v.Coordinator}}, nil
	})
}

// talk makes a command in a tension.
func (a Actor) talk(in protocol.ChannelID, tension string, say func(v Inquiry, t *inquiry.Tension, talk protocol.InquiryTalk) (deed, error)) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		t := v.tension(tension)
		if t == nil {
			return deed{}, refusal.New(refusal.Unknown, "", "there is no tension %q", tension)
		}
		talk := protocol.InquiryTalk{InquiryWords: protocol.InquiryWords{FormHead: head}, Inquiry: in, Tension: tension}
		d, err := say(v, t, talk)
		d.channel = protocol.TensionChannel(a.Record, in, tension)
		return d, err
	})
}

// Topic connects the peers of a tension.
func (a Actor) Topic(in protocol.ChannelID, tension string) affair.Command {
	return a.talk(in, tension, func(v Inquiry, t *inquiry.Tension, talk protocol.InquiryTalk) (deed, error) {
		talk.Epoch, talk.Text = v.Epoch, TopicText(t)
		w := protocol.InquiryTopic{InquiryTalk: talk, Peers: v.peers(t), Form: protocol.ReportForm()}
		return deed{act: protocol.ActFrameTopic, body: protocol.SignalTopic.Format(w), to: v.pair(t, "")}, nil
	})
}

func (v Inquiry) pair(t *inquiry.Tension, but string) []protocol.Address {
	var to []protocol.Address
	for _, p := range t.Peers {
		if a := v.Member(p).Agent; p != but && !slices.Contains(to, a) {
			to = append(to, a)
		}
	}
	return to
}

// Exchange says something to the other peer. `done` says that the author has no more to say.
func (a Actor) Exchange(in protocol.ChannelID, tension, perspective, text string, done bool) affair.Command {
	return a.talk(in, tension, func(v Inquiry, t *inquiry.Tension, talk protocol.InquiryTalk) (deed, error) {
		talk.Text = text
		w := protocol.InquiryExchange{InquiryTalk: talk, Perspective: perspective, Number: len(t.Messages) + 1, Done: done}
		return deed{act: protocol.ActFrameExchange, body: protocol.ExchangeWords.Format(w), to: v.pair(t, perspective)}, nil
	})
}

// Report reports a dialogue.
func (a Actor) Report(in protocol.ChannelID, tension string, w protocol.InquiryReport) affair.Command {
	return a.talk(in, tension, func(v Inquiry, _ *inquiry.Tension, talk protocol.InquiryTalk) (deed, error) {
		w.InquiryTalk = talk
		return deed{act: protocol.ActFrameReport, body: protocol.ReportDialogue.Format(w), to: []protocol.Address{v.Coordinator}}, nil
	})
}

// FollowUp asks a peer once what divides it from the other one.
func (a Actor) FollowUp(in protocol.ChannelID, tension, perspective, question string) affair.Command {
	return a.talk(in, tension, func(v Inquiry, t *inquiry.Tension, talk protocol.InquiryTalk) (deed, error) {
		talk.Epoch, talk.Text = v.Epoch, question
		w := protocol.InquiryFollowUp{InquiryTalk: talk, Perspective: perspective}
		d := deed{act: protocol.ActFrameFollowUp, body: protocol.FollowUp.Format(w)}
		if m := v.Member(perspective); m != nil {
			d.to = []protocol.Address{m.Agent}
		}
		return d, nil
	})
}

// FollowAnswer answers the question of FollowUp.
func (a Actor) FollowAnswer(in protocol.ChannelID, tension, perspective, text string) affair.Command {
	return a.talk(in, tension, func(v Inquiry, _ *inquiry.Tension, talk protocol.InquiryTalk) (deed, error) {
		talk.Text = text
		w := protocol.InquiryFollowUp{InquiryTalk: talk, Perspective: perspective}
		return deed{act: protocol.ActFrameFollowAnswer, body: protocol.AnswerFollowUp.Format(w), to: []protocol.Address{v.Coordinator}}, nil
	})
}

// End takes the next step of an end: it tells the team to end, or says that the team has ended.
func (a Actor) End(in protocol.ChannelID) affair.Command {
	return a.command(in, func(v Inquiry, head protocol.FormHead) (deed, error) {
		w := protocol.InquiryTeam{Members: v.team()}
		w.Say(head, v.Epoch)
		d := deed{act: protocol.ActFrameShutdown, body: protocol.ShutDownTeam.Format(w)}
		if v.End.Told {
			d = deed{act: protocol.ActFrameTeamEnd, body: protocol.EndTeam.Format(w), to: v.humans()}
		}
		for _, m := range v.Members {
			if !v.End.Told && !slices.Contains(d.to, m.Agent) {
				d.to = append(d.to, m.Agent)
			}
		}
		return d, nil
	})
}
