package inquiries

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Breach is the reason why a deed is void that breaks a line of the checklist. Void or not, the
// deed is in the record, and whoever reads it has seen it.
type Breach struct {
	Line string // such as F42
	err  error
}

// Error returns the reason.
func (b *Breach) Error() string { return b.err.Error() }

// Unwrap returns the refusal.
func (b *Breach) Unwrap() error { return b.err }

// breaks makes an error a breach of a line. Without a line it returns the error itself.
func breaks(line string, err error) error {
	if line == "" {
		return err
	}
	return &Breach{line, err}
}

// breach is why words are void that can be read but break a line.
func breach(line, format string, args ...any) error {
	return breaks(line, refusal.New(refusal.Senseless, "", format, args...))
}

// early is the error `err` of a deed that came too early. In one of `states` this breaks the line;
// in others the deed is only void.
func (v Inquiry) early(line string, err error, states ...State) error {
	if slices.Contains(states, v.State) {
		return breaks(line, err)
	}
	return err
}

// formLine is the line that is broken if the words of an act cannot be read; "" for none.
func formLine(act protocol.Act) string {
	return map[protocol.Act]string{
		protocol.ActFrameBrief: "F3", protocol.ActFrameGate: "F67", protocol.ActFrameDetection: "F47", protocol.ActFrameTopic: "F51",
		protocol.ActFrameOutcomes: "F58", protocol.ActFrameSynthesis: "F61", protocol.ActFrameTrace: "F83", protocol.ActFrameEstablished: "F25",
	}[act]
}

// Verify folds the deeds of an inquiry, in the order of the record, and says which lines of the
// checklist do not hold. A line can be broken by a single deed, whether that deed counts or not, or
// by the order of the deeds that count. Verify reads nothing but the deeds.
func Verify(recordID string, deeds iter.Seq[*affair.Candidate]) (Inquiry, []inquiry.Fault) {
	kind := Kind(recordID)
	var v Inquiry
	var faults []inquiry.Fault
	p := proof{signalled: map[string]bool{}, said: map[string]int{}, last: map[protocol.Act]int{}}
	for c := range deeds {
		if c.Void != nil { // a stranger wrote it
			continue
		}
		next, err := kind.Step(v, c.Deed)
		var b *Breach
		if errors.As(err, &b) {
			faults = append(faults, inquiry.Fault{Line: b.Line, At: c.Message.Path, Why: b.Error()})
		}
		if err == nil {
			for _, f := range p.look(v, next, c.Deed) {
				faults = append(faults, inquiry.Fault{Line: f[0], At: c.Message.Path, Why: f[1]})
			}
			v = next
		}
	}
	return v, faults
}

// proof is what matters of the deeds so far for the order of those to come. It is counted from the
// deeds themselves, independently of the fold.
type proof struct {
	n         int
	question  string
	signalled map[string]bool // perspectives and attempts
	said      map[string]int  // messages by tension
	last      map[protocol.Act]int
}

// look returns the lines that a deed which counts breaks.
func (p *proof) look(before, after Inquiry, d affair.Deed) (faults [][2]string) {
	p.n++
	say := func(line, format string, args ...any) {
		faults = append(faults, [2]string{line, fmt.Sprintf(format, args...)})
	}
	if writes(d, before.Coordinator) && before.State == Await && d.Act != protocol.ActFrameStart && d.Act != protocol.ActFrameEsc {
		for _, to := range d.To {
			if slices.ContainsFunc(before.Members, func(m *Member) bool { return m.Agent == to }) {
				say("F37", "the coordinator wrote to %s, who works", to)
			}
		}
	}
	follows := func(line string, act protocol.Act) {
		if p.last[act] == 0 {
			say(line, "no %s came before it", act)
		}
	}
	switch d.Act {
	case protocol.ActFrame:
		p.question = protocol.Hash([]byte(after.Opening.Text))
		if p.question != after.Opening.Hash {
			say("F1", "the question has another hash")
		}
	case protocol.ActFrameContext:
		follows("F5", protocol.ActFrameBrief)
		if p.last[protocol.ActFrameAnswer] == 0 && !before.Opening.AcceptBrief {
			say("F5", "no human has confirmed the brief")
		}
	case protocol.ActFrameProposals:
		follows("F12", protocol.ActFrameContext)
	case protocol.ActFrameStart:
		if w, err := protocol.StartMember.Parse(d.Body); err != nil || w.Question != p.question {
			say("F31", "its question is another one")
		} else if w.Prompt != protocol.Hash([]byte(after.Prompt(w.Perspective, w.Orientation))) {
			say("F30", "its prompt does not follow from the brief")
		}
	case protocol.ActFrameSignal:
		if w, err := protocol.SignalEnd.Parse(d.Body); err == nil {
			p.signalled[fmt.Sprint(w.Perspective, " ", w.Attempt)] = true
		}
	case protocol.ActFrameReveal:
		for _, m := range after.Members {
			if !m.Dropped && !p.signalled[fmt.Sprint(m.Perspective, " ", m.Attempt)] {
				say("F42", "%q has not signalled", m.Perspective)
			}
		}
	case protocol.ActFrameExchange:
		if w, err := protocol.ExchangeWords.Parse(d.Body); err == nil {
			if p.said[w.Tension]++; p.said[w.Tension] > inquiry.MaxMessages {
				say("F52", "it is message %d of a pair", p.said[w.Tension])
			}
		}
	case protocol.ActFrameDetection:
		follows("F44", protocol.ActFramePreview)
	case protocol.ActFrameSynthesis:
		follows("F46", protocol.ActFrameDetection)
	case protocol.ActFrameShutdown:
		if after.End.wraps {
			follows("F78", protocol.ActFrameTrace)
		}
	case protocol.ActFrameFindings:
		follows("F80", protocol.ActFrameTeamEnd)
	}
	p.last[d.Act] = p.n
	return faults
}
