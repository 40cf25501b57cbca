package gitsync

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// Bounds of what is read out of a main that is not taken in, at each fetch.
const (
	mostRescued      = 2_000                 // messages
	mostRescuedBytes = 32 << 20              // bytes that they have
	rescueLimit      = 10 * time.Second      // for looking
	mostPassed       = 2 * maxCommitMessages // files and folders of one commit that bring nothing, before the other commits are looked at
)

// errCut says that no more of a commit is looked at.
var errCut = errors.New("the rest is not looked at")

// rescue stores the messages that hosts of the fleet have signed in a main that is not taken in, as
// if they had been heard, and reports them. It looks at what each commit has changed that the remote
// had not at the last fetch, the oldest first. One commit of a host is always looked at whole. Of
// what is the same in several places, only the first place counts.
func (s *sharer) rescue(ctx context.Context, tip objects.Hash) error {
	if s.opts.Known == nil {
		return nil
	}
	looking, cancel := context.WithTimeout(ctx, rescueLimit)
	defer cancel()
	reader := s.store.Reader()
	defer reader.Close()
	var found []MessageFile
	var arrivals []arrival
	bytes, passed, most := 0, 0, mostPassed
	looked := map[objects.Hash]bool{} // contents
	pass := func() error {
		if passed++; passed > most || looking.Err() != nil || len(found) == mostRescued || bytes > mostRescuedBytes {
			return errCut
		}
		return nil
	}
	enter := func(folder string) (bool, error) {
		ofMessages := strings.HasPrefix(folder, channelsPrefix) && strings.Count(folder, "/") <= 6
		return ofMessages || strings.HasPrefix(channelsPrefix, folder), pass()
	}
	visit := func(d objects.Difference) error {
		p, isMessage := messagePath(d.Path)
		if !isMessage || !d.New.Mode.IsFile() || looked[d.New.Hash] || s.progress.keeps(p, d.New.Hash) {
			return pass()
		}
		looked[d.New.Hash] = true
		data, err := messageData(reader, d.New.Hash)
		if err == nil && s.opts.Known(p, data) {
			found = append(found, MessageFile{Path: p, Data: data, Peer: true})
			arrivals = append(arrivals, arrival{path: p, blob: d.New.Hash})
			bytes += len(data)
		}
		return pass()
	}
	chain := s.since(tip, maxStray)
	for _, most = range []int{mostPassed, math.MaxInt} {
		for i := len(chain) - 1; i > 0 && looking.Err() == nil; i-- {
			passed = 0
			if err := s.store.DiffIn(chain[i].tree, chain[i-1].tree, enter, visit); err != nil && !errors.Is(err, errCut) {
				s.opts.Log.Debug().Err(err).Msg("a commit that is not taken in cannot be read")
			}
		}
	}
	if err := s.keep(ctx, found); err != nil {
		return err
	}
	s.tell.arrived(arrivals)
	return nil
}
