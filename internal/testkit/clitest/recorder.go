// Package clitest runs commands of parley in tests. They run against a [Recorder] instead of a
// node, and at a terminal of a chosen width. The answers have values that are wide, hostile or
// many.
package clitest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"sync"

	"github.com/parleyfleet/parley/node/control"
)

// Recorder is a Service that writes down what it was asked. It gives the answers that the test has
// prepared, and else the zero value of the verb's answer.
type Recorder struct {
	Asked   []string // without what says nothing of the command line: which agents and hosts there are, what happens
	Failure error    // of every verb

	mu      sync.Mutex // guards Asked while commands run
	answers control.Answers
}

// Note writes down a question in the form of Asked: the verb, and its request in JSON.
func (r *Recorder) Note(verb string, request any) {
	data, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Asked = append(r.Asked, verb+" "+string(data))
}

// By has functions of the test answer verbs.
func (r *Recorder) By(bindings ...control.Binding) {
	if r.answers == nil {
		r.answers = control.Answers{}
	}
	maps.Copy(r.answers, control.Bind(bindings...))
}

// On prepares the answer to a verb, or the error with which it fails.
func On[Q, A any](r interface{ By(...control.Binding) }, v control.Verb[Q, A], answer A, failure ...error) {
	r.By(v.By(func(context.Context, Q) (A, error) { return answer, errors.Join(failure...) }))
}

// HasMail prepares the messages of the verbs that list some.
func (r *Recorder) HasMail(all []control.Message) {
	On(r, control.Inbox, all)
	On(r, control.Replies, all)
	r.By(control.Log.By(func(_ context.Context, _ control.LogRequest, yield func(control.Message) error) error {
		for _, m := range all {
			if err := yield(m); err != nil {
				return err
			}
		}
		return nil
	}))
}

// HasMessage prepares the message that is sent, read and shown, and the talk in its channel.
func (r *Recorder) HasMessage(m control.Message) {
	On(r, control.Send, m)
	On(r, control.Read, m)
	On(r, control.Show, m)
	r.By(control.FindTalk.By(func(_ context.Context, q control.TalkRequest) (control.Talk, error) {
		return control.Talk{As: cmp.Or(q.As, SomeStatus().Human.String()), Channel: m.Channel, Begun: true}, nil
	}))
}

// Answer implements control.Service.
func (r *Recorder) Answer(ctx context.Context, v control.VerbSpec, request any, yield func(any) error) error {
	switch request.(type) {
	case control.None, control.HostsRequest, control.EventsRequest:
	default:
		r.Note(v.Name, request)
	}
	if r.Failure != nil {
		return r.Failure
	}
	if _, prepared := r.answers[v.Name]; prepared {
		return r.answers.Answer(ctx, v, request, yield)
	}
	if v.Stream {
		return nil
	}
	return yield(reflect.Zero(v.Answer).Interface())
}
