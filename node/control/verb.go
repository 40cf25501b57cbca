package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// VerbSpec is all that there is to know of a verb besides its types. The server, the client and the
// page about verbs are made from the table of these alone: Verbs.
type VerbSpec struct {
	Name   string // name in the path of a request
	Access Access // what a request does, which decides who may make it
	Doc    string // what it does, in one line
	// Doing is the same in the form that stands after "cannot"; "": its name.
	Doing string
	// Long verbs may take any time. They end when the server begins to drain.
	Long bool
	// AnyAPI verbs may be asked of an older node by a newer command. With them, an operator finds
	// out about such a node and replaces it.
	AnyAPI bool
	// Local verbs bring nothing that a request says into the record, so it may say secrets: the
	// environment of an agent, the address of a notification.
	Local bool

	// Set by NewVerb, NewQuestion and NewStream.

	Request, Answer reflect.Type // for a stream, Answer is the type of each answer
	Stream          bool         // it has any number of answers
	// ReadsWhere says which requests only read, whatever Access says; "": none.
	ReadsWhere string

	onlyReads func(request any) bool // nil: none
	goesOn    func(request any) bool // for a stream: whether answers come until the caller ends it
}

// Verb is a verb with a request Q and one answer A.
type Verb[Q, A any] struct{ VerbSpec }

// Question is a verb without a request.
type Question[A any] struct{ Verb[None, A] }

// Stream is a verb with a request Q and any number of answers A.
type Stream[Q, A any] struct{ VerbSpec }

// None is the request or the answer of a verb that has none.
type None struct{}

// NewVerb makes a verb.
func NewVerb[Q, A any](spec VerbSpec) Verb[Q, A] {
	spec.Request, spec.Answer = reflect.TypeFor[Q](), reflect.TypeFor[A]()
	return Verb[Q, A]{spec}
}

// NewQuestion makes a verb without a request.
func NewQuestion[A any](spec VerbSpec) Question[A] {
	return Question[A]{NewVerb[None, A](spec)}
}

// NewStream makes a verb with any number of answers. If `goesOn` is true for a request, each answer
// is sent at once, and they go on until the caller ends them.
func NewStream[Q, A any](spec VerbSpec, goesOn func(Q) bool) Stream[Q, A] {
	v := NewVerb[Q, A](spec)
	v.Stream = true
	v.goesOn = func(request any) bool { return goesOn(request.(Q)) }
	return Stream[Q, A](v)
}

// reading is the verb with requests that only read: those for which `where` is true. `words` says
// which these are.
func (v Verb[Q, A]) reading(words string, where func(Q) bool) Verb[Q, A] {
	v.ReadsWhere = words
	v.onlyReads = func(request any) bool { return where(request.(Q)) }
	return v
}

// Service answers verbs: a node in process, or a Client over its socket. It is asked through the
// verbs: Send.Ask(ctx, service, request). Every error is an *Error. Paths in requests are text in
// the form that a person gives: "<uuid>/…/NAME.md", with or without "data/channels/" before it, or
// the eight hex digits of its name if they are unique (R2).
type Service interface {
	// Answer calls `yield` with the answer to a request of the verb's type. For a stream, it calls
	// `yield` with one answer after the other, until `yield` fails.
	Answer(ctx context.Context, v VerbSpec, request any, yield func(answer any) error) error
}

// Ask asks s and returns its answer.
func (v *Verb[Q, A]) Ask(ctx context.Context, s Service, r Q) (answer A, err error) {
	err = s.Answer(ctx, v.VerbSpec, r, func(a any) error {
		answer = a.(A)
		return nil
	})
	return answer, err
}

// Ask asks s and returns its answer.
func (v *Question[A]) Ask(ctx context.Context, s Service) (A, error) {
	return v.Verb.Ask(ctx, s, None{})
}

// Ask calls `yield` with the answers of `s`. It stops at the first error of `yield` and returns it.
func (v *Stream[Q, A]) Ask(ctx context.Context, s Service, r Q, yield func(A) error) error {
	return s.Answer(ctx, v.VerbSpec, r, func(a any) error { return yield(a.(A)) })
}

// Binding is a verb, and the function that answers it.
type Binding struct {
	verb   string
	answer func(ctx context.Context, by Caller, request any, yield func(answer any) error) error
}

// By binds the verb to a function whose answer is the same for every caller.
func (v *Verb[Q, A]) By(answer func(context.Context, Q) (A, error)) Binding {
	return v.For(func(ctx context.Context, _ Caller, r Q) (A, error) { return answer(ctx, r) })
}

// For binds the verb to a function whose answer depends on the caller. The door says who calls, and
// never the request.
func (v *Verb[Q, A]) For(answer func(context.Context, Caller, Q) (A, error)) Binding {
	return Binding{v.Name, func(ctx context.Context, by Caller, request any, yield func(any) error) error {
		a, err := answer(ctx, by, request.(Q))
		if err != nil {
			return err
		}
		return yield(a)
	}}
}

// By binds the verb to a function that answers it.
func (v *Question[A]) By(answer func(context.Context) (A, error)) Binding {
	return v.Verb.By(func(ctx context.Context, _ None) (A, error) { return answer(ctx) })
}

// For binds the verb to a function whose answer depends on the caller.
func (v *Question[A]) For(answer func(context.Context, Caller) (A, error)) Binding {
	return v.Verb.For(func(ctx context.Context, by Caller, _ None) (A, error) { return answer(ctx, by) })
}

// By binds the verb to a function that answers it.
func (v *Stream[Q, A]) By(answer func(ctx context.Context, r Q, yield func(A) error) error) Binding {
	return v.For(func(ctx context.Context, _ Caller, r Q, yield func(A) error) error { return answer(ctx, r, yield) })
}

// For binds the verb to a function whose answer depends on the caller.
func (v *Stream[Q, A]) For(answer func(ctx context.Context, by Caller, r Q, yield func(A) error) error) Binding {
	return Binding{v.Name, func(ctx context.Context, by Caller, request any, yield func(any) error) error {
		return answer(ctx, by, request.(Q), func(a A) error { return yield(a) })
	}}
}

// Answers is a Service made of bindings, by the names of their verbs.
type Answers map[string]Binding

// Bind makes a Service that answers some verbs. If a verb has two bindings, the later one counts.
func Bind(bindings ...Binding) Answers {
	answers := Answers{}
	for _, b := range bindings {
		answers[b.verb] = b
	}
	return answers
}

// BindAll is Bind for every verb of the table, each bound once, with errors as `kind` makes them. An
// error of whom an answer is told to stays as it is.
func BindAll(kind func(error) error, bindings ...Binding) (Answers, error) {
	bound := map[string]int{}
	for i, b := range bindings {
		bound[b.verb]++
		bindings[i].answer = func(ctx context.Context, by Caller, request any, yield func(any) error) error {
			var told error
			err := b.answer(ctx, by, request, func(answer any) error {
				told = yield(answer)
				return told
			})
			if told != nil && errors.Is(err, told) {
				return err
			}
			return kind(err)
		}
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

// AnswerTo has the verb's binding answer a caller. Only doors say who calls.
func (a Answers) AnswerTo(ctx context.Context, by Caller, v VerbSpec, request any, yield func(any) error) error {
	b, bound := a[v.Name]
	if !bound {
		return Errorf(KindFailed, "", "nothing here answers %s", v.Name)
	}
	return b.answer(ctx, by, request, yield)
}

// Answer answers the program itself, which counts as its operator.
func (a Answers) Answer(ctx context.Context, v VerbSpec, request any, yield func(any) error) error {
	return a.AnswerTo(ctx, Itself(), v, request, yield)
}

// Seconds is a length of time that stands in JSON as a number of seconds, so that every program can
// read it: 0.25, and never 250ms or 250000000.
type Seconds time.Duration

// Duration returns the seconds as a time.Duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) }

// String returns the seconds as a text for people.
func (s Seconds) String() string { return time.Duration(s).String() }

// MarshalJSON writes the seconds, without an exponent.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Seconds(), 'f', -1, 64), nil
}

// UnmarshalJSON reads a number of seconds, exact to the nanosecond.
func (s *Seconds) UnmarshalJSON(data []byte) error {
	var seconds float64
	if err := json.Unmarshal(data, &seconds); err != nil {
		return fmt.Errorf("cannot read a length of time: %w", err)
	}
	nanoseconds := math.Round(seconds * float64(time.Second))
	if math.Abs(nanoseconds) >= math.MaxInt64 {
		return fmt.Errorf("cannot read a length of time: %g seconds are too many", seconds)
	}
	*s = Seconds(nanoseconds)
	return nil
}
