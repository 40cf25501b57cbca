package frame

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Form is what a gate of an inquiry asks, in the words that a human is shown.
type Form struct {
	Gate      string
	Opens     []string // what a yes has read, and who may be given it
	Questions []Question
	Words     []string // what is asked for in one's own words, given some of the options
}

// Question is one question of a form.
type Question struct {
	ID, Title string
	Multi     bool   // several options can be chosen
	Optional  bool   // only some answers to the one before ask it
	Settled   string // the option with which the inquiry was begun; "" for none
	Options   []Option
}

// Option is what can be chosen.
type Option struct{ Key, Label, About string }

// FormOf returns the form of the open gate of an inquiry, as the gate's own message has it.
func FormOf(f control.Frame) (Form, error) {
	w, err := asked(f.Gate)
	if err != nil {
		return Form{}, err
	}
	form := Form{Gate: w.Gate, Opens: opensOf(w)}
	for _, q := range w.Questions {
		next := Question{ID: q.ID, Title: ask(w.Gate, q.ID), Multi: q.Multi, Optional: w.Gate == protocol.GateExtend && q.ID == "perspective"}
		if q.ID == modeQuestion {
			next.Settled = askedMode(w.Gate, f)
		}
		if w.Gate == protocol.GatePerspectives && len(f.Base) > 0 {
			next.Title = "Base: " + strings.Join(base(f), ", ") + ". Which additional lenses?"
		}
		for _, o := range q.Options {
			next.Options = append(next.Options, Option{o.Key, cmp.Or(labels[o.Key], o.Key), cmp.Or(o.About, abouts[o.Key])})
			b := freely(w.Gate, map[string][]string{q.ID: {o.Key}})
			if b.names {
				b.question += ", one a line"
			}
			if b.question != "" && !slices.Contains(form.Words, b.question) {
				form.Words = append(form.Words, b.question)
			}
		}
		form.Questions = append(form.Questions, next)
	}
	return form, nil
}

func opensOf(w protocol.InquiryGate) []string {
	return slices.DeleteFunc(strings.Split(w.Opens(), "\n"), func(line string) bool { return line == "" })
}
