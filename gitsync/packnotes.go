package gitsync

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// packsName is the file in record.git that lists the packs that were there when that
// was last noted. Where one of them is missing at a start, all of main is looked at.
const packsName = "parley-packs"

// packNotes keeps that file. One goroutine uses it at a time.
type packNotes struct {
	store *objects.Store
	path  string
	log   zerolog.Logger
	noted string // what stands in the file, if this run has written it
}

// hold reports whether the packs that were noted are there.
func (n *packNotes) hold() bool {
	data, err := os.ReadFile(n.path)
	if err != nil {
		return false
	}
	there := n.store.WholePacks()
	for line := range strings.Lines(string(data)) {
		var name string
		var size int64
		if _, err := fmt.Sscanf(line, "%s %d", &name, &size); err != nil {
			return false
		}
		if now, ok := there[name]; !ok || now != size {
			return false
		}
	}
	return len(data) > 0 // a power cut may have left nothing of it
}

// write notes which packs are there, where that has changed. It need not survive a
// crash: what is missing then makes the next start look.
func (n *packNotes) write() {
	packs := n.store.SealedPacks()
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		fmt.Fprintf(&text, "%s %d\n", name, packs[name])
	}
	if text.String() == n.noted {
		return
	}
	n.noted = text.String()
	if err := os.WriteFile(n.path, []byte(n.noted), 0o644); err != nil {
		n.log.Info().Err(err).Msg("the packs are not noted: the next start looks at all of main")
	}
}
