package bus

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// Offences are what came on the fleet's subjects and was not taken, since the start.
type Offences struct {
	Malformed uint64    // what could not be read
	Refused   uint64    // letters, questions and answers whose signature or key does not prove their sender, or whose time is too far from ours
	Last      string    // what was last refused, and why, in one line; "" if nothing was
	At        time.Time // when something was last refused or could not be read; zero if nothing was
}

// offences counts offences.
type offences struct {
	now func() time.Time
	log zerolog.Logger

	mu sync.Mutex // guards is
	is Offences
}

// Offences returns what was not taken so far.
func (o *offences) Offences() Offences {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.is
}

func (o *offences) countMalformed(msg *nats.Msg, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.is.Malformed++
	o.is.At = o.now()
	o.log.Debug().Err(err).Str("subject", msg.Subject).Msg("something on the bus cannot be read")
}

func (o *offences) countRefused(msg *nats.Msg, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.is.Refused++
	o.is.Last, o.is.At = msg.Subject+": "+err.Error(), o.now()
	o.log.Debug().Err(err).Str("subject", msg.Subject).Msg("a letter on the bus was refused")
}
