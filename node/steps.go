package node

import (
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/metrics"
	"github.com/parleyfleet/parley/node/trail"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// steps tells of each step that a message takes on this host: the log gets a line with its path,
// the metrics count it, and the trail remembers it. Most of the lines are for debugging. The end of
// a run, a cancellation, a stopped conversation, another attempt and a dead letter are logged in
// any case.
type steps struct {
	log     zerolog.Logger
	metrics *metrics.Metrics // nil: nobody reads them
	trail   *trail.Trail
}

// wrote tells of messages of this host that were stored.
func (s *steps) wrote(ws []writing.Written) {
	paths := writing.Paths(ws)
	s.trail.Note(paths, protocol.TraceStored, "")
	s.stored(paths, metrics.Own)
}

// came tells of messages of other hosts that were stored.
func (s *steps) came(messages []gitsync.MessageFile, by way) {
	paths := pathOfEach(messages, func(l gitsync.MessageFile) protocol.Path { return l.Path })
	s.trail.Note(paths, protocol.TraceCame, by.String())
	s.stored(paths, metrics.Way(by.String()))
}

func pathOfEach[T any](of []T, path func(T) protocol.Path) []protocol.Path {
	all := make([]protocol.Path, len(of))
	for i, one := range of {
		all[i] = path(one)
	}
	return all
}

func (s *steps) stored(paths []protocol.Path, by metrics.Way) {
	s.metrics.Stored(paths, by)
	s.each(paths, "by", string(by), "stored")
}

func (s *steps) debugs() bool { return s.log.GetLevel() <= zerolog.DebugLevel }

func (s *steps) heard(paths []protocol.Path, host protocol.Name) {
	s.trail.NoteTold(paths, protocol.TraceHeard, host.String())
	s.metrics.Heard(paths, host)
	s.each(paths, "host", host.String(), "heard")
}

func (s *steps) recorded(paths []protocol.Path) {
	s.trail.Note(paths, protocol.TraceRecorded, "")
	s.metrics.Recorded(paths)
	s.each(paths, "", "", "recorded")
}

func (s *steps) pushed(paths []protocol.Path) {
	s.trail.Note(paths, protocol.TracePushed, "")
	s.metrics.Pushed(paths)
	s.each(paths, "", "", "pushed")
}

// each logs a line for each message, with another field, unless the field's name is "".
func (s *steps) each(paths []protocol.Path, field, value, step string) {
	if !s.debugs() {
		return
	}
	for _, p := range paths {
		line := s.log.Debug().Stringer("path", p)
		if field != "" {
			line.Str(field, value)
		}
		line.Msg(step)
	}
}
