package gitsync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
)

// renamedError says that the remote's main has another name now.
type renamedError struct{ branch string }

func (e *renamedError) Error() string {
	return fmt.Sprintf("the branch main was renamed there: it is called %s", carrier.OneLine(e.branch))
}

// renamed returns a *renamedError if the remote had main and has it under another name: a branch
// with what main had, or one that is not known here and that HEAD names. Main is not made again
// then, because those who use plain git would go on in the other branch, unread.
func (s *sharer) renamed(ctx context.Context) error {
	known, _ := s.progress.remote()
	if known == objects.Zero {
		return nil
	}
	heads, err := s.git.Heads(ctx)
	if err != nil || len(heads) == 0 || errors.Is(carrier.LacksMain(heads), ErrUnfit) {
		return err
	}
	var strangers []string
	for _, name := range slices.Sorted(maps.Keys(heads)) {
		switch has, err := s.store.IsAncestor(known, heads[name]); {
		case errors.Is(err, objects.ErrNotFound):
			strangers = append(strangers, name)
		case err != nil:
			return err
		case has:
			return &renamedError{name}
		}
	}
	if len(strangers) == 0 {
		return nil
	}
	head, err := s.git.Head(ctx)
	if name := strings.TrimPrefix(head, "refs/heads/"); err == nil && slices.Contains(strangers, name) {
		return &renamedError{name}
	}
	return err
}
