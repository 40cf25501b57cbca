package record

import (
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/metrics"
	"github.com/parleyfleet/parley/node/trail"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Steps tells of each step that a message takes on this host: the log gets a line with its path,
// the metrics count it, and the trail remembers it. Most of the lines are for debugging. The end of
// a run, a cancellation, a stopped conversation, another attempt and a dead letter are logged in
// any case.
type Steps struct {
	Log     zerolog.Logger
	Metrics *metrics.Metrics // nil: nobody reads them
	Trail   *trail.Trail
}

// Wrote tells of messages of this host that were stored.
func (s *Steps) Wrote(ws []writing.Written) {
	paths := writing.Paths(ws)
	s.Trail.Note(paths, protocol.TraceStored, "")
	s.stored(paths, metrics.Own)
}

// Came tells of messages of other hosts that were stored.
func (s *Steps) Came(messages []gitsync.MessageFile, by metrics.Way) {
	paths := each.Of(messages, func(l gitsync.MessageFile) protocol.Path { return l.Path })
	s.Trail.Note(paths, protocol.TraceCame, string(by))
	s.stored(paths, by)
}

func (s *Steps) stored(paths []protocol.Path, by metrics.Way) {
	s.Metrics.Stored(paths, by)
	s.each(paths, "by", string(by), "stored")
}

func (s *Steps) debugs() bool { return s.Log.GetLevel() <= zerolog.DebugLevel }

func (s *Steps) Heard(paths []protocol.Path, host protocol.Name) {
	s.Trail.NoteTold(paths, protocol.TraceHeard, host.String())
	s.Metrics.Heard(paths, host)
	s.each(paths, "host", host.String(), "heard")
}

func (s *Steps) recorded(paths []protocol.Path) {
	s.Trail.Note(paths, protocol.TraceRecorded, "")
	s.Metrics.Recorded(paths)
	s.each(paths, "", "", "recorded")
}

func (s *Steps) pushed(paths []protocol.Path) {
	s.Trail.Note(paths, protocol.TracePushed, "")
	s.Metrics.Pushed(paths)
	s.each(paths, "", "", "pushed")
}

// each logs a line for each message, with another field, unless the field's name is "".
func (s *Steps) each(paths []protocol.Path, field, value, step string) {
	if !s.debugs() {
		return
	}
	for _, p := range paths {
		line := s.Log.Debug().Stringer("path", p)
		if field != "" {
			line.Str(field, value)
		}
		line.Msg(step)
	}
}
