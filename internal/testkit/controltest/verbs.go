package controltest

import (
	"errors"
	"reflect"

	"github.com/parleyfleet/parley/node/control"
)

// errEnough ends a stream that may have no end of its own.
var errEnough = errors.New("enough")

// testEveryVerb calls every verb with an empty request, and a stream for one answer. The last verb
// of the table is Stop.
func testEveryVerb(s *suite) {
	for _, v := range control.Verbs() {
		answers := 0
		err := s.service.Answer(s.ctx, v, reflect.Zero(v.Request).Interface(), func(answer any) error {
			if answers++; reflect.TypeOf(answer) != v.Answer {
				s.Errorf("%s: answered with %T, want %s", v.Name, answer, v.Answer)
			}
			if v.Stream {
				return errEnough
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			continue
		}
		if err == nil && !v.Stream && answers != 1 {
			s.Errorf("%s: %d answers, want one", v.Name, answers)
		}
		var e *control.Error
		if err != nil && (!errors.As(err, &e) || e.Kind == control.KindFailed || e.Kind == control.KindOldNode) {
			s.Errorf("%s: an empty request fails with %v (%T)", v.Name, err, err)
		}
	}
}
