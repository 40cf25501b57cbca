package keys

import (
	"encoding/hex"
	"slices"
	"sync"

	"github.com/parleyfleet/parley/protocol"
)

// lineage is the messages of a key that a revocation leaves in, or those that led to a rotation. It
// is found by going backwards from the messages that the revocation or rotation names, each time to
// the message that a signed one follows (prev), within one key. So a thief who gets the key later
// can add nothing, whatever number and date his message claims: nobody can make a file whose hash an
// older message names.
//
// A revocation leaves in nothing else, and its ways back end with their runs. A rotation accuses
// nobody. So its ways back lead through all runs. While a file on a way is missing, everything that
// is dated before the file that follows it may have led to the rotation too.
type lineage struct {
	by   *File // the revocation or rotation
	of   protocol.HostKey
	wide bool // `by` is a rotation

	mu      sync.RWMutex // guards the fields below: a snapshot reads them while the state goes on
	in      map[fileHash]struct{}
	missing map[fileOfRun]protocol.Path // files for which the way back waits, each with the path of the last one that names it
}

// fileOfRun is a file, by its hash, together with a run: a revocation may name one file for several
// runs.
type fileOfRun struct{ hash, run string }

// fileHash is the first half of the SHA-256 of a file: nobody makes a file for a half either. It
// takes little room, because there is one for each message of an old key.
type fileHash [16]byte

// has reports whether a message of the key is among them. It is true as soon as the way back has
// reached the message, even if its file is not here yet.
func (l *lineage) has(it *File) bool {
	at, ok := parseFileHash(it.Hash)
	if !ok {
		return false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, found := l.in[at]
	if found || !l.wide {
		_, onItsWay := l.missing[fileOfRun{it.Hash, it.Run}]
		return found || onItsWay
	}
	for at, before := range l.missing {
		if at.hash == it.Hash || it.Path.Compare(before) < 0 {
			return true
		}
	}
	return false
}

func (l *lineage) reached(it *File) bool {
	at, ok := parseFileHash(it.Hash)
	l.mu.RLock()
	defer l.mu.RUnlock()
	_, found := l.in[at]
	return ok && found
}

// size is how many messages are among them, as far as their files are here.
func (l *lineage) size() int {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.in)
}

// waits notes that the way back from the path `named` ends because a file is missing. It reports
// whether the file was not missing before.
func (l *lineage) waits(at fileOfRun, named protocol.Path) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, waited := l.missing[at]
	if !waited || before.Compare(named) < 0 {
		l.missing[at] = named
	}
	return !waited
}

func (l *lineage) came(at fileOfRun) (named protocol.Path) {
	l.mu.Lock()
	defer l.mu.Unlock()
	named = l.missing[at]
	delete(l.missing, at)
	return named
}

// enter adds a message, and reports whether it was new.
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
	n, err := hex.Decode(h[:], []byte(hash[:min(len(hash), 2*len(h))]))
	return h, err == nil && n == len(h)
}

// lineages are the lineages of those revocations for which the ring asks.
type lineages struct {
	signed  func(hash string) *File // see Files.Signed
	of      map[string]*lineage     // by the hash of the revocation
	asked   map[string]bool         // those that were asked for since keep began
	awaited map[string][]waiting    // by the hash of a file that is missing
	ready   []string                // missing files that have come and were not followed yet
}

// waiting is a lineage whose way back waits for a file of a run.
type waiting struct {
	*lineage
	run string
}

func newLineages(signed func(hash string) *File) lineages {
	return lineages{signed: signed, of: map[string]*lineage{}, asked: map[string]bool{}, awaited: map[string][]waiting{}}
}

// leftBy is what a revocation leaves in, or what led to a rotation, as far as the files are here.
func (ls *lineages) leftBy(by *File) *lineage {
	ls.asked[by.Hash] = true
	l := ls.of[by.Hash]
	if l != nil {
		return l
	}
	l = &lineage{by: by, in: map[fileHash]struct{}{}, missing: map[fileOfRun]protocol.Path{}}
	ls.of[by.Hash] = l
	switch says := by.Word.(type) {
	case protocol.Revocation:
		l.of = says.Revokes
		for _, end := range says.Last {
			ls.follow(l, by.Path, end.Run, end.Hash)
		}
	case protocol.Rotation:
		l.of, l.wide = protocol.HostKey{Host: by.Host, Key: by.Key}, true
		ls.follow(l, by.Path, "", by.Prev)
		for _, end := range says.Last {
			ls.follow(l, by.Path, "", end.Hash)
		}
	}
	return l
}

// follow goes back from the file with that hash, which the one at `named` names. It reports whether a word of a
// host was on the way.
func (ls *lineages) follow(l *lineage, named protocol.Path, run, hash string) (word bool) {
	for hash != "" {
		f := ls.signed(hash)
		if f == nil {
			if l.waits(fileOfRun{hash, run}, named) {
				ls.awaited[hash] = append(ls.awaited[hash], waiting{l, run})
			}
			break
		}
		if f.Host != l.of.Host || f.Key != l.of.Key || !l.wide && f.Run != run || !l.enter(hash) {
			break
		}
		word = word || f.Act.HostWord()
		if named, hash = f.Path, f.Prev; f.Seq == 1 && !l.wide {
			break // the message before it is of another run
		}
	}
	return word
}

// arrived notes that a file has come for which the way back of a lineage may be waiting.
func (ls *lineages) arrived(hash string) {
	if len(ls.awaited[hash]) > 0 {
		ls.ready = append(ls.ready, hash)
	}
}

// extend goes on from the files that have arrived. It returns the hosts whose messages may be
// judged differently than before. It reports whether words of hosts are among those messages, and
// whether messages that counted may count no more.
func (ls *lineages) extend() (of []protocol.Name, word, narrowed bool) {
	ready := ls.ready
	ls.ready = nil
	for _, hash := range ready {
		all := ls.awaited[hash]
		delete(ls.awaited, hash)
		for _, l := range all {
			word = ls.follow(l.lineage, l.came(fileOfRun{hash, l.run}), l.run, hash) || word || l.wide
			narrowed = narrowed || l.wide
			of = append(of, l.of.Host)
		}
	}
	return of, word, narrowed
}

// keep calls `make`, and then drops the lineages for which `make` did not ask.
func (ls *lineages) keep(make func()) {
	clear(ls.asked)
	make()
	for hash, l := range ls.of {
		if ls.asked[hash] {
			continue
		}
		delete(ls.of, hash)
		for at := range l.missing {
			ls.awaited[at.hash] = slices.DeleteFunc(ls.awaited[at.hash], func(w waiting) bool { return w == waiting{l, at.run} })
			if len(ls.awaited[at.hash]) == 0 {
				delete(ls.awaited, at.hash)
			}
		}
	}
}

// Gap is a message that is missing in a host's chain: the one with that hash.
type Gap struct {
	Host protocol.Name
	Hash string

	// Path, Run and Seq are those of the message that shows the gap: the one that follows the
	// missing message.
	Path protocol.Path
	Run  string
	Seq  uint64
}

// missing are at most `most` of the files of each host for which a way back waits. There is a bound
// for each host, so that one host that names files in vain hides no file of another.
func (ls *lineages) missing(most int) (all []Gap) {
	of := map[protocol.Name]map[fileOfRun]bool{}
	for _, l := range ls.of {
		host := l.of.Host
		if of[host] == nil {
			of[host] = map[fileOfRun]bool{}
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
