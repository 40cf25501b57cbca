package fleet

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// benchFiles returns a long talk: a asks and b answers, each in its own chain. The clock of b is
// slow by `skew`. The files are unsigned, so that only the fold is measured.
func benchFiles(b testing.TB, n int, skew time.Duration) []testFile {
	channel := protocol.DeriveChannel(testRecord, "nat", "mawjs")
	at := time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC)
	var files []testFile
	prev := [2]string{}
	for i := range n {
		m := protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText,
			Timestamp: at.Add(time.Duration(i) * 100 * time.Millisecond), Body: "hello", Run: "0badcafe", Seq: uint64(i + 1), Host: "a"}
		if i%2 == 1 {
			m.From, m.To[0].Name, m.Host, m.Re = "mawjs", "nat", "b", files[i-1].path.Rel()
			m.Timestamp = m.Timestamp.Add(-skew)
		}
		m.Path, m.Prev = protocol.NewPath(channel, m.Timestamp, uint32(i)), prev[i%2]
		data, err := protocol.Encode(&m)
		if err != nil {
			b.Fatal(err)
		}
		prev[i%2] = protocol.Hash(data)
		files = append(files, testFile{m.Path, data})
	}
	return files
}

// BenchmarkFold folds a talk as its messages happen, as a node reads it back
// from the record (by path, in a batch), and from its end.
func BenchmarkFold(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		for _, skew := range []time.Duration{0, time.Minute} {
			files := benchFiles(b, n, skew)
			byPath := slices.Clone(files)
			slices.SortFunc(byPath, func(x, y testFile) int { return x.path.Compare(y.path) })
			backwards := slices.Clone(files)
			slices.Reverse(backwards)
			name := fmt.Sprintf("n=%d/skew=%s/", n, skew)
			b.Run(name+"happened", func(b *testing.B) { benchFold(b, files, false) })
			b.Run(name+"path", func(b *testing.B) { benchFold(b, byPath, false) })
			b.Run(name+"path-batch", func(b *testing.B) { benchFold(b, byPath, true) })
			b.Run(name+"backwards-batch", func(b *testing.B) { benchFold(b, backwards, true) })
		}
	}
}

func benchFold(b *testing.B, files []testFile, batch bool) {
	for b.Loop() {
		s := New(keys.Anchor{RecordID: testRecord})
		fold := func() {
			for _, f := range files {
				if _, err := s.Apply(f.path, f.data); err != nil {
					b.Fatal(err)
				}
			}
		}
		if batch {
			s.Batch(fold)
		} else {
			fold()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(files)), "ns/message")
}

// BenchmarkQuestions asks a state of 100,000 messages.
func BenchmarkQuestions(b *testing.B) {
	s := New(keys.Anchor{RecordID: testRecord})
	files := benchFiles(b, 100_000, 0)
	for _, f := range files {
		if _, err := s.Apply(f.path, f.data); err != nil {
			b.Fatal(err)
		}
	}
	who := Who{Name: "mawjs", Host: "b"}
	it := s.Ledger.at(files[50_000].path)
	b.Run("Inbox", func(b *testing.B) {
		for b.Loop() {
			if len(slices.Collect(s.Talk.Inbox(who, false))) != 50_000 {
				b.Fatal("mail is missing")
			}
		}
	})
	b.Run("Answers", func(b *testing.B) {
		for b.Loop() {
			if len(s.Talk.Answers(it.Path)) != 1 {
				b.Fatal("the answer is missing")
			}
		}
	})
	b.Run("Stage", func(b *testing.B) {
		for b.Loop() {
			if s.Talk.Stage(it.Path) != protocol.StageAnswered {
				b.Fatal("the answer is missing")
			}
		}
	})
	b.Run("Handle", func(b *testing.B) {
		for b.Loop() {
			if s.Talk.Handle(it, who, Limits{MaxHops: 8}) != Run {
				b.Fatal("the message is not run")
			}
		}
	})
}

// BenchmarkArchive measures an archive of 100,000 messages: making it, opening it, and asking a
// state that has it.
func BenchmarkArchive(b *testing.B) {
	files := benchFiles(b, 101_000, 0)
	s := New(keys.Anchor{RecordID: testRecord})
	fold(b, s, files[:100_000])
	var out bytes.Buffer
	if err := s.Snapshot().Write(&out, ""); err != nil {
		b.Fatal(err)
	}
	a, err := OpenArchive(testRecord, out.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Write", func(b *testing.B) {
		for b.Loop() {
			if err := s.Snapshot().Write(io.Discard, ""); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(out.Len())/100_000, "bytes/message")
	})
	frozen := Restore(keys.Anchor{RecordID: testRecord}, a)
	fold(b, frozen, files[100_000:])
	b.Run("Merge", func(b *testing.B) {
		for b.Loop() {
			if err := frozen.Snapshot().Write(io.Discard, ""); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			if _, err := OpenArchive(testRecord, out.Bytes()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("All", func(b *testing.B) {
		for b.Loop() {
			for range frozen.Ledger.All() {
			}
		}
	})
	b.Run("Item", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			frozen.Ledger.at(files[i%100_000].path)
		}
	})
	b.Run("Stage", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			frozen.Talk.Stage(files[i%100_000].path)
		}
	})
	b.Run("Unread", func(b *testing.B) {
		for b.Loop() {
			for range frozen.Talk.Inbox(Who{Name: "mawjs", Host: "b"}, false) {
				break
			}
		}
	})
}

// BenchmarkApplyAfter applies a message to a state whose archive holds many messages.
func BenchmarkApplyAfter(b *testing.B) {
	for _, history := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("history=%d", history), func(b *testing.B) {
			files := benchFiles(b, history+1000, 0)
			s := New(keys.Anchor{RecordID: testRecord})
			fold(b, s, files[:history])
			a := written(b, s.Snapshot())
			for i := 0; b.Loop(); i++ {
				if i%1000 == 0 {
					s = Restore(keys.Anchor{RecordID: testRecord}, a)
				}
				f := files[history+i%1000]
				if _, err := s.Apply(f.path, f.data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRestoreRevoked starts from an archive in which one host wrote nearly all messages. The
// key of that host is revoked in one case and not in the other.
func BenchmarkRestoreRevoked(b *testing.B) {
	const n = 20_000
	a, other := newTestHost(b, "a", "a"), newTestHost(b, "b", "b")
	anchor := keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "a", Key: a.public(b), Humans: []protocol.Name{"nat"}}}
	at := time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC)
	s := New(anchor)
	take := func(f testFile) {
		if _, err := s.Apply(f.path, f.data); err != nil {
			b.Fatal(err)
		}
	}
	key := protocol.HostKey{Host: "b", Key: other.public(b)}
	take(a.write(b, s.hostDraft(protocol.ActHostVouch, protocol.Vouch{Host: "a", Knows: []protocol.HostKey{key}}), at, 0))
	d := Draft{Channel: protocol.DeriveChannel(testRecord, "b"),
		Message: protocol.Message{From: "b", To: []protocol.Address{{Name: "a"}}, Type: protocol.TypeText, Body: "hello"}}
	for i := range n {
		take(other.write(b, d, at.Add(time.Duration(i)*time.Second), uint32(i)))
	}
	before := written(b, s.Snapshot())
	ends, _ := s.Chains.Ends(key, protocol.Path{})
	d = s.hostDraft(protocol.ActHostRevoke, protocol.Revocation{Host: "a", Revokes: key, Last: ends})
	d.Message.Human = "nat"
	take(a.write(b, d, at, n))
	if h, _ := s.Keys().Host("b"); !h.Out() {
		b.Fatal("the key is not revoked")
	}
	after := written(b, s.Snapshot())
	for name, archive := range map[string]*Archive{"whole": before, "revoked": after} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Restore(anchor, archive)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/message")
		})
	}
}

// BenchmarkWords takes in many words of one host about keys, one by one and together.
func BenchmarkWords(b *testing.B) {
	const n = 1000
	a := newTestHost(b, "a", "a")
	anchor := keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "a", Key: a.public(b), Humans: []protocol.Name{"nat"}}}
	s, at := New(anchor), time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC)
	var words []Examined
	for i := range n {
		key := protocol.HostKey{Host: "b", Key: newTestHost(b, "b", fmt.Sprint(i)).public(b)}
		f := a.write(b, s.hostDraft(protocol.ActHostVouch, protocol.Vouch{Host: "a", Knows: []protocol.HostKey{key}}), at.Add(time.Duration(i)*time.Second), 0)
		words = append(words, s.Examine(f.path, f.data))
	}
	for name, together := range map[string]int{"one by one": 1, "together": n} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := New(anchor)
				for group := range slices.Chunk(words, together) {
					s.TakeAll(group)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/word")
		})
	}
}

// BenchmarkLists measures what is asked for whole: the list of channels and the numbers of a
// record. Most of the state lies in an archive. With ten times as many messages this must not take
// longer.
func BenchmarkLists(b *testing.B) {
	for _, messages := range []int{10_000, 100_000} {
		files := benchFiles(b, messages+1000, 0)
		s := New(keys.Anchor{RecordID: testRecord})
		fold(b, s, files[:messages])
		var out bytes.Buffer
		if err := s.Snapshot().Write(&out, ""); err != nil {
			b.Fatal(err)
		}
		a, err := OpenArchive(testRecord, out.Bytes())
		if err != nil {
			b.Fatal(err)
		}
		frozen := Restore(keys.Anchor{RecordID: testRecord}, a)
		fold(b, frozen, files[messages:])
		b.Run(fmt.Sprintf("Channels/messages=%d", messages), func(b *testing.B) {
			for b.Loop() {
				if len(frozen.Channels.All()) == 0 {
					b.Fatal("there are none")
				}
			}
		})
		b.Run(fmt.Sprintf("Totals/messages=%d", messages), func(b *testing.B) {
			for b.Loop() {
				if t := frozen.Totals(); t.Messages+t.Receipts+t.HostWords < messages || t.Unsure {
					b.Fatal(t)
				}
			}
		})
	}
}
