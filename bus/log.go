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
	fatal chan<- string // the first reason why the server cannot start
	leaf  func()        // called when a link came or went
}

// leafNews begins what the server says when a link comes or goes.
const leafNews = "Leafnode connection"

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
	if strings.Contains(format, leafNews) {
		l.leaf()
	}
	if l.log.GetLevel() <= level {
		l.log.WithLevel(level).Str("part", "nats").Msgf(format, v...)
	}
}
