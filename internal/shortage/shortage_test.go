package shortage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// It prevents that an error which does not pass is waited for, or that one which passes is taken
// for a failure.
func TestOutlast(t *testing.T) {
	tries, told := 0, []error{}
	short := fmt.Errorf("cannot start: %w", &os.PathError{Op: "fork/exec", Path: "cat", Err: syscall.EAGAIN})
	err := Outlast(t.Context(), func(why error) { told = append(told, why) }, func() error {
		if tries++; tries < 3 {
			return short
		}
		return syscall.ENOENT
	})
	if err != syscall.ENOENT || tries != 3 || len(told) != 2 || told[0] != short || told[1] != nil {
		t.Errorf("%v after %d tries, told %v", err, tries, told)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := Outlast(ended, nil, func() error { return short }); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("ended: %v", err)
	}
}
