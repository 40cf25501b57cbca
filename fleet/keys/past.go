package keys

import "github.com/parleyfleet/parley/protocol"

// past is what led to a word of a host: what is reached from it by going backwards, each time
// to the message that a file follows (prev). What a host wrote before its word is told by
// that and by no date. Whoever has the host's key can write any date, but no file that an
// older one names by its hash.
type past struct {
	of    *File               // the word
	next  string              // by its hash, the file at which the way back goes on; empty: it has ended
	last  *File               // the last one on the way
	named map[string]struct{} // by their hashes, those on the way that name a human, or say something of their keys
	waits bool                // for next, which is not here
	ring  bool                // the ring was made by it
}

// pasts are those that were asked for. Each goes back no further than it was asked for.
type pasts struct {
	signed  func(hash string) *File // see Files
	of      map[string]*past        // by the hash of the word
	awaited map[string][]*past      // by the hash of a file that is not here
	ready   []string                // awaited files that have come
}

func newPasts(signed func(hash string) *File) *pasts {
	return &pasts{signed: signed, of: map[string]*past{}, awaited: map[string][]*past{}}
}

// led reports whether a host wrote a file before a word of its own, as far as the files are
// here: the file names a human, or says something of their keys. Paths rise along what a
// host writes, so where they do not the way ends. ring says that the ring is made by it.
func (ps *pasts) led(it, word *File, ring bool) bool {
	if it.Host != word.Host || ByPath(it, word) >= 0 {
		return false
	}
	p := ps.of[word.Hash]
	if p == nil {
		p = &past{of: word, next: word.Prev, last: word, named: map[string]struct{}{}}
		ps.of[word.Hash] = p
	}
	p.ring = p.ring || ring
	for p.next != "" && ByPath(p.last, it) > 0 {
		f := ps.signed(p.next)
		if f == nil {
			if !p.waits {
				p.waits = true
				ps.awaited[p.next] = append(ps.awaited[p.next], p)
			}
			break
		}
		if f.Host != word.Host || ByPath(f, p.last) >= 0 {
			p.next = ""
			break
		}
		if f.Human != "" || f.Act.HostWord() {
			p.named[f.Hash] = struct{}{}
		}
		p.last, p.next = f, f.Prev
	}
	_, found := p.named[it.Hash]
	return found
}

// arrived notes that a file has come for which a way back may wait.
func (ps *pasts) arrived(hash string) {
	if len(ps.awaited[hash]) > 0 {
		ps.ready = append(ps.ready, hash)
	}
}

// extend has those ways go on, when they are asked for, for which files have come. It names
// the hosts whose messages may be judged otherwise than before, and reports whether the ring
// may be another.
func (ps *pasts) extend() (of []protocol.Name, ring bool) {
	for _, hash := range ps.ready {
		for _, p := range ps.awaited[hash] {
			p.waits = false
			of = append(of, p.of.Host)
			ring = ring || p.ring
		}
		delete(ps.awaited, hash)
	}
	ps.ready = nil
	return of, ring
}
