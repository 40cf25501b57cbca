package gitsync

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestWhatWasPushedElsewhereIsNotPushedHere prevents that a record with a new remote takes what the
// old one has for being on the new one. Its journal would then let go of it.
func TestWhatWasPushedElsewhereIsNotPushedHere(t *testing.T) {
	t.Parallel()
	old, other := bareRemote(t), bareRemote(t)
	h := newHome(t, "a", old)
	one, two := testMessage(1, 1), testMessage(1, 2)
	h.append(t, one)
	h.sync(t)
	h.close(t)
	h.opts.Remote = other
	h.open(t)
	if s := h.Status(); h.Place(one.Path) != Recorded || s.RemoteTip != "" || s.Unpushed != 1 {
		t.Errorf("the message is %s, status %+v", h.Place(one.Path), s)
	}
	// Nothing reached the new remote. Back at the old one, all is there again.
	h.close(t)
	h.opts.Remote = old
	h.open(t)
	if h.Place(one.Path) != Pushed {
		t.Errorf("back at the old remote the message is %s", h.Place(one.Path))
	}
	h.close(t)
	h.opts.Remote = other
	h.open(t)
	h.append(t, two)
	h.sync(t)
	if got := messages(t, other, "main"); h.Place(one.Path) != Pushed || len(got) != 2 {
		t.Errorf("the message is %s, the new remote has %q", h.Place(one.Path), got)
	}
	wantClean(t, other)
}

// TestInspect looks at what may become the remote, beside a record that is in use.
func TestInspect(t *testing.T) {
	t.Parallel()
	for _, carrier := range []string{"git", "builtin"} {
		t.Run(carrier, func(t *testing.T) {
			shared := bareRemote(t)
			h, ahead := newHome(t, "a", shared), newHome(t, "b", shared)
			ahead.append(t, testMessage(2, 1))
			ahead.sync(t)
			foreign := bareRemote(t)
			newHome(t, "c", foreign)
			before := gitOut(t, h.repo(), "for-each-ref")
			for _, c := range []struct {
				name, remote string
				empty        bool
				want         error
			}{
				{"empty", bareRemote(t), true, nil},
				{"the same record, and more", shared, false, nil},
				{"another record", foreign, false, ErrForeign},
				{"nothing", filepath.Join(t.TempDir(), "nothing"), false, ErrRemote},
			} {
				opts := h.opts
				opts.Remote = c.remote
				got, err := Inspect(t.Context(), opts, h.ID())
				if !errors.Is(err, c.want) || got.Empty != c.empty {
					t.Errorf("%s: %+v, %v", c.name, got, err)
				}
				if _, err := os.Lstat(filepath.Join(h.opts.Dir, prospectName)); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s: something is left behind", c.name)
				}
			}
			if after := gitOut(t, h.repo(), "for-each-ref"); after != before {
				t.Errorf("the record was touched: %s", after)
			}
			if id, err := IDOf(h.opts.Dir); err != nil || id != h.ID() {
				t.Errorf("IDOf: %s, %v", id, err)
			}
			if _, err := IDOf(t.TempDir()); !errors.Is(err, ErrNoRecord) {
				t.Errorf("IDOf of nothing: %v", err)
			}
		})
	}
}
