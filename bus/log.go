package bus

import (
	"fmt"
	"strings"

	"github.com/rs/zerolog"
)

// logger carries the embedded server's words to our log, most of them a level
// lower than the server thinks, and tells others what they wait for.
type logger struct {
	log   zerolog.Logger
	fatal chan<- string        // the first reason why the server cannot start
	leaf  func(problem string) // called when a link came, went or failed; "" without a reason
}

// The beginnings of what the server says about links that we dial. Its monitoring
// has nothing about links that are down, so its words are all there is.
const (
	leafDialFailed = "Error trying to connect as leafnode to remote server"
	leafRefused    = "Leafnode Error"
	leafNews       = "Leafnode connection"
)

// Noticef takes what is normal in a server's life.
func (l *logger) Noticef(format string, v ...any) { l.note(zerolog.DebugLevel, format, v) }

// Warnf takes what a server can live with.
func (l *logger) Warnf(format string, v ...any) { l.note(zerolog.WarnLevel, format, v) }

// Errorf takes what went wrong with one connection: strangers who knock, and
// links that fail, of which links tells once.
func (l *logger) Errorf(format string, v ...any) { l.note(zerolog.DebugLevel, format, v) }

// Debugf takes details.
func (l *logger) Debugf(format string, v ...any) { l.note(zerolog.TraceLevel, format, v) }

// Tracef takes single protocol lines, which the server is told not to send.
func (l *logger) Tracef(format string, v ...any) { l.note(zerolog.TraceLevel, format, v) }

// Fatalf takes why the server cannot start.
func (l *logger) Fatalf(format string, v ...any) {
	select {
	case l.fatal <- fmt.Sprintf(format, v...):
	default:
	}
	l.note(zerolog.ErrorLevel, format, v)
}

func (l *logger) note(level zerolog.Level, format string, v []any) {
	switch {
	case strings.Contains(format, leafDialFailed):
		l.leaf("it cannot be reached: " + last(v))
	case strings.Contains(format, leafRefused):
		l.leaf(refusal(last(v)))
	case strings.Contains(format, leafNews):
		l.leaf("")
	}
	if l.log.GetLevel() <= level {
		l.log.WithLevel(level).Str("part", "nats").Msgf(format, v...)
	}
}

// last is the last argument of a line, which in those that we read is the
// reason.
func last(v []any) string {
	if len(v) == 0 {
		return "no reason given"
	}
	return fmt.Sprint(v[len(v)-1])
}

// refusal is the peer's reason in words that help.
func refusal(reason string) string {
	if strings.Contains(reason, "Authorization Violation") {
		return "the peer does not accept this host's key; of a host that has just joined it learns from the record, in some seconds"
	}
	return "the peer says " + reason
}
