package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, dir string, opts Options) (*Journal, []Entry, []string) {
	t.Helper()
	j, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	replayed, trouble := j.Replayed()
	var entries []Entry
	for _, r := range replayed {
		entries = append(entries, r.Entry)
	}
	return j, entries, trouble
}

func store(t *testing.T, j *Journal, entries ...Entry) []ID {
	t.Helper()
	ids, err := j.Append(t.Context(), entries)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func entry(n int) Entry {
	return Entry{Path: fmt.Sprintf("p%04d", n), Peer: n%2 == 1, Data: fmt.Appendf(nil, "data %d", n)}
}

func wantEntries(t *testing.T, got []Entry, want ...Entry) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("replayed (-want +got):\n%s", diff)
	}
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestReplayInOrder(t *testing.T) {
	dir := t.TempDir()
	j, _, _ := open(t, dir, Options{SegmentBytes: 100})
	var want []Entry
	for n := range 20 {
		want = append(want, entry(2*n), entry(2*n+1))
		store(t, j, entry(2*n), entry(2*n+1))
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(t.Context(), want); !errors.Is(err, ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
	if n := len(segments(t, dir)); n < 5 {
		t.Errorf("%d segments", n)
	}
	_, got, trouble := open(t, dir, Options{})
	wantEntries(t, got, want...)
	if len(trouble) > 0 {
		t.Errorf("trouble: %q", trouble)
	}
}

func TestDoneRemovesSegments(t *testing.T) {
	dir := t.TempDir()
	j, _, _ := open(t, dir, Options{SegmentBytes: 60})
	one := store(t, j, entry(1))
	store(t, j, entry(2))
	three := store(t, j, entry(3))
	before := len(segments(t, dir))
	if err := j.Done(append(one, three...)...); err != nil {
		t.Fatal(err)
	}
	if got := len(segments(t, dir)); got != before-1 {
		t.Errorf("%d segments of %d are left; the current one stays", got, before)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	replayed, _ := j.Replayed()
	if len(replayed) != 1 || replayed[0].Path != entry(2).Path {
		t.Fatalf("replayed %v", replayed)
	}
	if err := j.Done(replayed[0].ID); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if left := segments(t, dir); len(left) != 0 || j.Bytes() != 0 {
		t.Errorf("left: %q, %d bytes", left, j.Bytes())
	}
}

func TestTornTailIsCut(t *testing.T) {
	dir := t.TempDir()
	j, _, _ := open(t, dir, Options{})
	store(t, j, entry(1))
	store(t, j, entry(2), entry(3))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := segments(t, dir)[0]
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := headerSize + len(appendRecord(nil, 0, []Entry{entry(1)}))
	for size := range whole {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := Open(dir, Options{})
		if err != nil {
			t.Fatalf("cut at %d: %v", size, err)
		}
		replayed, trouble := j.Replayed()
		want := 0
		if size >= first {
			want = 1
		}
		if len(replayed) != want {
			t.Errorf("cut at %d: %d entries, want %d", size, len(replayed), want)
		}
		if torn := size > headerSize && size != first; torn != (len(trouble) == 1) {
			t.Errorf("cut at %d: reported %q", size, trouble)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err == nil && info.Size() > int64(first) {
			t.Errorf("cut at %d: %d bytes are left", size, info.Size())
		}
		for _, name := range segments(t, dir) {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestCorruptRecordInTheMiddle(t *testing.T) {
	dir := t.TempDir()
	j, _, _ := open(t, dir, Options{})
	for n := range 5 {
		store(t, j, entry(n))
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	flipByte(t, segments(t, dir)[0], "data 2")
	j, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	replayed, trouble := j.Replayed()
	var got []Entry
	for _, r := range replayed {
		got = append(got, r.Entry)
		if err := j.Done(r.ID); err != nil {
			t.Fatal(err)
		}
	}
	wantEntries(t, got, entry(0), entry(1), entry(3), entry(4))
	if len(trouble) != 1 {
		t.Errorf("trouble: %q", trouble)
	}
	if err := j.Settle(); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if kept, err := filepath.Glob(filepath.Join(dir, "*.bad")); err != nil || len(kept) != 1 || len(segments(t, dir)) != 0 {
		t.Errorf("the damaged segment is kept as %q, %v", kept, err)
	}
}

// flipByte changes a file at the place where `text` stands in it.
func flipByte(t *testing.T, path, text string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[strings.Index(string(data), text)] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Bytes of a message may look like a record. TestRecordInsideAMessage prevents that they are taken
// for one when what is around them is damaged.
func TestRecordInsideAMessage(t *testing.T) {
	dir := t.TempDir()
	j, _, _ := open(t, dir, Options{})
	forged := appendRecord(nil, 1234, []Entry{{Path: "forged"}})
	store(t, j, Entry{Path: "outer", Data: append([]byte("begin "), forged...)})
	store(t, j, entry(1))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	path := segments(t, dir)[0]
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[strings.Index(string(data), "begin")] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, got, _ := open(t, dir, Options{})
	wantEntries(t, got, entry(1))
}

// faulty is a segment on a disk that fails when told.
type faulty struct {
	file
	fail *bool
}

func (f faulty) Sync() error {
	if *f.fail {
		return errors.New("input/output error")
	}
	return f.file.Sync()
}

// Truncate fails as well: what was written stays in the file.
func (f faulty) Truncate(size int64) error {
	if *f.fail {
		return errors.New("input/output error")
	}
	return f.file.Truncate(size)
}

func TestFailedSync(t *testing.T) {
	dir := t.TempDir()
	fail := false
	opts := Options{open: func(path string) (file, error) {
		f, err := createFile(path)
		return faulty{f, &fail}, err
	}}
	j, _, _ := open(t, dir, opts)
	store(t, j, entry(1))
	fail = true
	if _, err := j.Append(t.Context(), []Entry{entry(2)}); err == nil {
		t.Fatal("Append took what could not be synced")
	}
	before, err := os.ReadFile(segments(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(t.Context(), []Entry{entry(2)}); err == nil {
		t.Fatal("Append took what could not be synced")
	}
	fail = false
	store(t, j, entry(3))
	after, err := os.ReadFile(segments(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(before, after) {
		t.Error("a segment was written again after a failed fsync")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	_, got, trouble := open(t, dir, Options{})
	wantEntries(t, got, entry(1), entry(3))
	if len(trouble) != 1 || !strings.Contains(trouble[0], "never acknowledged") {
		t.Errorf("trouble: %q", trouble)
	}
	// A segment knows what is valid in the segment before it. It must not go first.
	j2, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	replayed, _ := j2.Replayed()
	if err := j2.Done(replayed[1].ID); err != nil {
		t.Fatal(err)
	}
	if err := j2.Close(); err != nil {
		t.Fatal(err)
	}
	_, got, _ = open(t, dir, Options{})
	for _, e := range got {
		if e.Path == entry(2).Path {
			t.Error("an entry came back whose caller was told that it failed")
		}
	}
}

func TestGroupCommit(t *testing.T) { synctest.Test(t, testGroupCommit) }

func testGroupCommit(t *testing.T) {
	dir := t.TempDir()
	syncs := 0
	opts := Options{open: func(path string) (file, error) {
		f, err := createFile(path)
		return counting{f, &syncs}, err
	}}
	j, _, _ := open(t, dir, opts)
	var writers sync.WaitGroup
	const each = 20
	for w := range 32 {
		writers.Go(func() {
			for n := range each {
				if _, err := j.Append(t.Context(), []Entry{{Path: fmt.Sprintf("%d/%04d", w, n)}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if syncs > 2*each+2 {
		t.Errorf("%d fsyncs for %d appends by 32 writers", syncs, 32*each)
	}
	_, got, _ := open(t, dir, Options{})
	last := map[string]string{}
	for _, e := range got {
		writer, n, _ := strings.Cut(e.Path, "/")
		if n <= last[writer] {
			t.Fatalf("writer %s: %s comes after %s", writer, n, last[writer])
		}
		last[writer] = n
	}
	if len(got) != 32*each {
		t.Errorf("%d entries", len(got))
	}
}

// counting counts syncs. Only the writer goroutine syncs. Each sync takes until all others wait for
// one, as on a slow disk.
type counting struct {
	file
	syncs *int
}

func (c counting) Sync() error {
	*c.syncs++
	synctest.Wait()
	return c.file.Sync()
}

func TestCompact(t *testing.T) {
	dir := t.TempDir()
	j, _, _ := open(t, dir, Options{SegmentBytes: 2000, CompactBytes: 4000})
	var ids []ID
	for n := range 200 {
		ids = append(ids, store(t, j, entry(n))...)
	}
	kept := map[int]bool{0: true, 77: true, 150: true}
	var done []ID
	for n, id := range ids[:190] {
		if !kept[n] {
			done = append(done, id)
		}
	}
	if err := j.Done(done...); err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		store(t, j, entry(1000+n))
	}
	if n := len(segments(t, dir)); n > 8 {
		t.Errorf("%d segments are left", n)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	_, got, _ := open(t, dir, Options{})
	seen := map[string]int{}
	for _, e := range got {
		seen[e.Path]++
	}
	for _, n := range []int{0, 77, 150, 195, 1000, 1199} {
		if seen[entry(n).Path] != 1 {
			t.Errorf("entry %d is there %d times", n, seen[entry(n).Path])
		}
	}
}

func TestAppendRefusals(t *testing.T) {
	j, _, _ := open(t, t.TempDir(), Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Append(ctx, []Entry{entry(1)}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	if _, err := j.Append(t.Context(), []Entry{{Data: make([]byte, maxRecord)}}); err == nil {
		t.Error("Append took more than it can read again")
	}
}

func FuzzScanSegment(f *testing.F) {
	h := header{number: 1, nonce: 7, before: 0}
	good := appendRecord(h.encode(), h.nonce, []Entry{entry(1), entry(2)})
	good = appendRecord(good, h.nonce, []Entry{entry(3)})
	f.Add(good)
	f.Add(good[:len(good)-3])
	f.Add(h.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scanSegment(data)
		if err != nil {
			return
		}
		if s.valid > len(data) || s.valid < headerSize {
			t.Fatalf("valid is %d of %d", s.valid, len(data))
		}
		// What was read and is written again reads the same.
		out := s.header.encode()
		for _, r := range s.records {
			out = appendRecord(out, s.header.nonce, r.entries)
		}
		again, err := scanSegment(out)
		if err != nil || len(again.trouble) > 0 || len(again.records) != len(s.records) {
			t.Fatalf("read again: %d records of %d, %q, %v", len(again.records), len(s.records), again.trouble, err)
		}
		for i := range s.records {
			if diff := cmp.Diff(s.records[i].entries, again.records[i].entries); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func FuzzDecodeEntries(f *testing.F) {
	f.Add(appendRecord(nil, 0, []Entry{entry(1)})[recordHeader:])
	f.Fuzz(func(t *testing.T, payload []byte) {
		entries, err := decodeEntries(payload)
		if err != nil {
			return
		}
		again, err := decodeEntries(appendRecord(nil, 0, entries)[recordHeader:])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(entries, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
