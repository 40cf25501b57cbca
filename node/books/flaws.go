package books

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/protocol"
)

// Flaws are the files of the record that should be messages and are none. It also warns about what
// others say on the bus and what is no message, once for each path, but does not keep it.
type Flaws struct {
	notices *notices.Notices

	mu      sync.Mutex // guards what follows
	all     []Flaw
	refused int // how many warnings were about a signature
}

// NewFlaws makes an empty list that warns through `ns`.
func NewFlaws(ns *notices.Notices) *Flaws { return &Flaws{notices: ns} }

// Flaw is a file of the record that the state does not hold, and the reason.
type Flaw struct {
	Path    string `json:"path"`
	Refused bool   `json:"refused,omitempty"`
	Why     string `json:"why"`
	Hash    string `json:"hash,omitempty"` // of a refused file
}

// Complain notes a file that is no message, or whose signature is refused. It gives one warning,
// which names the path, and never another one for it. `kept` says that the file is in the record.
func (fs *Flaws) Complain(l gitsync.MessageFile, err error, kept bool) {
	var refusal *keys.RefusedError
	f := Flaw{Path: l.Path.String(), Why: err.Error()}
	if errors.As(err, &refusal) {
		f.Refused, f.Why, f.Hash = true, refusal.Err.Error(), protocol.Hash(l.Data)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.warn(f) && kept {
		fs.all = append(fs.all, f)
	}
}

// Note notes a file of the record. There is a warning about it at this start and every later one.
func (fs *Flaws) Note(f Flaw) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all = append(fs.all, f)
	fs.warn(f)
}

// warn warns about a file once, and reports whether this was the first time. The caller holds mu.
func (fs *Flaws) warn(f Flaw) (first bool) {
	if !f.Refused {
		return fs.notices.Once(f.Path, "skipped %s: it is no message: %s", f.Path, f.Why)
	}
	if first = fs.notices.Once(f.Path, "refused %s: %s", f.Path, f.Why); first {
		fs.refused++
	}
	return first
}

// List is all flaws that are in the record.
func (fs *Flaws) List() []Flaw {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return slices.Clone(fs.all)
}

// CountRefused is how many warnings were about a signature.
func (fs *Flaws) CountRefused() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.refused
}

// Clear forgets all.
func (fs *Flaws) Clear() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.all, fs.refused = nil, 0
}

// SayUnread warns once about lines that cannot be read in what hosts have last told the fleet of
// themselves. The other lines count.
func (b *Books) SayUnread(hosts ...*keys.Host) {
	for _, h := range hosts {
		if len(h.Unread) > 0 {
			about := "unread " + h.Alias.String() + " " + protocol.Hash([]byte(strings.Join(h.Unread, "\n")))
			b.o.Notices.Once(about, "the host %s says of itself what this version of parley cannot read, and the rest counts: %s", h.Alias, UnreadText(h.Unread))
		}
	}
}

// UnreadText shows the first of some lines.
func UnreadText(lines []string) string {
	const few, most = 3, 100
	shown := make([]string, 0, few+1)
	for i, line := range lines {
		if i == few {
			shown = append(shown, "…")
			break
		}
		if runes := []rune(line); len(runes) > most {
			line = string(runes[:most]) + "…"
		}
		shown = append(shown, line)
	}
	return strings.Join(shown, "; ")
}

// UnreadLines are the lines that cannot be read in a message in which a host tells of itself. For
// any other message there are none.
func UnreadLines(it *fleet.Item, data []byte) []string {
	if it.Act != protocol.ActHostJoin && it.Act != protocol.ActHostAgents {
		return nil
	}
	m, err := protocol.Decode(it.Path, data)
	if err != nil {
		return nil
	}
	says, err := protocol.ParseHost(m.Body)
	if err != nil {
		return nil
	}
	return says.Unread
}
