package fleet

import (
	"encoding/hex"
	"slices"
	"sync"

	"github.com/parleyfleet/parley/protocol"
)

// lineage is the messages of a key that a revocation leaves in: those that are
// reached from the ones that it names by going backwards, each time to the message
// that a signed one follows (prev), as long as that is of the same run and key. So who
// has the key later can add nothing, whatever number and date a message claims: no
// file can be made that an older one names by its hash.
type lineage struct {
	by *Item // the revocation
	of protocol.HostKey

	mu      sync.RWMutex // guards what follows: what a snapshot writes asks beside the state
	in      map[fileHash]struct{}
	missing map[spot]struct{} // where the way back waits for a file
}

// spot is a file, by its hash, as one of a run: who writes a revocation may name one
// file for several runs.
type spot struct{ hash, run string }

// fileHash is the hash of a file in the least room, because there is one for each
// message of a revoked key.
type fileHash [hashBytes]byte

// has reports whether the revocation leaves a message of its key in. It does already
// when the message is on its way.
func (l *lineage) has(it *Item) bool {
	at, ok := parseFileHash(it.Hash)
	if !ok {
		return false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, found := l.in[at]
	_, onItsWay := l.missing[spot{it.Hash, it.Run}]
	return found || onItsWay
}

// waits notes, or with false takes back, that the way back ends for lack of a file. It
// reports whether that was not so.
func (l *lineage) waits(at spot, on bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, waited := l.missing[at]
	if delete(l.missing, at); on {
		l.missing[at] = struct{}{}
	}
	return waited != on
}

// enter takes a message in, and reports whether it was not there.
func (l *lineage) enter(hash string) bool {
	at, ok := parseFileHash(hash)
	if !ok {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.in)
	l.in[at] = struct{}{}
	return len(l.in) > before
}

func parseFileHash(hash string) (h fileHash, ok bool) {
	n, err := hex.Decode(h[:], []byte(hash[:min(len(hash), 2*hashBytes)]))
	return h, err == nil && n == hashBytes
}

// lineages are those of the revocations that the keyring asks for.
type lineages struct {
	of      map[string]*lineage  // by the hash of the revocation
	asked   map[string]bool      // those that were asked for since keep began
	awaited map[string][]waiting // by the hash of a file that is not here
	ready   []string             // awaited files that have come and were not followed yet
}

// waiting is a lineage whose way back waits for a file of a run.
type waiting struct {
	*lineage
	run string
}

func newLineages() lineages {
	return lineages{of: map[string]*lineage{}, asked: map[string]bool{}, awaited: map[string][]waiting{}}
}

// lineage is what a revocation leaves in, as far as the files are here.
func (s *State) lineage(revocation *Item) *lineage {
	s.lineages.asked[revocation.Hash] = true
	l := s.lineages.of[revocation.Hash]
	if l != nil {
		return l
	}
	r := revocation.word.(protocol.Revocation)
	l = &lineage{by: revocation, of: r.Revokes, in: map[fileHash]struct{}{}, missing: map[spot]struct{}{}}
	s.lineages.of[revocation.Hash] = l
	for _, end := range r.Last {
		s.follow(l, end.Run, end.Hash)
	}
	return l
}

// follow goes back from the file with that hash, and reports whether a word of a host
// was on the way.
func (s *State) follow(l *lineage, run, hash string) (word bool) {
	for hash != "" {
		it := s.file(hash)
		if it == nil {
			if l.waits(spot{hash, run}, true) {
				s.lineages.awaited[hash] = append(s.lineages.awaited[hash], waiting{l, run})
			}
			break
		}
		if !it.sealed || it.Host != l.of.Host || it.Key != l.of.Key || it.Run != run || !l.enter(hash) {
			break
		}
		word = word || it.Act.HostWord()
		if hash = it.Prev; it.Seq == 1 {
			break // what it follows is of another run
		}
	}
	return word
}

// file is the signed file with that hash, whether it stands at its path or has lost it
// to another; nil if none is there.
func (s *State) file(hash string) *Item {
	for _, it := range slices.Concat(hashed.find(s, hash), s.lost[hash]) {
		if it.sealed {
			return it
		}
	}
	return nil
}

// arrived notes that a file has come for which the way back of a lineage may wait.
func (s *State) arrived(it *Item) {
	if len(s.lineages.awaited[it.Hash]) > 0 {
		s.lineages.ready = append(s.lineages.ready, it.Hash)
	}
}

// extend goes on from the files that have arrived. It reports whether messages are
// judged otherwise than before, and whether words of hosts are among them.
func (s *State) extend() (turned, word bool) {
	ready := s.lineages.ready
	if len(ready) == 0 {
		return false, false
	}
	s.lineages.ready = nil
	for _, hash := range ready {
		all := s.lineages.awaited[hash]
		delete(s.lineages.awaited, hash)
		for _, l := range all {
			l.waits(spot{hash, l.run}, false)
			word = s.follow(l.lineage, l.run, hash) || word
			s.epochs[l.of.Host]++
		}
	}
	s.ringed++
	s.judged++
	s.refused.valid = false
	return true, word
}

// keep lets go of the lineages for which make does not ask.
func (l *lineages) keep(make func()) {
	clear(l.asked)
	make()
	for hash, of := range l.of {
		if l.asked[hash] {
			continue
		}
		delete(l.of, hash)
		for missing := range of.missing {
			drop(l.awaited, missing.hash, waiting{of, missing.run})
		}
	}
}

// Awaited are messages that revocations leave in and that are not here, up to most of
// each host: what one of them names in vain hides nothing of another. Until they are
// here, what stands before them does not count.
func (s *State) Awaited(most int) (all []Gap) {
	of := map[protocol.Name]map[spot]bool{}
	for _, l := range s.lineages.of {
		host := l.of.Host
		if of[host] == nil {
			of[host] = map[spot]bool{}
		}
		for at := range l.missing {
			if len(of[host]) == most {
				break
			}
			if !of[host][at] {
				of[host][at] = true
				all = append(all, Gap{Host: host, Hash: at.hash, Path: l.by.Path, Run: at.run})
			}
		}
	}
	return all
}
