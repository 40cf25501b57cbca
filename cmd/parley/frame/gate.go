package frame

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// options shows all that a gate asks: each question, with its options in their order.
func (s *session) options(f control.Frame) error {
	form, err := FormOf(f)
	if err != nil {
		return err
	}
	out := s.view.Out
	out.Printf("\n")
	s.view.ShowAsker(f.Gate.Asker)
	opens(out, form.Opens)
	if f.Gate.Proposal != "" {
		out.Printf("\n%s\n", strings.Join(term.Wrap("The coordinator proposed: "+strconv.Quote(f.Gate.Proposal), out.Width), "\n"))
	}
	if f.Gate.Perspective != "" {
		out.Printf("\n%s\n", out.Bold(term.Line(f.Gate.Perspective)))
	}
	if f.Gate.Contested {
		s.view.Note("⚠ You said different things here. What you choose now holds; the rest is taken back.")
	}
	for _, q := range form.Questions {
		if q.Settled != "" {
			out.Printf("\n%s: %s\n", out.Bold(q.Title), labels[q.Settled])
			out.Printf("  %s\n", out.Dim("--mode asked for it, and your answer settles it. Another: parley frame answer "+f.ID+" --choose confirm --choose MODE"))
			continue
		}
		out.Printf("\n%s\n", out.Bold(term.Line(q.Title)))
		for i, o := range q.Options {
			s.option(i+1, o)
		}
	}
	if f.Gate.Cost != "" {
		out.Printf("%s\n", out.Dim("  "+strings.Join(term.Wrap(term.Line(f.Gate.Cost), max(0, out.Width-2)), "\n  ")))
	}
	return nil
}

// base are the perspectives that are chosen already. Those of an agent that began the inquiry can be
// whole sentences, so they stand in quotes.
func base(f control.Frame) []string {
	names := slices.Clone(f.Base)
	for i := range names {
		if !slices.Contains(f.Deciders, f.By) {
			names[i] = strconv.Quote(names[i])
		}
	}
	return names
}

func opens(out term.Screen, lines []string) {
	if len(lines) > 0 {
		out.Printf("\n%s\n", out.Bold("Your yes opens"))
	}
	for _, line := range lines {
		out.Printf("  %s\n", term.Line(line))
	}
}

func (s *session) option(n int, o Option) {
	s.view.Out.Printf("  %d  %s\n", n, term.Line(o.Label))
	if o.About == "" {
		return
	}
	for _, line := range term.Wrap(term.Line(o.About), max(0, s.view.Out.Width-7)) {
		s.view.Out.Printf("     %s\n", s.view.Out.Dim(line))
	}
}

const modeQuestion = "mode"

// askedMode returns the mode with which the inquiry was begun, at the gate that asks for the mode; ""
// for none. At other gates a perspective can have the name of that question.
func askedMode(gate string, f control.Frame) string {
	if gate != protocol.GateBrief {
		return ""
	}
	return f.AskedMode
}

// choose asks a human at the terminal what they decide at a gate of the inquiry `f`. `ok` is false if
// they decide nothing.
func (s *session) choose(ctx context.Context, in *bufio.Reader, w protocol.InquiryGate, f control.Frame) (chosen []protocol.InquiryChoice, text string, ok bool, err error) {
	said := map[string][]string{}
	s.escapes = slices.Contains(keysOf(w), "esc")
	for _, q := range w.Questions {
		if mode := askedMode(w.Gate, f); q.ID == modeQuestion && mode != "" {
			chosen = append(chosen, protocol.InquiryChoice{Question: q.ID, Options: []string{mode}})
			continue
		}
		if w.Gate == protocol.GateExtend && q.ID == "perspective" && (len(said["onwards"]) == 0 || said["onwards"][0] != "deepen") {
			continue
		}
		keys, ok, err := s.pick(ctx, in, w.Gate, q)
		if err != nil || !ok {
			return nil, "", false, err
		}
		said[q.ID] = keys
		chosen = append(chosen, protocol.InquiryChoice{Question: q.ID, Options: keys})
	}
	if b := freely(w.Gate, said); b.question != "" {
		for {
			line, err := s.line(ctx, in, b.typed()+" ")
			if err != nil {
				return nil, "", false, err
			}
			if text = strings.TrimSpace(line); text == "q" {
				s.left = text
				return nil, "", false, nil
			}
			if text != "" || !b.must {
				break
			}
		}
		if b.names {
			text = perLine(text)
		}
	}
	if w.Gate == protocol.GatePerspectives && len(said["perspectives"])+len(f.Base) == 0 && text == "" { // so that the passphrase is not asked for in vain
		s.view.Out.Printf("%s\n", s.view.Out.Warn("choose one at least, or name one of your own"))
		return s.choose(ctx, in, w, f)
	}
	return chosen, text, true, nil
}

// perLine changes a list that was typed with commas into one with an item on each line.
func perLine(text string) string {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, "\n")
}

// pick asks one question until it gets a valid answer.
func (s *session) pick(ctx context.Context, in *bufio.Reader, gate string, q protocol.InquiryQuestion) (keys []string, ok bool, err error) {
	hint, later := "number, ", "q: later"
	if q.Multi {
		hint = "numbers, separated by spaces; "
	}
	if s.walk {
		later = "s: skip, q: quit"
	}
	if s.walk && q.Multi {
		hint += "0: none; "
	}
	for {
		line, err := s.line(ctx, in, fmt.Sprintf("%s [%s%s] ", strings.TrimSuffix(ask(gate, q.ID), "?"), hint, later))
		if err != nil {
			return nil, false, err
		}
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
		word := strings.Join(words, " ")
		if word == "q" || s.walk && word == "s" {
			s.left = word
			return nil, false, nil
		}
		if s.walk && q.Multi && word == "0" {
			return nil, true, nil
		}
		keys, why := numbered(q, words)
		if s.walk && word == "" {
			why = "nothing is chosen yet"
		}
		if why == "" && (q.Multi || len(keys) == 1) {
			return keys, true, nil
		}
		why = cmp.Or(why, "choose one")
		s.view.Out.Printf("%s\n", s.view.Out.Warn(why))
	}
}

func numbered(q protocol.InquiryQuestion, words []string) (keys []string, why string) {
	for _, w := range words {
		n, err := strconv.Atoi(w)
		i := n - 1
		if err != nil {
			i = slices.IndexFunc(q.Options, func(o protocol.InquiryOption) bool { return strings.EqualFold(o.Key, w) })
		}
		if i < 0 || i >= len(q.Options) {
			return nil, fmt.Sprintf("%q is none of 1 to %d", w, len(q.Options))
		}
		if key := q.Options[i].Key; !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return place(q, a) - place(q, b) })
	return keys, ""
}

func place(q protocol.InquiryQuestion, key string) int {
	return slices.IndexFunc(q.Options, func(o protocol.InquiryOption) bool { return o.Key == key })
}

// line asks for a line of text. Ctrl-C ends the wait. Esc is "q", and so is the word, unless it is an
// option there.
func (s *session) line(ctx context.Context, in *bufio.Reader, question string) (string, error) {
	var line string
	var err error
	if s.p != nil && term.IsTerminal(s.p.Stdin) {
		line, err = term.Typed(ctx, s.p.Stdin, s.view.Err.Writer, question)
	} else {
		s.view.Err.Printf("%s", question)
		line, err = cli.Line(ctx, in)
	}
	if err != nil && err == ctx.Err() {
		return "", err
	}
	if err == io.EOF && line != "" {
		err = nil
	}
	if line = strings.TrimRight(line, "\r\n"); err == term.ErrLeft || strings.HasSuffix(line, "\x1b") || !s.escapes && strings.EqualFold(line, "esc") {
		return "q", nil
	}
	if err != nil {
		return "", fmt.Errorf("nobody is here to be asked: %w", err)
	}
	return line, nil
}

// flagged returns the options that flags choose, in the form QUESTION=OPTION,…. An OPTION without a
// question belongs to the first question that has it. If the flags name no mode, it is `mode`; "" for
// none.
func flagged(w protocol.InquiryGate, flags []string, mode string) (chosen []protocol.InquiryChoice, err error) {
	by := map[string][]string{}
	for _, flag := range flags {
		id, list, named := strings.Cut(flag, "=")
		if named && slices.ContainsFunc(w.Questions, func(q protocol.InquiryQuestion) bool { return q.ID == id }) {
			by[id] = append(by[id], splitOptions(list)...)
			continue
		}
		i := slices.IndexFunc(w.Questions, func(q protocol.InquiryQuestion) bool {
			_, why := keyed(q, flag)
			return why == ""
		})
		if i < 0 {
			return nil, control.Errorf(control.KindUsage, "they are: "+strings.Join(keysOf(w), ", "), "%q is no option of the gate", flag)
		}
		by[w.Questions[i].ID] = append(by[w.Questions[i].ID], flag)
	}
	if len(by[modeQuestion]) == 0 && mode != "" {
		by[modeQuestion] = []string{mode}
	}
	for _, q := range w.Questions {
		var keys []string
		for _, word := range by[q.ID] {
			key, why := keyed(q, word)
			if why != "" {
				return nil, control.Errorf(control.KindUsage, "they are: "+strings.Join(keysOf(w), ", "), "%s", why)
			}
			keys = append(keys, key)
		}
		if len(keys) > 0 || q.Multi {
			chosen = append(chosen, protocol.InquiryChoice{Question: q.ID, Options: keys})
		}
	}
	return chosen, nil
}

func splitOptions(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func keyed(q protocol.InquiryQuestion, word string) (key, why string) {
	for _, o := range q.Options {
		if strings.EqualFold(o.Key, strings.TrimSpace(word)) {
			return o.Key, ""
		}
	}
	return "", fmt.Sprintf("%q is no option of %q", word, q.ID)
}

func keysOf(w protocol.InquiryGate) (keys []string) {
	for _, q := range w.Questions {
		for _, o := range q.Options {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

// decide asks a human at the terminal, and writes what they decide. `done` is false if they decide
// nothing now. What was answered elsewhere meanwhile is not decided: it counts as done.
func (s *session) decide(ctx context.Context, in *bufio.Reader, f control.Frame, seen *told) (next control.Frame, done bool, err error) {
	if err := s.options(f); err != nil {
		return f, false, err
	}
	w, err := asked(f.Gate)
	if err != nil {
		return f, false, err
	}
	chosen, text, ok, err := s.choose(ctx, in, w, f)
	if err != nil || !ok {
		return f, false, err
	}
	if slices.ContainsFunc(chosen, func(c protocol.InquiryChoice) bool { return slices.Contains(c.Options, "review") }) {
		seen.review() // else only the gate would come again, with nothing before it
	}
	if now, changed, err := s.changed(ctx, f); err != nil || changed {
		return now, err == nil, err
	}
	next, err = s.answer(ctx, f, chosen, text)
	return next, err == nil, err
}

// changed reports whether another gate is open than that which was shown, and says so. `now` is how
// the inquiry stands.
func (s *session) changed(ctx context.Context, f control.Frame) (now control.Frame, changed bool, err error) {
	now, err = s.show(ctx, f.Channel.String(), "", 0)
	if changed = err == nil && !reflect.DeepEqual(now.Gate, f.Gate); changed {
		s.view.Out.Printf("%s\n", s.view.Out.Warn("It was answered or changed meanwhile: you decided nothing."))
	}
	return now, changed, err
}

// agrees shows the whole gate and what was chosen beforehand, and asks the human at the terminal
// whether that is what they decide. They see what they sign, also where something else has chosen.
func (s *session) agrees(ctx context.Context, f control.Frame, chosen []protocol.InquiryChoice, text string) error {
	said := *s
	said.view.Out, said.view.JSON = s.view.Err, false
	said.head(f)
	said.news(f, &told{})
	if err := said.options(f); err != nil {
		return err
	}
	out := said.view.Out
	out.Printf("\n%s\n", out.Bold("Chosen"))
	for _, c := range chosen {
		names := []string{}
		for _, key := range c.Options {
			names = append(names, cmp.Or(labels[key], key))
		}
		out.Printf("  %s: %s\n", term.Line(ask(f.Gate.Gate, c.Question)), cli.Dash(term.Line(strings.Join(names, ", "))))
	}
	for _, line := range strings.Split(text, "\n") {
		if line != "" {
			out.Printf("  %s\n", strings.Join(term.Wrap("> "+term.Line(line), max(0, out.Width-2)), "\n  "))
		}
	}
	if !s.p.Confirm(ctx, "Decide it like this? [y/N] ") {
		s.view.Out.Printf("Nothing was decided.\n")
		return cli.ExitCode(1)
	}
	if _, changed, err := said.changed(ctx, f); err != nil || changed {
		return cmp.Or(err, error(cli.ExitCode(1)))
	}
	return nil
}
