package frame

import (
	"bufio"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/frame/report"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// told holds what has been shown of an inquiry already. So each part is shown once, when it comes.
type told struct {
	brief, proposal, previews, outcomes, synthesis, trace, remarks, waits string
	members                                                               string
	lines                                                                 int  // of the display, which is redrawn
	step                                                                  bool // a line says what is being done; it is replaced by what comes
}

// review has the results shown again, the next time that the inquiry is shown.
func (t *told) review() { t.previews, t.outcomes, t.synthesis = "", "", "" }

// comeBack is the command that shows an inquiry once more as it goes on. Only an open gate can be
// answered.
func comeBack(f control.Frame) string {
	if f.Gate == nil || !f.Mine {
		return "parley frame show " + f.ID + " --watch"
	}
	if f.Gate.Contested {
		return f.Helps
	}
	return "parley frame answer " + f.ID
}

// follow shows an inquiry as it goes on, and asks the human at its gates. It ends when the inquiry
// is over or the human leaves; in the latter case the inquiry waits for the human.
func (s *session) follow(ctx context.Context, f control.Frame) error {
	in := bufio.NewReader(s.p.Stdin)
	seen := &told{}
	since := ""
	patient := false // the human waits for a member that does not answer
	for {
		next, err := s.show(ctx, f.Channel.String(), since, s.patience(f))
		if err != nil && ctx.Err() != nil {
			s.view.Out.Printf("\nThe inquiry goes on without you.\n")
			s.view.Next(comeBack(f), "come back to it")
			return nil
		}
		if err != nil {
			why := control.AsError(err)
			if why.Kind == control.KindUnavailable { // it goes on when its node does
				why = control.Errorf(why.Kind, "parley status; come back to it with "+comeBack(f), "%s", why.Message)
			}
			return why
		}
		f = next
		since = f.Last
		s.news(f, seen)
		switch {
		case f.Over:
			s.over(f)
			return nil
		case f.Gate != nil && f.Mine && f.Gate.NoKey:
			s.view.Out.Printf("\nYou have no key of your own, which a gate needs.\n")
			s.view.Steps("parley gates key add", "make one", "parley frame answer "+f.ID, "then decide")
			return cli.ExitCode(1)
		case f.Gate != nil && f.Mine:
			seen.lines = 0 // else the display would be drawn over what is asked below it
			after, done, err := s.decide(ctx, in, f, seen)
			if err != nil && ctx.Err() == nil {
				return err
			}
			if err != nil {
				s.view.Out.Printf("\n")
			}
			if !done {
				s.view.Out.Printf("It waits for you.\n")
				s.view.Next("parley frame answer "+f.ID, "decide it later")
				return nil
			}
			patient = f.Gate.Gate == protocol.GateLost && !f.Gate.Contested
			f = after
			since = "" // what follows from the answer may have come already
		case f.Trouble != "" && !patient:
			s.view.Stands(f)
			return cli.ExitCode(1)
		}
	}
}

// patience is how long to wait for a change before an inquiry is shown again. While members work,
// the display of their times is redrawn.
func (s *session) patience(f control.Frame) time.Duration {
	if s.view.Out.Terminal && len(f.Members) > 0 && f.Gate == nil {
		return time.Second
	}
	return 0
}

// news shows what has come since the inquiry was last shown.
func (s *session) news(f control.Frame, seen *told) {
	if seen.step {
		s.view.Out.Printf("\x1b[1A\x1b[J")
		seen.step = false
	}
	s.part("Mission brief", briefText(f), &seen.brief)
	s.part("Perspectives", proposalText(f), &seen.proposal)
	if f.State == "AWAIT" || f.State == "SPAWN" || f.State == "COLLECT" {
		s.display(f, seen)
	} else {
		seen.lines = 0
	}
	s.part("Perspective Reports", previewText(f), &seen.previews)
	s.part("Cross-Dialogue Outcomes", outcomeText(f), &seen.outcomes)
	s.part("Framed Analysis", term.Visible(f.Synthesis), &seen.synthesis)
	s.part("What each perspective gave", traceText(f), &seen.trace)
	remarks := ""
	for _, r := range f.Remarks {
		remarks += "  ⚠ " + term.Line(r) + "\n"
	}
	s.part("Worth a look", remarks, &seen.remarks)
	if slices.Contains(silent, f.State) && f.Trouble == "" && s.view.Out.Terminal {
		s.view.Out.Printf("%s\n", s.view.Out.Dim(term.Cut("… "+f.StateText+": "+term.Line(f.Waits), max(40, s.view.Out.Width))))
		seen.step = true
	}
}

// silent are the states in which nothing is asked and no members are shown. In these states a line
// says what is being done: a call of a language model takes minutes, and without a line it looks
// like a fault.
var silent = []string{"OPENED", "GATHER", "PROPOSE", "MAP", "PREVIEW", "DETECT", "DIALOGUE", "OUTCOMES", "SYNTHESIZE", "PRESENT", "TRACE"}

// part shows a part of an inquiry that is new, in lines that fit. A broken line keeps its
// indentation.
func (s *session) part(title, text string, seen *string) {
	if text == "" || text == *seen {
		return
	}
	*seen = text
	out := s.view.Out
	out.Printf("\n%s\n", out.Bold(title))
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		bare := strings.TrimLeft(line, " ")
		in := line[:len(line)-len(bare)]
		if !out.Terminal || bare == "" {
			out.Printf("%s\n", line)
			continue
		}
		for _, part := range term.Wrap(bare, max(20, out.Width-len(in))) {
			out.Printf("%s%s\n", in, part)
		}
	}
}

// display shows which agents work on what, and never what they find (R53). At a terminal it is
// redrawn; elsewhere each change is a new line.
func (s *session) display(f control.Frame, seen *told) {
	out := s.view.Out
	var lines []string
	plain := ""
	for _, m := range f.Members {
		plain += m.Perspective + " " + m.State + "\n"
		elapsed := ""
		switch {
		case m.Started.IsZero():
		case m.Ended.IsZero():
			elapsed = s.view.Now().Sub(m.Started).Round(time.Second).String()
		default:
			elapsed = m.Ended.Sub(m.Started).Round(time.Second).String()
		}
		lines = append(lines, fmt.Sprintf("  %s  %s  %s %s", term.Pad(term.Cut(term.Line(m.Perspective), 32), 32), term.Pad(term.Line(m.Agent), 20), m.State, elapsed))
		if m.State == "failed" && m.Problem != "" {
			lines = append(lines, "    "+term.Line(m.Problem))
		}
	}
	if plain == seen.members && !out.Terminal {
		return
	}
	if out.Terminal && seen.lines > 0 {
		out.Printf("\x1b[%dA\x1b[J", seen.lines)
	} else {
		out.Printf("\n%s\n", out.Bold("Investigating"))
	}
	seen.members, seen.lines = plain, len(lines)
	for _, line := range lines {
		if out.Width > 0 {
			line = term.Cut(line, out.Width) // a line that continues in the next one would be redrawn only in part
		}
		out.Printf("%s\n", line)
	}
}

func (s *session) over(f control.Frame) {
	out := s.view.Out
	switch f.State {
	case "RECOMMENDED":
		out.Printf("\n%s\n", out.Bold("Recommended: "+term.Line(strings.Join(f.Chosen, ", "))))
		out.Printf("  %s\n", report.Tier(f.Tier))
		out.Printf("  To have each investigated by itself: %s\n", s.view.Command("parley frame "+term.Shell(f.Question)+perspectives(f.Chosen)+" --mode inquire"))
		return
	case "WRAPPED_UP":
		out.Printf("\nWrapped up")
		if len(f.Findings) > 0 {
			out.Printf("; preserved: %s (parley memory list --tag frame)", term.Line(strings.Join(f.Findings, ", ")))
		}
		out.Printf(".\n")
	case "WITHDRAWN":
		out.Printf("\nWithdrawn: what there is stays in the record.\n")
	default:
		out.Printf("\nEnded at once.\n")
	}
	s.view.Steps("parley frame export "+f.ID, "the whole as a document", "parley frame verify "+f.ID, "prove it from git alone")
}

func perspectives(names []string) (flags string) {
	for _, n := range names {
		flags += " --perspective " + term.Shell(n)
	}
	return flags
}

func briefText(f control.Frame) string {
	text := ""
	if f.Brief.Intent == "" {
		return text
	}
	for _, part := range [][2]string{{"Intent", f.Brief.Intent}, {"Deliverable", f.Brief.Deliverable}, {"Scope", f.Brief.Scope}} {
		text += "  " + part[0] + ": " + term.Line(part[1]) + "\n"
	}
	return text
}

func proposalText(f control.Frame) string {
	text := ""
	if f.NoneProposed != "" {
		text += "  None was proposed: " + term.Line(f.NoneProposed) + "\n"
		if len(f.Base) > 0 { // else it would look as if what the human named were lost
			text += "  Yours are kept: " + term.Line(strings.Join(f.Base, ", ")) + "\n"
		}
	}
	for _, p := range f.Perspectives {
		text += "  " + term.Line(p.Name) + " — " + term.Line(p.Contribution) + " (in tension with " + term.Line(p.TensionWith) + ")\n"
	}
	return text
}

func previewText(f control.Frame) string {
	text := ""
	for _, g := range f.Previews {
		text += fmt.Sprintf("\n  %s: %s\n  %s\n  Horizon limits: %s\n", term.Line(g.Perspective), term.Line(g.Title), term.Line(g.Summary), term.Line(g.Limits))
		for _, flag := range g.Flags {
			text += "  ⚠ " + term.Line(g.Perspective) + ": " + term.Line(flag) + "\n"
		}
	}
	for _, m := range f.Members {
		if m.Degraded != "" && text != "" {
			text += "  ⚠ " + term.Line(m.Perspective) + ": " + term.Line(m.Degraded) + "\n"
		}
	}
	if text != "" {
		text += isolation(f.Members) + "  All that one found: parley frame show " + f.ID + " --member NAME\n"
	}
	if f.Detection != "" && text != "" {
		text += "\n  No dialogue: " + term.Line(f.Detection) + "\n"
	}
	return text
}

// isolation says how members were kept apart (R53).
func isolation(members []control.FrameMember) (text string) {
	for _, grade := range protocol.Grades() {
		var names []string
		for _, m := range members {
			if m.Grade == grade {
				names = append(names, term.Line(m.Perspective))
			}
		}
		if len(names) > 0 {
			text += "  Isolated by " + report.Grades()[grade] + ": " + strings.Join(names, ", ") + "\n"
		}
	}
	return text
}

func outcomeText(f control.Frame) string {
	text := ""
	for _, t := range f.Tensions {
		if t.Resolution == "" {
			continue
		}
		tension := "Tension"
		if !strings.HasPrefix(t.ID, "1.") { // in a later cycle, the same pair may talk about the same topic
			tension += " " + t.ID
		}
		text += fmt.Sprintf("\n  %s: %s\n  Peers: %s\n  Resolution: %s\n  Agreement strength: %s — %s\n", tension, term.Line(strings.Join(t.Topics, "; ")), term.Line(strings.Join(t.Peers, " vs ")),
			report.Resolutions()[t.Resolution], t.Strength, term.Line(t.Basis))
		for _, part := range [][2]string{{"Agreement", t.Agreement}, {"Divergence", t.Divergence}} {
			for line := range strings.Lines(part[1]) {
				text += "  - " + part[0] + ": " + term.Line(strings.TrimSpace(line)) + "\n"
			}
		}
	}
	return text
}

func traceText(f control.Frame) string {
	text := ""
	for _, r := range f.Trace {
		survived := "nothing that it alone found is in it"
		if r.Survived {
			survived = "what it alone found is in it"
		}
		text += fmt.Sprintf("  %s: %s; %s\n", term.Line(r.Perspective), term.Line(strings.Join(r.Sections, ", ")), survived)
		for _, gap := range r.Unaddressed {
			text += "    left open: " + term.Line(gap) + "\n"
		}
	}
	return text
}
