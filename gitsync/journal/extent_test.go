package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// damages are what may become of a segment that holds five entries, and how many bytes of them are
// lost at least.
func damages(t *testing.T, path string) map[string]func(data []byte) []byte {
	t.Helper()
	return map[string]func([]byte) []byte{
		"a bit in the middle": func(data []byte) []byte { data[len(data)/2] ^= 4; return data },
		"a bit at the end":    func(data []byte) []byte { data[len(data)-2] ^= 4; return data },
		"truncated":           func(data []byte) []byte { return data[:len(data)/2] },
		"cut to nothing":      func([]byte) []byte { return nil },
		"zeroed":              func(data []byte) []byte { return make([]byte, len(data)) },
		"its end zeroed": func(data []byte) []byte {
			return append(data[:headerSize:headerSize], make([]byte, len(data)-headerSize)...)
		},
		"removed": nil,
	}
}

// What was acknowledged and can no longer be read is named, once. It prevents: messages are lost
// with damaged bytes of the journal, and nobody is told; or what a crash left unfinished is taken
// for lost.
func TestWhatWasAcknowledgedIsMissed(t *testing.T) {
	for _, last := range []bool{true, false} {
		for name := range damages(t, "") {
			t.Run(fmt.Sprintf("%s, last %v", name, last), func(t *testing.T) {
				dir := t.TempDir()
				j, _, _ := open(t, dir, Options{SegmentBytes: 400})
				for n := range 5 {
					store(t, j, entry(n))
				}
				path := segments(t, dir)[0]
				if !last {
					for n := range 30 {
						store(t, j, entry(10+n))
					}
				}
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(path)
				if damage := damages(t, path)[name]; err == nil && damage != nil {
					err = os.WriteFile(path, damage(data), 0o600)
				} else {
					err = errors.Join(err, os.Remove(path))
				}
				if err != nil {
					t.Fatal(err)
				}
				j, err = Open(dir, Options{})
				if err != nil {
					t.Fatal(err)
				}
				lost := j.Losses()
				if len(lost) == 0 || lost[0].Segment != filepath.Base(path) || lost[0].Bytes <= 0 {
					t.Errorf("lost: %v", lost)
				}
				replayed, _ := j.Replayed()
				if err := j.Close(); err != nil { // nobody has noted it
					t.Fatal(err)
				}
				if j, err = Open(dir, Options{}); err != nil {
					t.Fatal(err)
				}
				if again := len(j.Losses()); again == 0 {
					t.Error("a kill before it was noted makes it forgotten")
				}
				if err := errors.Join(j.Settle(), j.Close()); err != nil {
					t.Fatal(err)
				}
				j, later, _ := open(t, dir, Options{})
				if got := j.Losses(); len(got) > 0 {
					t.Errorf("noted and found again: %v", got)
				}
				var want []Entry
				for _, r := range replayed {
					want = append(want, r.Entry)
				}
				if diff := cmp.Diff(want, later); diff != "" {
					t.Errorf("the others (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// It prevents that an end which was never acknowledged counts as lost.
func TestATornTailIsNoLoss(t *testing.T) {
	dir := t.TempDir()
	j, _, _ := open(t, dir, Options{})
	store(t, j, entry(1))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := segments(t, dir)[0]
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append(data, data[headerSize:len(data)-3]...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	j, got, _ := open(t, dir, Options{})
	wantEntries(t, got, entry(1))
	if lost := j.Losses(); len(lost) > 0 {
		t.Errorf("lost: %v", lost)
	}
}

// It prevents that a segment which was emptied and removed counts as lost, if the process dies
// before anything more is written.
func TestACompactedSegmentIsNoLoss(t *testing.T) {
	dir := t.TempDir()
	j, _, _ := open(t, dir, Options{SegmentBytes: 400})
	for n := range 30 {
		store(t, j, entry(n))
	}
	if err := j.moveEntries(j.segments[0]); err != nil {
		t.Fatal(err)
	}
	killed := t.TempDir()
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	j, got, _ := open(t, killed, Options{})
	if lost := j.Losses(); len(lost) > 0 || len(got) != 30 {
		t.Errorf("lost: %v, and %d entries stay", lost, len(got))
	}
}
