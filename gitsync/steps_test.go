package gitsync

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// These are variables for the killed child of the failpoint tests. In the child, two hosts that
// share one remote go through everything that writes, one step after the other.
const (
	stepsHome   = "PARLEY_TEST_STEPS_HOME" // holds the homes a and b
	stepsRemote = "PARLEY_TEST_STEPS_REMOTE"
)

// stepsMessage returns message n of a home. Message 4 fills a pack. Message 2 has the same path in
// both homes, and another content in each.
func stepsMessage(home string, n int) MessageFile {
	writer := map[string]int{"a": 1, "b": 2}[home]
	l := testMessage(writer, n)
	switch n {
	case 2:
		l.Path = testPath(3, n)
	case 4:
		noise := make([]byte, 2500<<10)
		_, _ = rand.NewChaCha8([32]byte{byte(writer)}).Read(noise) // never fails
		l.Data = noise
	}
	return l
}

const stepsMessages = 6

// stepsChild prints "try HOME N" before it stores a message and "ok HOME N" after.
func stepsChild(dir string) error {
	ctx := context.Background()
	homes := map[string]*Record{}
	for _, name := range []string{"a", "b"} {
		r, err := Open(ctx, stepsOptions(dir, name, os.Getenv(stepsRemote), os.Getenv(crashBuiltin) != ""))
		if err != nil {
			return err
		}
		homes[name] = r
	}
	for n := range stepsMessages {
		for _, name := range []string{"b", "a"} {
			fmt.Println("try", name, n)
			if err := homes[name].Append(ctx, []MessageFile{stepsMessage(name, n)}); err != nil {
				return err
			}
			fmt.Println("ok", name, n)
		}
		// Both commit before either knows of the other's commit. So the second one must unite them.
		for _, name := range []string{"b", "a"} {
			if err := homes[name].main.commit(ctx, true); err != nil {
				return err
			}
		}
		for _, name := range []string{"b", "a"} {
			r := homes[name]
			r.share.mu.Lock()
			err := r.share.pushUntilTaken(ctx)
			r.share.mu.Unlock()
			if err != nil {
				return err
			}
		}
		if err := homes["a"].WriteFile(ctx, "local/notes.md", fmt.Appendf(nil, "note %d\n", n)); err != nil {
			return err
		}
	}
	if err := stepsJoin(ctx, homes["a"]); err != nil {
		return err
	}
	var errs []error
	for _, name := range []string{"b", "a"} {
		errs = append(errs, homes[name].Sync(ctx), homes[name].Close())
	}
	return errors.Join(errs...)
}

// stepsJoin makes so many packs that they are joined.
func stepsJoin(ctx context.Context, r *Record) error {
	for n := stepsMessages; n < stepsMessages+9; n++ {
		fmt.Println("try a", n)
		if err := r.Append(ctx, []MessageFile{stepsMessage("a", n)}); err != nil {
			return err
		}
		fmt.Println("ok a", n)
		if err := errors.Join(r.main.commit(ctx, true), r.store.Seal()); err != nil {
			return err
		}
	}
	return r.store.Join(ctx)
}

func stepsOptions(dir, name, remote string, builtin bool) Options {
	return Options{Dir: filepath.Join(dir, name), Remote: remote, Author: Author{Name: name, Email: name + "@example.org"},
		Builtin: builtin}
}
