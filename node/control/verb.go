package control

import (
	"context"
	"reflect"
)

// VerbSpec is all that there is to know of a verb besides its types. The server, the
// client and the page about verbs are made from the table of these alone, Verbs.
type VerbSpec struct {
	Name   string // as it stands in the path of a request
	Access Access // what a request does, and so who may make it
	Doc    string // what it does, in one line
	// Doing is the same after the word cannot; "": its name.
	Doing string
	// Long verbs may take any time; they end when the server begins to drain.
	Long bool
	// AnyAPI verbs may be asked of an older node by a newer command: with them its
	// operator finds out and replaces it.
	AnyAPI bool

	// What NewVerb and its like add.

	Request, Answer reflect.Type // of a stream: each of its answers
	Stream          bool         // it has any number of answers
	// ReadsWhere says which requests only read, whatever Access says; "": none.
	ReadsWhere string

	onlyReads func(request any) bool // nil: none
	goesOn    func(request any) bool // of a stream: answers come until the asker ends
}

// Verb is a request Q that has one answer A.
type Verb[Q, A any] struct{ VerbSpec }

// Question is a verb whose request says nothing.
type Question[A any] struct{ Verb[None, A] }

// Stream is a request Q that has any number of answers A.
type Stream[Q, A any] struct{ VerbSpec }

// None is the request or the answer of a verb that has none.
type None struct{}

// NewVerb makes a verb.
func NewVerb[Q, A any](spec VerbSpec) Verb[Q, A] {
	spec.Request, spec.Answer = reflect.TypeFor[Q](), reflect.TypeFor[A]()
	return Verb[Q, A]{spec}
}

// NewQuestion makes a verb whose request says nothing.
func NewQuestion[A any](spec VerbSpec) Question[A] {
	return Question[A]{NewVerb[None, A](spec)}
}

// NewStream makes a verb with any number of answers. Of a request that goes on, each is
// sent at once, and they end when whoever asks ends them.
func NewStream[Q, A any](spec VerbSpec, goesOn func(Q) bool) Stream[Q, A] {
	v := NewVerb[Q, A](spec)
	v.Stream = true
	v.goesOn = func(request any) bool { return goesOn(request.(Q)) }
	return Stream[Q, A](v)
}

// reading is the verb with requests that only read; words say which these are.
func (v Verb[Q, A]) reading(words string, where func(Q) bool) Verb[Q, A] {
	v.ReadsWhere = words
	v.onlyReads = func(request any) bool { return where(request.(Q)) }
	return v
}

// Service answers verbs: a node in process, or a Client over its socket. It is asked
// through them: Send.Ask(ctx, service, request). Every error is an *Error. Paths in
// requests are text as a person gives it: "<uuid>/…/NAME.md", with "data/channels/"
// before it or not, or the unique eight hex digits of its name (R2).
type Service interface {
	// Answer calls yield with what answers a request of the verb's type: once, or of a
	// stream with one answer after the other until yield fails.
	Answer(ctx context.Context, v VerbSpec, request any, yield func(answer any) error) error
}

// Ask asks s and returns its answer.
func (v Verb[Q, A]) Ask(ctx context.Context, s Service, r Q) (answer A, err error) {
	err = s.Answer(ctx, v.VerbSpec, r, func(a any) error {
		answer = a.(A)
		return nil
	})
	return answer, err
}

// Ask asks s and returns its answer.
func (v Question[A]) Ask(ctx context.Context, s Service) (A, error) {
	return v.Verb.Ask(ctx, s, None{})
}

// Ask calls yield with the answers of s. It stops at yield's first error and returns it.
func (v Stream[Q, A]) Ask(ctx context.Context, s Service, r Q, yield func(A) error) error {
	return s.Answer(ctx, v.VerbSpec, r, func(a any) error { return yield(a.(A)) })
}

// Binding is a verb and what answers it.
type Binding struct {
	verb   string
	answer func(ctx context.Context, by Caller, request any, yield func(answer any) error) error
}

// By binds the verb to what answers it, the same to everybody.
func (v Verb[Q, A]) By(answer func(context.Context, Q) (A, error)) Binding {
	return v.For(func(ctx context.Context, _ Caller, r Q) (A, error) { return answer(ctx, r) })
}

// For binds the verb to what answers it for a caller, who is told by the door and never
// by the request.
func (v Verb[Q, A]) For(answer func(context.Context, Caller, Q) (A, error)) Binding {
	return Binding{v.Name, func(ctx context.Context, by Caller, request any, yield func(any) error) error {
		a, err := answer(ctx, by, request.(Q))
		if err != nil {
			return err
		}
		return yield(a)
	}}
}

// By binds the verb to what answers it.
func (v Question[A]) By(answer func(context.Context) (A, error)) Binding {
	return v.Verb.By(func(ctx context.Context, _ None) (A, error) { return answer(ctx) })
}

// For binds the verb to what answers it for a caller.
func (v Question[A]) For(answer func(context.Context, Caller) (A, error)) Binding {
	return v.Verb.For(func(ctx context.Context, by Caller, _ None) (A, error) { return answer(ctx, by) })
}

// By binds the verb to what answers it.
func (v Stream[Q, A]) By(answer func(ctx context.Context, r Q, yield func(A) error) error) Binding {
	return v.For(func(ctx context.Context, _ Caller, r Q, yield func(A) error) error { return answer(ctx, r, yield) })
}

// For binds the verb to what answers it for a caller.
func (v Stream[Q, A]) For(answer func(ctx context.Context, by Caller, r Q, yield func(A) error) error) Binding {
	return Binding{v.Name, func(ctx context.Context, by Caller, request any, yield func(any) error) error {
		return answer(ctx, by, request.(Q), func(a A) error { return yield(a) })
	}}
}

// Answers is a Service made of bindings, by the names of their verbs.
type Answers map[string]Binding

// Bind makes a Service that answers some verbs. Of two bindings of a verb the later
// one counts.
func Bind(bindings ...Binding) Answers {
	answers := Answers{}
	for _, b := range bindings {
		answers[b.verb] = b
	}
	return answers
}

// BindAll makes a Service that answers every verb of the table. It fails where one is
// bound to nothing or twice, or is not in the table.
func BindAll(bindings ...Binding) (Answers, error) {
	bound := map[string]int{}
	for _, b := range bindings {
		bound[b.verb]++
	}
	for _, v := range Verbs() {
		if bound[v.Name] != 1 {
			return nil, Errorf(KindFailed, "", "the verb %s is bound %d times, not once", v.Name, bound[v.Name])
		}
		delete(bound, v.Name)
	}
	for name := range bound {
		return nil, Errorf(KindFailed, "", "the verb %s is not in the table of verbs", name)
	}
	return Bind(bindings...), nil
}

// AnswerTo has the verb's binding answer a caller. Only doors say who that is.
func (a Answers) AnswerTo(ctx context.Context, by Caller, v VerbSpec, request any, yield func(any) error) error {
	b, bound := a[v.Name]
	if !bound {
		return Errorf(KindFailed, "", "nothing here answers %s", v.Name)
	}
	return b.answer(ctx, by, request, yield)
}

// Answer answers the program itself, and that is its operator.
func (a Answers) Answer(ctx context.Context, v VerbSpec, request any, yield func(any) error) error {
	return a.AnswerTo(ctx, Itself(), v, request, yield)
}
