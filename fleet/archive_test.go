package fleet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/testdata/ballot"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// written returns the archive of a snapshot.
func written(t testing.TB, sn *Snapshot) *Archive {
	t.Helper()
	var out bytes.Buffer
	if err := sn.Write(&out, "stamp"); err != nil {
		t.Fatal(err)
	}
	a, err := OpenArchive(testRecord, out.Bytes(), sn.old.of.kinds...)
	if err != nil {
		t.Fatal(err)
	}
	if a.Stamp() != "stamp" {
		t.Fatalf("stamped %q", a.Stamp())
	}
	return a
}

// freeze moves the loose messages of a state into its archive. The state goes on.
func freeze(t testing.TB, s *State) {
	t.Helper()
	sn := s.Snapshot()
	s.Adopt(written(t, sn), sn)
	if s.Ledger.Loose() != 0 || len(s.Ledger.gone) != 0 {
		t.Fatalf("%d loose and %d gone after freezing", s.Ledger.Loose(), len(s.Ledger.gone))
	}
}

// restart returns a state as the next start of a node has it.
func restart(t testing.TB, s *State) *State {
	t.Helper()
	next := Restore(s.anchor, written(t, s.Snapshot()))
	for _, c := range s.Channels.All() {
		if c.Name != "" {
			next.Channels.Set(c.ID, c.ChannelFile)
		}
	}
	return next
}

// icy freezes or restarts a state now and then.
func icy(t testing.TB, s *State, r *rand.Rand) *State {
	t.Helper()
	switch r.IntN(6) {
	case 0:
		return restart(t, s)
	case 1, 2:
		freeze(t, s)
	}
	return s
}

// Wherever messages lie, loose or in an archive, the state answers the same. The files are the
// mischief of TestMischiefDoesNotDependOnOrder. The state is frozen, adopted and restarted at any
// moment, also while more is applied.
func TestArchivedStateAnswersTheSame(t *testing.T) {
	t.Parallel()
	for seed := range seeds(25) {
		c := newChaos(t, uint64(seed))
		for range 5 + c.IntN(30) {
			c.step()
		}
		want := snapshot(foldedOf(t, c.anchor, c.files))
		for range 4 {
			c.Shuffle(len(c.files), func(i, j int) { c.files[i], c.files[j] = c.files[j], c.files[i] })
			icy := foldedIcily(t, c.anchor, c.files, c.Rand)
			wantCounted(t, icy)
			wantHeads(t, icy, c.Rand)
			got := snapshot(icy)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("case %d: with an archive the state differs:\n%s", seed, diff)
			}
		}
	}
}

// wantHeads checks that heads say what the messages of their channel do. It looks at all heads, and
// at those after any one. It prevents: something of one message that is said of the next one too.
func wantHeads(t *testing.T, s *State, r *rand.Rand) {
	t.Helper()
	for c := range s.Ledger.InUse() {
		all := slices.Collect(s.Ledger.Channel(c))
		at := r.IntN(len(all))
		for after, want := range map[*Item][]*Item{nil: all, all[at]: all[at+1:]} {
			n := 0
			for it := range s.Ledger.Heads(c, after) {
				if n == len(want) {
					t.Fatalf("%s is one head too many", it.Path)
				}
				got := *it
				if len(it.To) == 0 {
					got.To = want[n].To
				}
				if len(it.Chosen) == 0 {
					got.Chosen = want[n].Chosen
				}
				if !reflect.DeepEqual(got, *want[n]) {
					t.Fatalf("the head of a message is %+v, want %+v", got, *want[n])
				}
				n++
			}
			if n != len(want) {
				t.Fatalf("%d heads of %d messages", n, len(want))
			}
		}
	}
}

// foldedIcily folds files into a state that is frozen now and then. It checks that what Check says
// of a file beforehand is what Take says.
func foldedIcily(t testing.TB, anchor keys.Anchor, files []testFile, r *rand.Rand) *State {
	t.Helper()
	s := New(anchor)
	var sn *Snapshot
	for _, f := range files {
		foreseen := s.Check(examined(s, f))
		_, err := s.Take(examined(s, f))
		if err != nil && !errors.Is(err, ErrKnown) {
			t.Fatalf("%s: %v", f.path, err)
		}
		if foreseen != nil && (err == nil || foreseen.Error() != err.Error()) {
			t.Fatalf("%s: Check says %v, Apply %v", f.path, foreseen, err)
		}
		if it, there := s.Ledger.Item(f.path); there && r.IntN(3) == 0 {
			s.Talk.Conversation(it) // what is kept of it must be the same as what is found anew
		}
		switch {
		case sn != nil && r.IntN(3) == 0: // what came since the snapshot stays loose
			s.Adopt(written(t, sn), sn)
			sn = nil
		case sn == nil && r.IntN(4) == 0:
			sn = s.Snapshot()
		case sn == nil:
			s = icy(t, s, r)
		}
	}
	if sn != nil {
		s.Adopt(written(t, sn), sn)
	}
	if r.IntN(2) == 0 {
		s = restart(t, s)
	}
	return s
}

// A fleet that behaves answers the same with an archive: its books, counts and searches.
func TestArchivedFleetIsFoundAgain(t *testing.T) {
	for seed := range seeds(20) {
		r := rand.New(rand.NewPCG(uint64(seed), 11))
		files := randomFleet(t, r)
		plain := folded(t, files)
		icy := foldedIcily(t, keys.Anchor{RecordID: testRecord}, files, r)
		if diff := cmp.Diff(snapshot(plain), snapshot(icy)); diff != "" {
			t.Fatalf("case %d:\n%s", seed, diff)
		}
		wantCounted(t, plain)
		wantCounted(t, icy)
		if diff := cmp.Diff(searches(plain, files), searches(icy, files)); diff != "" {
			t.Fatalf("case %d: what is found differs:\n%s", seed, diff)
		}
		for _, last := range []int{1, 7, 1000} {
			if diff := cmp.Diff(tail(plain, last), tail(icy, last)); diff != "" {
				t.Fatalf("case %d: the last %d differ:\n%s", seed, last, diff)
			}
		}
	}
}

// wantCounted checks what is counted as messages come and go. A look at each message must find the
// same.
func wantCounted(t *testing.T, s *State) {
	t.Helper()
	for _, c := range s.Channels.All() {
		if said, want := fmt.Sprint(c.Messages, c.Last, c.Participants), looked(s, c.ID); said != want {
			t.Fatalf("the channel %s is listed as %s and is %s", c.ID, said, want)
		}
	}
	said, found := s.Totals(), Totals{Hosts: map[protocol.Name]HostTotals{}}
	for it := range s.Ledger.All() {
		h := found.Hosts[it.Host]
		switch it.kind() {
		case kindWord:
			found.HostWords++
			continue
		case kindReceipt:
			found.Receipts++
			h.Receipts++
		default:
			found.Messages++
			h.Messages++
			if s.Signature(it) != protocol.SignatureValid {
				found.Unverified++
			}
			if found.Last = it.Timestamp; found.First.IsZero() {
				found.First = it.Timestamp
			}
		}
		found.Hosts[it.Host] = h
	}
	if said.Unsure {
		found.Unverified, found.Unsure = said.Unverified, true
	}
	maps.DeleteFunc(said.Hosts, func(_ protocol.Name, h HostTotals) bool { return h == HostTotals{} })
	if diff := cmp.Diff(found, said); diff != "" {
		t.Fatalf("counted (-looked +counted):\n%s", diff)
	}
}

// looked returns what a look at each message of a channel says of the channel.
func looked(s *State, c protocol.ChannelID) string {
	messages, last, who := 0, time.Time{}, map[string]bool{}
	for it := range s.Ledger.Channel(c) {
		if it.Type != protocol.TypeText {
			continue
		}
		messages++
		last = it.Timestamp
		who[it.Author().Name] = true
		for _, to := range it.To {
			who[to.Name] = true
		}
	}
	return fmt.Sprint(messages, last, slices.Sorted(maps.Keys(who)))
}

// searches returns what the state finds in all ways that snapshot leaves out.
func searches(s *State, files []testFile) []string {
	var all []string
	say := func(words ...any) { all = append(all, fmt.Sprint(words...)) }
	for _, f := range files {
		say(f.path, hashes(s.Ledger.Find(f.path.Suffix())), hashes(s.Ledger.FindRel(f.path.Rel())), s.Ledger.SameDay(f.path))
		if it := s.Ledger.at(f.path); it != nil {
			say(hashes(slices.Collect(s.Ledger.ChannelBefore(f.path.Channel(), it))), hashes(slices.Collect(s.Ledger.After(it))))
			say(it.Names(), it.Chosen, it.Type, it.Act, it.Re, it.Ref, it.Hops, it.Host, it.Run, it.Seq, it.Prev, it.Key, it.Timestamp, s.Talk.Progress(it))
		}
		for _, it := range s.Talk.Thread(f.path) {
			say(it.Depth, it.Path)
		}
	}
	for _, c := range s.Channels.All() {
		say(c, s.Channels.Describe(c.ID))
	}
	say(fmt.Sprintf("%+v", s.Totals()))
	say(s.Channels.Count())
	for _, f := range s.Verify(time.Unix(2e9, 0)) {
		say(f)
	}
	return append(all, fmt.Sprint(s.Ledger.Len(), s.People.Known("nobody")))
}

func tail(s *State, n int) []string {
	var last []string
	for it := range s.Ledger.Backward() {
		if len(last) >= n {
			break
		}
		last = append(last, it.Hash)
		for c := range s.Ledger.ChannelBackward(it.Path.Channel()) {
			last = append(last, "last of its channel "+c.Hash)
			break
		}
		for b := range s.Ledger.Before(it) {
			last = append(last, "before it "+b.Hash)
			break
		}
	}
	return last
}

// What is not kept elsewhere yet stays out of the archive and in the state.
func TestOnlyWhatIsKeptIsFrozen(t *testing.T) {
	for seed := range seeds(30) {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		files := randomFleet(t, r)
		s := New(keys.Anchor{RecordID: testRecord})
		isKept := map[string]bool{}
		for _, f := range files {
			fold(t, s, []testFile{f})
			if r.IntN(3) > 0 {
				isKept[f.path.String()+protocol.Hash(f.data)] = true
			}
			if r.IntN(5) > 0 {
				continue
			}
			sn := s.Snapshot()
			if !sn.Only(func(p protocol.Path, hash string, _ bool) bool { return isKept[p.String()+hash] }) {
				continue
			}
			a := written(t, sn)
			started := Restore(keys.Anchor{RecordID: testRecord}, a)
			for _, it := range started.Ledger.rivals {
				for _, it := range it {
					if !isKept[it.Path.String()+it.Hash] {
						t.Fatalf("case %d: the archive holds what is not kept", seed)
					}
				}
			}
			for it := range started.Ledger.All() {
				if !isKept[it.Path.String()+it.Hash] {
					t.Fatalf("case %d: the archive holds what is not kept", seed)
				}
			}
			fold(t, started, files[:slices.IndexFunc(files, func(o testFile) bool { return &o.data[0] == &f.data[0] })+1])
			if diff := cmp.Diff(snapshot(s), snapshot(started)); diff != "" {
				t.Fatalf("case %d: archive and journal give another state:\n%s", seed, diff)
			}
			s.Adopt(a, sn)
		}
		if diff := cmp.Diff(snapshot(folded(t, files)), snapshot(s)); diff != "" {
			t.Fatalf("case %d:\n%s", seed, diff)
		}
	}
}

// An archive that is cut short, has a flipped bit, or is of another record or form
// is refused.
func TestDamagedArchiveIsRefused(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := folded(t, randomFleet(t, rand.New(rand.NewPCG(1, 1)))).Snapshot().Write(&out, ""); err != nil {
		t.Fatal(err)
	}
	whole := out.Bytes()
	if _, err := OpenArchive(testRecord, whole, testKinds()...); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenArchive("another", whole, testKinds()...); !errors.Is(err, ErrArchive) {
		t.Errorf("of another record: %v", err)
	}
	for i := range len(whole) {
		if _, err := OpenArchive(testRecord, whole[:i], testKinds()...); !errors.Is(err, ErrArchive) {
			t.Fatalf("cut after %d bytes: %v", i, err)
		}
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		if _, err := OpenArchive(testRecord, flipped, testKinds()...); !errors.Is(err, ErrArchive) {
			t.Fatalf("with a bit flipped in byte %d: %v", i, err)
		}
	}
}

// A disk that is full while the archive is written is an error, not an archive.
func TestArchiveThatCannotBeWritten(t *testing.T) {
	s := folded(t, randomFleet(t, rand.New(rand.NewPCG(1, 1))))
	if err := s.Snapshot().Write(fullDisk{}, ""); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("written to a full disk: %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// FuzzArchive reads damaged archives whose checksum is right: nothing panics.
func FuzzArchive(f *testing.F) {
	var out bytes.Buffer
	if err := folded(&testing.T{}, nil).Snapshot().Write(&out, ""); err != nil {
		f.Fatal(err)
	}
	files := benchFiles(f, 20, time.Minute)
	s := New(keys.Anchor{RecordID: testRecord}, ballot.Kind())
	for _, file := range files {
		if _, err := s.Apply(file.path, file.data); err != nil {
			f.Fatal(err)
		}
	}
	var more bytes.Buffer
	if err := s.Snapshot().Write(&more, ""); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes(), uint16(0), byte(0))
	f.Add(more.Bytes(), uint16(100), byte(1))
	f.Add(more.Bytes(), uint16(3000), byte(200))
	f.Fuzz(func(t *testing.T, data []byte, at uint16, by byte) {
		data = bytes.Clone(data)
		if len(data) < 4 {
			return
		}
		data[int(at)%len(data)] ^= by
		body := data[:len(data)-4]
		binary.LittleEndian.PutUint32(data[len(body):], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		a, err := OpenArchive(testRecord, data, ballot.Kind())
		if err != nil {
			return
		}
		s := Restore(keys.Anchor{RecordID: testRecord}, a)
		snapshot(s)
		searches(s, files)
		for _, f := range files {
			_, _ = s.Apply(f.path, f.data)
		}
		var again bytes.Buffer
		sn := s.Snapshot()
		if err := sn.Write(&again, ""); err != nil {
			t.Fatal(err)
		}
	})
}

// The cost of applying a message does not grow with the archive. Allocations are counted, and no
// time is taken. Crosstalk D36.
func TestApplyDoesNotGrowWithHistory(t *testing.T) {
	scratch.Long(t)
	cost := func(history int) float64 {
		files := benchFiles(t, history+200, 0)
		s := New(keys.Anchor{RecordID: testRecord})
		fold(t, s, files[:history])
		freeze(t, s)
		next := history
		return testing.AllocsPerRun(100, func() {
			fold(t, s, files[next:next+1])
			next++
		})
	}
	small, large := cost(1000), cost(20_000)
	if large > 1.5*small+10 {
		t.Errorf("a message costs %.0f allocations after 1,000 messages and %.0f after 20,000", small, large)
	}
}

// The cost does not grow with the number of messages at one place of a chain either. A holder of a
// key had made each further message cost the reading of all those before.
func TestApplyDoesNotGrowWithForks(t *testing.T) {
	scratch.Long(t)
	cost := func(beside int) float64 {
		h := newTestHost(t, "a", "a")
		d := Draft{Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "eve"}}, Type: protocol.TypeText, Body: "hi"},
			Channel: protocol.DeriveChannel(testRecord, "a", "b")}
		var files []testFile
		for i := range beside + 200 {
			h.seq, h.prev = 4, protocol.Hash(nil)
			files = append(files, h.write(t, d, time.Unix(1e9+int64(i), 0), uint32(i)))
		}
		s := New(keys.Anchor{RecordID: testRecord})
		fold(t, s, files[:beside])
		freeze(t, s)
		next := beside
		return testing.AllocsPerRun(100, func() {
			fold(t, s, files[next:next+1])
			next++
		})
	}
	small, large := cost(10), cost(1000)
	if large > 1.5*small+10 {
		t.Errorf("a message costs %.0f allocations beside 10 others and %.0f beside 1,000", small, large)
	}
}

// A snapshot is taken while nobody else can do anything. So it must not take longer because the
// archive holds many channels.
func TestSnapshotDoesNotGrowWithTheArchive(t *testing.T) {
	cost := func(channels int) float64 {
		h, s := newTestHost(t, "a", "a"), New(keys.Anchor{RecordID: testRecord})
		at := time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC)
		for i := range channels {
			d := Draft{Message: protocol.Message{From: "nat", To: []protocol.Address{{Name: "eve"}}, Type: protocol.TypeText, Body: "hello"},
				Channel: protocol.DeriveChannel(testRecord, fmt.Sprint(i))}
			fold(t, s, []testFile{h.write(t, d, at.Add(time.Duration(i)*time.Millisecond), uint32(i))})
		}
		freeze(t, s)
		return testing.AllocsPerRun(3, func() { s.Snapshot() })
	}
	if small, large := cost(3), cost(300); large > small+10 {
		t.Errorf("a snapshot costs %.0f allocations after 3 channels and %.0f after 300", small, large)
	}
}
