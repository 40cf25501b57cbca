package gitsync

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

func benchRecord(b *testing.B) *Record {
	b.Helper()
	opts := Options{Dir: filepath.Join(b.TempDir(), "a"), Author: Author{Name: "a", Email: "a@example.org"}}
	if _, err := Init(b.Context(), opts, rootFiles); err != nil {
		b.Fatal(err)
	}
	r, err := Open(b.Context(), opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = r.Close() })
	return r
}

func benchMessage(n int64) MessageFile {
	at := time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Millisecond)
	return MessageFile{Path: protocol.NewPath(testChannel, at, uint32(n)), Data: make([]byte, 400)}
}

// BenchmarkAppend measures how long a caller of Append waits, alone and with 64 callers at a time.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			r := benchRecord(b)
			var next atomic.Int64
			b.SetParallelism(writers)
			b.ResetTimer()
			if writers == 1 {
				for b.Loop() {
					if err := r.Append(b.Context(), []MessageFile{benchMessage(next.Add(1))}); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := r.Append(b.Context(), []MessageFile{benchMessage(next.Add(1))}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkCommit measures one commit of a batch, on a day that holds 1,000 messages to begin with.
func BenchmarkCommit(b *testing.B) {
	for _, batch := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("messages=%d", batch), func(b *testing.B) {
			r := benchRecord(b)
			n := int64(0)
			messages := func(count int) []MessageFile {
				var out []MessageFile
				for range count {
					n++
					out = append(out, benchMessage(n))
				}
				return out
			}
			if err := r.Append(b.Context(), messages(1000)); err != nil {
				b.Fatal(err)
			}
			if err := r.Sync(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				if err := r.Append(b.Context(), messages(batch)); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := r.main.commit(b.Context(), true); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(batch)*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// BenchmarkCommitBesideOthers measures the commit of one message in a record that
// has nothing else, and in one that has many messages of other channels and days.
func BenchmarkCommitBesideOthers(b *testing.B) {
	for _, others := range []int{0, 100_000} {
		b.Run(fmt.Sprintf("others=%d", others), func(b *testing.B) {
			r := benchRecord(b)
			const batch = 1000
			for n := 0; n < others; n += batch {
				var messages []MessageFile
				for i := range batch {
					channel := testChannel[:33] + protocol.ChannelID(fmt.Sprintf("%03x", 256+n/batch%20))
					at := time.Date(2025, 1, 1+n/batch/20, 8, 0, 0, 0, time.UTC).Add(time.Duration(n+i) * time.Millisecond)
					messages = append(messages, MessageFile{Path: protocol.NewPath(channel, at, uint32(n+i)), Data: make([]byte, 400)})
				}
				if err := errors.Join(r.Append(b.Context(), messages), r.main.commit(b.Context(), true)); err != nil {
					b.Fatal(err)
				}
			}
			b.ResetTimer()
			for n := range b.N {
				if err := errors.Join(r.Append(b.Context(), []MessageFile{benchMessage(int64(n))}), r.main.commit(b.Context(), true)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkPlace measures Place, which is asked for every message that is shown.
func BenchmarkPlace(b *testing.B) {
	r := benchRecord(b)
	var all []MessageFile
	for n := range int64(5000) {
		all = append(all, benchMessage(n))
	}
	if err := r.Append(b.Context(), all); err != nil {
		b.Fatal(err)
	}
	if err := r.Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		n++
		if r.Place(all[n%len(all)].Path) != Recorded {
			b.Fatal("a message is not recorded")
		}
	}
}
