package fleet

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/protocol"
)

// BenchmarkTopics folds topics of a year from an archive, each with ten agreements and a
// sync-check a week, and looks at what is folded already. It says what a deed takes, and how
// many bytes its topic keeps of it.
func BenchmarkTopics(b *testing.B) {
	const many, weeks = 20, 52
	kind := topics.Kind(testRecord)
	s := New(keys.Anchor{RecordID: testRecord}, kind)
	at, deeds, n := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC), 0, uint32(0)
	do := func(c affair.Command) (last *Item) {
		b.Helper()
		at = at.Add(time.Second)
		drafts, err := s.Decide(Do{c}, at)
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range drafts {
			n++
			m := d.Message
			m.Timestamp, m.Path = at, protocol.NewPath(d.Channel, at, n)
			data, err := protocol.Encode(&m)
			if err == nil {
				last, err = s.Apply(m.Path, data)
			}
			if err != nil {
				b.Fatal(err)
			}
			deeds++
		}
		return last
	}
	for i := range many {
		topic := fmt.Sprint("topic ", i)
		skills, mawjs := topics.Speaker{Record: testRecord, Me: "skills", With: "mawjs", Topic: topic}, topics.Speaker{Record: testRecord, Me: "mawjs", With: "skills", Topic: topic}
		do(skills.Open(""))
		var rows []protocol.SyncRow
		for k := range 10 {
			do(skills.Agree(fmt.Sprintf("Heartbeat key %d of %s is PROGRESS", k, topic), 0))
			label := protocol.Label(fmt.Sprint("A", k+1))
			do(mawjs.Accept(label.String(), ""))
			rows = append(rows, protocol.SyncRow{Claim: protocol.ItemRef{Label: label}, Score: protocol.NewScore(0.9), Decision: protocol.DecisionAccept, Evidence: "notes.md:3"})
		}
		for range weeks {
			do(mawjs.Answer(do(skills.Check(nil, 0, protocol.Heard{})).Path, rows, ""))
		}
	}
	freeze(b, s)
	look := func() {
		for _, name := range s.Affairs(kind.Name) {
			if t := Value(s, kind, name, at); len(t.Results) != weeks {
				b.Fatal("results are missing")
			}
		}
	}
	b.Run("from the archive", func(b *testing.B) {
		heap := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		kept := 0.0
		for b.Loop() {
			b.StopTimer()
			clear(s.affairs.folds)
			before := heap()
			b.StartTimer()
			look()
			b.StopTimer()
			kept = float64(heap()) - float64(before)
			b.StartTimer()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*deeds), "ns/deed")
		b.ReportMetric(kept/float64(deeds), "B/deed")
	})
	b.Run("again", func(b *testing.B) {
		for b.Loop() {
			look()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*many), "ns/topic")
	})
}
