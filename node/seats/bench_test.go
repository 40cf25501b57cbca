package seats

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// BenchmarkNothingWaits asks for the mail of a session for which nothing waits, and that has had much.
func BenchmarkNothingWaits(b *testing.B) {
	for _, n := range []int{10, 10_000} {
		b.Run(fmt.Sprintf("old=%d", n), func(b *testing.B) {
			f := newFleet(b)
			f.begin(folder(b, "bridge"), "s-1")
			at := f.book.held()[0]
			for range n {
				f.book.acknowledge(at, []handed{{Path: f.mail("bridge", "hello", nil)}})
			}
			f.book.mail(at) // looks at all that has come
			for b.Loop() {
				if mail := f.book.mail(at); len(mail) > 0 {
					b.Fatal(mail)
				}
			}
		})
	}
}

// BenchmarkGoneSeats is what sessions do at a host where many others have been: an event, a look,
// and one that begins and ends, which is written down twice.
func BenchmarkGoneSeats(b *testing.B) {
	for _, n := range []int{10, 20_000} {
		f := newFleet(b)
		var all []*seat
		for i := range n {
			name := fmt.Sprintf("gone-%d", i)
			all = append(all, &seat{Name: protocol.Name(name), Program: "claude", Folder: "/work/" + name, Made: true, Sessions: []string{name}, Added: f.clock().Add(time.Duration(i-n) * time.Second)})
		}
		data, err := json.MarshalIndent(all, "", "  ")
		file := filepath.Join(b.TempDir(), "sessions.json")
		if err == nil {
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			b.Fatal(err)
		}
		f.open(file)
		s := f.begin(folder(b, "bridge"), "s-1")
		b.Run(fmt.Sprintf("gone=%d/event", n), func(b *testing.B) {
			for b.Loop() {
				s.tell(control.SessionUsedTool)
			}
		})
		b.Run(fmt.Sprintf("gone=%d/look", n), func(b *testing.B) {
			for b.Loop() {
				f.look(false)
			}
		})
		b.Run(fmt.Sprintf("gone=%d/life", n), func(b *testing.B) {
			for b.Loop() {
				s.tell(control.SessionEnded)
				s.tell(control.SessionStarted)
			}
		})
	}
}
