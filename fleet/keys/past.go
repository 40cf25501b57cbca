package keys

import "github.com/parleyfleet/parley/protocol"

// past is what led to a word of a host. It is found by going backwards, each time to the message
// that a file follows (prev). This, and no date, tells what a host wrote before its word. Whoever
// has the host's key can write any date, but no file whose hash an older file names.
type past struct {
	of    *File               // the word
	next  string              // the hash of the file at which the way back goes on; empty: the way has ended
	last  *File               // the last file on the way
	named map[string]struct{} // by hash, the files on the way that name a human, or say something of their keys
	waits bool                // the file `next` is not here, and is waited for
	ring  bool                // the ring depends on it
}

// pasts are the pasts for which somebody has asked. Each goes back only as far as was asked.
type pasts struct {
	signed  func(hash string) *File // see Files.Signed
	of      map[string]*past        // by the hash of the word
	awaited map[string][]*past      // by the hash of a file that is missing
	ready   []string                // missing files that have come
}

func newPasts(signed func(hash string) *File) *pasts {
	return &pasts{signed: signed, of: map[string]*past{}, awaited: map[string][]*past{}}
}

// led reports whether a host wrote the file `it` before `word`, as far as the files are here. The
// file must name a human, or say something of their keys. Paths rise along what a host writes, so
// the way ends where they do not. `ring` says that the ring depends on the answer.
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

// arrived notes that a file has come for which a way back may be waiting.
func (ps *pasts) arrived(hash string) {
	if len(ps.awaited[hash]) > 0 {
		ps.ready = append(ps.ready, hash)
	}
}

// extend lets ways go on for which files have come; they do when somebody asks for them. It returns
// the hosts whose messages may be judged differently than before, and reports whether the ring may
// change.
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
