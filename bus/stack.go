package bus

import (
	"errors"
	"fmt"
	"slices"
)

// stack is what must be undone, the last thing first. Start fills it, and it is unwound once.
type stack []step

type step struct {
	name string
	undo func() error
}

func (s *stack) push(name string, undo func() error) { *s = append(*s, step{name, undo}) }

// unwind undoes everything, whatever fails on the way.
func (s *stack) unwind() error {
	var errs []error
	for _, last := range slices.Backward(*s) {
		if err := last.undo(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", last.name, err))
		}
	}
	return errors.Join(errs...)
}
