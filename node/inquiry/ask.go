package inquiry

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Open answers control.OpenFrame.
func (q *Inquiries) Open(ctx context.Context, by control.Caller, r control.FrameRequest) (control.FrameOpened, error) {
	if by.Kind == control.Unattended { // it may be an agent, which would then decide for its human
		return control.FrameOpened{}, control.Errorf(control.KindRefused, "call it in a terminal on this machine", "nobody can tell who calls (%s), and inquiries have gates", by.How)
	}
	agent := by.Kind == control.ByAgent
	if me := q.Human.String(); !agent && r.As != "" && r.As != me {
		return control.FrameOpened{}, control.Errorf(control.KindUsage, "leave it out", "%s asks at this terminal, and not %s: an agent begins inquiries itself", me, r.As)
	}
	o, err := q.opening(r, agent)
	if err != nil {
		return control.FrameOpened{}, err
	}
	if err := q.words(r, agent, &o); err != nil {
		return control.FrameOpened{}, err
	}
	o.In = r.In
	var actor inquiries.Actor
	q.Folded(func(s *fleet.State) {
		if actor = q.human(s, r.Hsig); agent {
			actor = inquiries.Actor{Record: q.RecordID, Me: by.Name.String(), Host: q.Host}
			o.Humans, o.AcceptBrief = []protocol.Name{q.Human}, false
		}
		err = q.Pool.mayBegin(s, &o)
	})
	done := control.FrameOpened{At: o.At}
	if err != nil || agent && r.Try { // an agent signs nothing, so nothing is taken for that
		return done, err
	}
	if r.In != "" && agent {
		release, err := q.material.turn(ctx, by.Name)
		if err != nil {
			return done, err
		}
		defer release()
	}
	if r.In != "" {
		defer q.material.hold()()
		if err := q.material.take(ctx, by, &o); err != nil {
			return done, err
		}
		q.Folded(func(s *fleet.State) {
			o.Receivers = q.Pool.receivers(s, inquiries.Inquiry{Opening: o, Coordinator: protocol.Address{Name: o.Coordinator, Host: q.Host.String()}})
		})
	}
	o.Hash = protocol.Hash([]byte(o.Text))
	if !agent {
		done.Decides = o.Decides()
	}
	if r.Try {
		done.Frame = control.Frame{In: o.In, Snapshot: o.Snapshot, Receivers: o.Receivers}
		return done, nil
	}
	if !agent {
		if err := q.Signed(protocol.HumanDecision{Act: protocol.ActFrame, Reason: done.Decides}, r.Hsig); err != nil {
			return done, err
		}
	}
	command, channel := actor.Open(o)
	paths, err := q.Do(ctx, by, command)
	if err != nil {
		return done, writing.Problem("begin the inquiry", err)
	}
	done.Message = paths[0].String()
	q.Folded(func(s *fleet.State) { done.Frame = q.view(s, q.known.in(s, channel), true) })
	return done, nil
}

// opening is what a request asks for, without the source of its question.
func (q *Inquiries) opening(r control.FrameRequest, agent bool) (protocol.InquiryOpening, error) {
	o := protocol.InquiryOpening{
		InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{At: cmp.Or(r.At, q.Now()).UTC().Truncate(time.Millisecond)}, Text: r.Question},
		Source:       protocol.FromArgument, Mode: r.Mode, Coordinator: r.Coordinator, AcceptBrief: r.AcceptBrief,
	}
	if agent {
		o.Source = protocol.FromAgent
	}
	for _, p := range r.Perspectives {
		o.Perspectives = append(o.Perspectives, strings.Join(strings.Fields(p), " "))
	}
	for _, a := range r.Agents {
		address, err := protocol.ParseAddress(a)
		if err != nil {
			return o, control.Errorf(control.KindUsage, "", "cannot begin the inquiry: %v", err)
		}
		o.Agents = append(o.Agents, address.String())
	}
	if r.Mode != "" && r.Mode != protocol.ModeInquire && r.Mode != protocol.ModeRecommend {
		return o, control.Errorf(control.KindUsage, "use recommend or inquire", "%q is no mode of an inquiry", r.Mode)
	}
	return o, nil
}

// words finds the words of the question, and their source.
func (q *Inquiries) words(r control.FrameRequest, agent bool, o *protocol.InquiryOpening) (err error) {
	var asked *fleet.Item
	if r.Re != "" {
		if asked, err = q.Find(r.Re); err != nil {
			return err
		}
	}
	q.Folded(func(s *fleet.State) { asked, err = q.question(s, r, asked, agent, o) })
	if err != nil || asked == nil {
		return err
	}
	m, err := q.Load(asked) // the record is read after the state is released
	if err == nil {
		o.Text = strings.TrimRight(m.Body, "\n")
	}
	return err
}

// question finds the source of the question (frame, U-binding): the words of the call, the message
// that it names, or the human's last message. It returns the message whose words
// they are; nil if they are in the call. It is asked while the state is read.
func (q *Inquiries) question(s *fleet.State, r control.FrameRequest, it *fleet.Item, agent bool, o *protocol.InquiryOpening) (*fleet.Item, error) {
	switch {
	case r.Question != "":
		return nil, nil
	case agent && r.Re == "":
		return nil, control.Errorf(control.KindUsage, "", "an agent names the question")
	case it != nil:
		o.Source = protocol.FromBeside
	default:
		if it = q.lastWords(s); it == nil {
			return nil, control.Errorf(control.KindUsage, "ask it: parley frame QUESTION", "%s has said nothing there that could be the question", q.Human)
		}
		o.Source = protocol.FromLastMessage
	}
	if agent {
		o.Source = protocol.FromAgent
	}
	o.Message, o.Channel = it.Path.String(), it.Path.Channel().String()
	return it, nil
}

func (q *Inquiries) lastWords(s *fleet.State) *fleet.Item {
	looked := 0
	for it := range s.Ledger.Backward() {
		if looked++; looked > maxLooked {
			return nil
		}
		spec, known := protocol.FindAct(it.Act)
		if it.Author().Name == q.Human.String() && it.Host == q.Host && known && spec.Act.Mail() {
			return it
		}
	}
	return nil
}

// maxLooked is how many messages are looked at to find a human's last one.
const maxLooked = 10_000

// Answer answers control.AnswerFrame.
func (q *Inquiries) Answer(ctx context.Context, by control.Caller, r control.AnswerFrameRequest) (control.Frame, error) {
	return q.decide(ctx, by, r.ID, "answer the gate", r.Hsig, func(s *fleet.State, v inquiries.Inquiry, a inquiries.Actor) (affair.Command, protocol.HumanDecision, error) {
		path, err := protocol.ParsePath(r.Gate)
		if err != nil {
			return affair.Command{}, protocol.HumanDecision{}, control.Errorf(control.KindUsage, "see what waits: parley gates", "cannot answer the gate: %v", err)
		}
		g := v.Gate(path)
		if g == nil {
			return affair.Command{}, protocol.HumanDecision{}, control.Errorf(control.KindNotFound, "see what waits: parley gates", "the inquiry asks nothing there")
		}
		if v.Contested == path && r.TakesBack == "" { // it would only be one more answer
			return affair.Command{}, protocol.HumanDecision{}, control.Errorf(control.KindRefused, "say which one holds: parley frame answer "+id8(v.Channel)+" --takes-back", "the gate has answers that contradict each other")
		}
		w := protocol.InquiryAnswer{InquiryWords: protocol.InquiryWords{Text: r.Text}, Gate: g.Gate, Set: g.Set, Chosen: r.Chosen, TakesBack: r.TakesBack, Sight: protocol.SightOf(asker(s, v, g), r.Seen)}
		d := protocol.HumanDecision{Gate: g.Path, GateHash: g.Hash, Act: protocol.ActFrameAnswer, Reason: w.Decides(), TakesBack: r.TakesBack, Saw: w.Sight}
		return a.Answer(v.Channel, path, w), d, nil
	})
}

// Esc answers control.EscFrame.
func (q *Inquiries) Esc(ctx context.Context, by control.Caller, r control.EndFrameRequest) (control.Frame, error) {
	return q.decide(ctx, by, r.ID, "end the inquiry", r.Hsig, func(s *fleet.State, v inquiries.Inquiry, a inquiries.Actor) (affair.Command, protocol.HumanDecision, error) {
		e := protocol.InquiryEsc{InquiryWords: protocol.InquiryWords{Text: r.Reason}}
		return a.Esc(v.Channel, r.Reason), protocol.HumanDecision{Gate: v.Path, GateHash: v.Hash, Act: protocol.ActFrameEsc, Reason: e.Decides()}, nil
	})
}

// Resume answers control.ResumeFrame.
func (q *Inquiries) Resume(ctx context.Context, by control.Caller, r control.ResumeFrameRequest) (control.FrameOpened, error) {
	var done control.FrameOpened
	frame, err := q.decide(ctx, by, r.ID, "resume the inquiry", r.Hsig, func(s *fleet.State, v inquiries.Inquiry, a inquiries.Actor) (affair.Command, protocol.HumanDecision, error) {
		coordinator, err := q.Pool.successor(s, v, r.Coordinator)
		if err != nil {
			return affair.Command{}, protocol.HumanDecision{}, err
		}
		e := protocol.InquiryEpoch{InquiryWords: protocol.InquiryWords{Epoch: v.Epoch + 1}, Coordinator: coordinator}
		done.Decides = e.Decides()
		d := protocol.HumanDecision{Gate: v.Path, GateHash: v.Hash, Act: protocol.ActFrameResume, Reason: e.Decides()}
		if r.Try {
			return affair.Command{}, d, errTried
		}
		return a.Resume(v.Channel, coordinator), d, nil
	})
	if errors.Is(err, errTried) {
		err = nil
	}
	done.Frame = frame
	return done, err
}

// errTried says that nothing was to be written.
var errTried = errors.New("it was only tried")

// decide carries out what this host's human decides about an inquiry, if they have signed it.
func (q *Inquiries) decide(ctx context.Context, by control.Caller, id, doing, hsig string,
	what func(*fleet.State, inquiries.Inquiry, inquiries.Actor) (affair.Command, protocol.HumanDecision, error)) (frame control.Frame, err error) {
	var v inquiries.Inquiry
	var command affair.Command
	var d protocol.HumanDecision
	q.Folded(func(s *fleet.State) {
		if v, err = q.known.find(s, id); err == nil {
			frame = q.view(s, v, true)
			command, d, err = what(s, v, q.human(s, hsig))
		}
	})
	if err != nil {
		return frame, err
	}
	if err := q.Signed(d, hsig); err != nil {
		return frame, err
	}
	if _, err := q.Do(ctx, by, command); err != nil {
		return frame, writing.Problem(doing, err)
	}
	q.Folded(func(s *fleet.State) { frame = q.view(s, q.known.in(s, v.Channel), true) })
	return frame, nil
}

// List answers control.Frames.
func (q *Inquiries) List(_ context.Context, r control.FramesRequest) (control.FrameList, error) {
	list := control.FrameList{Frames: []control.Frame{}}
	q.Folded(func(s *fleet.State) {
		for _, v := range q.known.those(s, r.All) {
			if r.All || !v.State.Over() {
				list.Frames = append(list.Frames, q.view(s, v, false))
			}
		}
	})
	return list, nil
}

// waitForNews is how long Show waits for something to happen in an inquiry.
const waitForNews = 30 * time.Second

// Describe answers control.DescribeFrame.
func (q *Inquiries) Describe(_ context.Context, r control.ShowFrameRequest) (doc control.FrameDocument, err error) {
	q.Folded(func(s *fleet.State) {
		var v inquiries.Inquiry
		if v, err = q.known.find(s, r.ID); err == nil {
			doc = q.document(s, v)
		}
	})
	return doc, err
}

// Show answers control.ShowFrame.
func (q *Inquiries) Show(ctx context.Context, r control.ShowFrameRequest) (frame control.Frame, err error) {
	came := q.Messages.Follow(maxFeed, nil)
	defer came.End()
	patience := time.NewTimer(min(cmp.Or(r.Within.Duration(), waitForNews), waitForNews))
	defer patience.Stop()
	for {
		var file *fleet.Item
		q.Folded(func(s *fleet.State) {
			var v inquiries.Inquiry
			if v, err = q.known.find(s, r.ID); err != nil {
				return
			}
			frame = q.view(s, v, true)
			if g := v.Open(); g != nil {
				file, _ = s.Ledger.Item(g.Path)
			}
		})
		if err != nil {
			return frame, err
		}
		if frame.Last != r.Since || frame.Over {
			if file != nil && frame.Gate != nil {
				data, err := q.File(file)
				if err != nil {
					return frame, err
				}
				frame.Gate.File = base64.StdEncoding.EncodeToString(data)
			}
			return frame, nil
		}
		select {
		case <-came.Wake():
			came.Drain()
		case <-patience.C:
			r.Since = ""
		case <-ctx.Done():
			return frame, ctx.Err()
		}
	}
}
