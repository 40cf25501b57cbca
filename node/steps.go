package node

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/metrics"
	"github.com/parleyfleet/parley/node/trail"
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
func (s *steps) wrote(ws []written) {
	paths := pathOfEach(ws, func(w written) protocol.Path { return w.message.Path })
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

func (s *steps) queued(agent protocol.Name, p protocol.Path) {
	s.trail.NoteOf(p, protocol.TraceQueued, agent)
	s.log.Debug().Stringer("path", p).Stringer("agent", agent).Msg("queued")
}

func (s *steps) started(agent protocol.Name, p protocol.Path) {
	s.log.Debug().Stringer("path", p).Stringer("agent", agent).Msg("agent runs")
}

func (s *steps) ended(agent protocol.Name, p protocol.Path, r door.Result) {
	outcome := metrics.Answered
	if r.Failure != door.None {
		outcome = r.Failure.String()
	}
	s.metrics.Ran(agent, outcome, r.Elapsed)
	s.log.Info().Stringer("path", p).Stringer("agent", agent).Str("outcome", outcome).
		Stringer("elapsed", r.Elapsed.Round(time.Microsecond)).Msg("agent ran")
}

// canceled tells that somebody wants no more work on a message.
func (s *steps) canceled(agent protocol.Name, p protocol.Path, by string) {
	s.metrics.Count(agent, metrics.Canceled)
	s.log.Info().Stringer("path", p).Stringer("agent", agent).Str("by", by).Msg("run canceled")
}

// halted tells that agents have answered each other too often.
func (s *steps) halted(agent protocol.Name, p protocol.Path) {
	s.trail.NoteOf(p, protocol.TraceStopped, agent)
	s.metrics.Count(agent, metrics.Stopped)
	s.log.Info().Stringer("path", p).Stringer("agent", agent).Msg("conversation stopped")
}

// held tells that a message waits because agents have caused too many runs, of the agent or (if
// `talk` is true) in the conversation.
func (s *steps) held(agent protocol.Name, p protocol.Path, talk bool) {
	budget := metrics.OfAgent
	if talk {
		budget = metrics.OfConversation
	}
	s.metrics.Count(agent, metrics.Held, budget)
	s.log.Debug().Stringer("path", p).Stringer("agent", agent).Str("budget", budget).Msg("held")
}

// handled tells that the outcome of a message is stored: the answer, or a receipt.
func (s *steps) handled(agent protocol.Name, p protocol.Path, ws []written) {
	if len(ws) > 0 {
		s.log.Debug().Stringer("path", p).Stringer("agent", agent).Stringer("with", ws[0].message.Path).Msg("handled")
	}
}

// retried tells that an attempt failed and when the next one is due.
func (s *steps) retried(agent protocol.Name, p protocol.Path, attempt int, next time.Time) {
	s.metrics.Count(agent, metrics.Retried)
	s.log.Info().Stringer("path", p).Stringer("agent", agent).Int("attempt", attempt).Time("next", next).Msg("agent is tried again")
}

// gaveUp tells that an agent will not answer: the message is a dead letter.
func (s *steps) gaveUp(agent protocol.Name, p protocol.Path, f protocol.Failure) {
	s.metrics.Count(agent, metrics.GaveUp)
	s.log.Warn().Stringer("path", p).Stringer("agent", agent).Int("attempts", f.Attempts).Str("problem", f.Problem).Msg("dead letter")
}
