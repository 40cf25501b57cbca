// Package record looks after the record of a node: what it lacks, what is kept from its remote, and what
// it shows and tells of itself.
package record

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/gitsync"
)

// mostLostNamed is how many lost files a warning names; "record verify" names all.
const mostLostNamed = 3

// Halts are the reasons why no agent is run at the moment, besides those of lookout.
type Halts struct {
	mu      sync.Mutex // guards what follows
	broken  string     // why record.git cannot be read; "" if it can
	lost    []string   // what the disk has lost and may hold messages, as Record.Lost names it
	books   []string   // what it has lost besides: agents are run without
	entries []string   // what the journal has lost, as Record.LostEntries names it; the same holds
	coming  bool       // a fetch is being taken in, and agents wait for its receipts
}

// Any reports whether there is a reason.
func (h *Halts) Any() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.coming || h.holed()
}

// NotWhole reports whether a part of the record is not on the disk.
func (h *Halts) NotWhole() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.holed()
}

// holed is notWhole for a caller that holds mu.
func (h *Halts) holed() bool { return h.broken != "" || len(h.lost) > 0 }

// Breaks notes why record.git cannot be read; "" if it can.
func (h *Halts) Breaks(why string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = why
}

// Loses notes what the disk has lost, and reports whether that is something else than before.
func (h *Halts) Loses(lost, entries []string) (changed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := [][]string{h.lost, h.books, h.entries}
	h.lost, h.books, h.entries = nil, nil, entries
	for _, path := range lost {
		if gitsync.HoldsNoMessage(path) {
			h.books = append(h.books, path)
		} else {
			h.lost = append(h.lost, path)
		}
	}
	return !slices.EqualFunc(before, [][]string{h.lost, h.books, h.entries}, slices.Equal)
}

// Comes notes whether a fetch is being taken in.
func (h *Halts) Comes(more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.coming = more
}

// Reasons say why no agent is run, in a few words each. A fetch that is being taken in is left out,
// because it is over in a moment.
func (h *Halts) Reasons() (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken != "" {
		all = append(all, "record.git has lost a part of itself")
	}
	if len(h.lost) > 0 {
		all = append(all, "messages, files or folders of the record are lost")
	}
	return all
}

// Damage is what status says about a record that is not whole. `remote` says that there is a
// remote.
func (h *Halts) Damage(remote bool) (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.broken != "" && remote:
		all = append(all, fmt.Sprintf("no agent is run: record.git has lost a part of itself (%s); what it lacks is fetched anew from the remote, "+
			"and what is stored stays in the journal until then", h.broken))
	case h.broken != "":
		all = append(all, fmt.Sprintf("no agent is run: record.git has lost a part of itself (%s); what is stored stays in the journal; "+
			"put the files back, or start the node again: it goes on with what can still be read", h.broken))
	}
	advice := "put what a backup has of objects/pack into that of record.git and start the node again; " +
		"or go on without what is lost: parley stop, then parley record rebuild --accept-loss"
	if remote {
		advice = "the remote is asked for it; if it has it not, " + advice
	}
	if len(h.lost) > 0 {
		all = append(all, fmt.Sprintf("no agent is run: %d of the messages, files and folders of record.git are lost on this disk, and there is no copy (%s); "+
			"\"parley record verify\" names them all; %s", len(h.lost), someLost(h.lost), advice))
	}
	if len(h.books) > 0 {
		all = append(all, fmt.Sprintf("%d of the files and folders of record.git that hold no messages are lost on this disk, and there is no copy (%s); "+
			"what is missing counts as not there; write it anew, or %s", len(h.books), someLost(h.books), advice))
	}
	if len(h.entries) > 0 {
		all = append(all, fmt.Sprintf("%d parts of the journal, with messages that were stored here, are lost on this disk (%s); other hosts may have heard them; "+
			"\"parley record verify\" names all parts; damaged files are kept as journal/*.log.bad; "+
			"when you have seen this: parley stop, then parley record rebuild --accept-loss", len(h.entries), strings.Join(h.entries[:min(len(h.entries), mostLostNamed)], "; ")))
	}
	return all
}

func someLost(lost []string) string {
	named := strings.Join(lost[:min(len(lost), mostLostNamed)], ", ")
	if len(lost) > mostLostNamed {
		named += ", …"
	}
	return named
}
