package people

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// emptyDirectory is that of a record without hosts, where nobody ever wrote.
func emptyDirectory() *Directory {
	return New(keys.New(keys.Anchor{}, noFiles{}).Ring, func(string) bool { return false })
}

type noFiles struct{}

func (noFiles) Signed(string) *keys.File { return nil }

func (noFiles) Files() iter.Seq[*keys.File] { return func(func(*keys.File) bool) {} }

// Of several host files for one host the same one counts in whatever order they came,
// also after some have gone.
func TestWhichHostFileCounts(t *testing.T) {
	says := func(host, human protocol.Name) protocol.HostState {
		return protocol.HostState{Host: host, Humans: []protocol.Name{human}}
	}
	files := map[string]protocol.HostState{
		"hosts/a.md": says("peer", "ann"), "hosts/peer.md": says("peer", "bob"), "hosts/z.md": says("peer", "zoe"),
		"hosts/d.md": says("Peer", "dan"), "hosts/c.md": says("Peer", "cat"), "hosts/Peer.md": says("other", "oda"), "hosts/other.md": says("peer", "eve"),
	}
	r := rand.New(rand.NewPCG(1, 12))
	for range 100 {
		s := emptyDirectory()
		for path, h := range files { // in any order
			s.SetHostFile(path, h)
		}
		if got := fmt.Sprint(s.OtherPrograms()); got != fmt.Sprint([]protocol.HostState{says("Peer", "cat"), says("other", "oda"), says("peer", "bob")}) {
			t.Fatalf("got %s", got)
		}
		if h, ok := s.hostFile("peer"); !ok || h.Humans[0] != "bob" {
			t.Fatalf("of peer counts %v, %v", h, ok)
		}
		for path := range files {
			if r.IntN(2) == 0 {
				s.DropHostFile(path)
				s.SetHostFile(path, files[path])
			}
		}
		s.DropHostFile("hosts/peer.md")
		s.DropHostFile("hosts/c.md")
		if got := fmt.Sprint(s.OtherPrograms()); got != fmt.Sprint([]protocol.HostState{says("Peer", "dan"), says("other", "oda"), says("peer", "ann")}) {
			t.Fatalf("then %s", got)
		}
	}
}

// For each host that a file was not called after, all files were put in order: a push of
// some thousand small ones held every node up for seconds at each message.
func TestHostFilesAreLookedAtOnce(t *testing.T) {
	const many = 500
	s := emptyDirectory()
	for i := range many {
		s.SetHostFile(fmt.Sprintf("hosts/x%d.md", i), protocol.HostState{Host: protocol.Name(fmt.Sprintf("h%d", i))})
	}
	if cost := testing.AllocsPerRun(3, func() { s.Known("nobody") }); cost > 3*many {
		t.Errorf("to look for a name among %d hosts costs %.0f allocations", many, cost)
	}
}
