package bus

import (
	"fmt"
	"strings"

	"github.com/rs/zerolog"
)

// logger carries the embedded server's words to our log, most of them one level lower than the
// server gives them. It also tells other parts of what they wait for.
type logger struct {
	log   zerolog.Logger
	fatal chan<- string // the first reason why the server cannot start
	leaf  func()        // called when a link came or went
}

// leafNews begins what the server says when a link comes or goes.
const leafNews = "Leafnode connection"

// Noticef takes what is normal for a server.
func (l *logger) Noticef(format string, v ...any) { l.note(zerolog.DebugLevel, format, v) }

// Warnf takes what a server can live with.
func (l *logger) Warnf(format string, v ...any) { l.note(zerolog.WarnLevel, format, v) }

// Errorf takes what went wrong with one connection: strangers who knock, and links that fail. The
// type links logs the latter once.
func (l *logger) Errorf(format string, v ...any) { l.note(zerolog.DebugLevel, format, v) }

// Debugf takes details.
func (l *logger) Debugf(format string, v ...any) { l.note(zerolog.TraceLevel, format, v) }

// Tracef takes single lines of the protocol. The server is told not to send them.
func (l *logger) Tracef(format string, v ...any) { l.note(zerolog.TraceLevel, format, v) }

// Fatalf takes the reason why the server cannot start.
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
