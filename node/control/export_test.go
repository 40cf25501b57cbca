package control

import (
	"context"
	"reflect"
)

// AnswerNothing answers every verb with an empty answer.
func AnswerNothing() Answers {
	answers := Answers{}
	for _, v := range Verbs() {
		answers[v.Name] = Binding{v.Name, func(_ context.Context, _ Caller, _ any, yield func(any) error) error {
			return yield(reflect.Zero(v.Answer).Interface())
		}}
	}
	return answers
}
