package record

import (
	"maps"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/notices"
)

// The kinds of flags of files that are not in the state.
const (
	flagSignature  = "signature"  // its signature does not hold
	flagReplay     = "replay"     // it is a signed message that was copied to another path
	flagUnreadable = "unreadable" // it is no message
)

// Flags counts problems of files of the record, by kind: those of the state, and those of files
// that are no messages.
func Flags(s *fleet.State, flaws []books.Flaw) []control.Flag {
	counts := map[string]int{}
	for kind, count := range s.Flags() {
		counts[string(kind)] += count
	}
	for _, f := range flaws {
		counts[flagOf(s, f)]++
	}
	return each.Of(slices.Sorted(maps.Keys(counts)), func(kind string) control.Flag { return control.Flag{Kind: kind, Count: counts[kind]} })
}

func flagOf(s *fleet.State, f books.Flaw) string {
	if !f.Refused {
		return flagUnreadable
	}
	if _, copied := s.Ledger.Original(f.Hash); copied && f.Hash != "" {
		return flagReplay
	}
	return flagSignature
}

// WarnOfKey warns when a message comes that counts for nothing because of the key that signed it:
// once for each kind and key. All such messages are counted.
func WarnOfKey(s *fleet.State, it *fleet.Item, warnings *notices.Notices) {
	kind := s.Kind(it)
	about := "key " + string(kind) + " " + it.Host.String() + " " + it.Key
	if kind != "" {
		warnings.Once(about, "refused %s: %s", it.Path, s.Keys().Why(&it.File))
	}
}
