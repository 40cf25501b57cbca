package gitsync

import (
	"math/rand/v2"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/protocol"
)

// jitter is how long to wait before a rejected push is tried again, as the record's own files say
// (Crosstalk, JITTER.md). Only one goroutine uses it at a time.
type jitter struct {
	main   *Reader
	log    zerolog.Logger
	warned string // the last warning
}

// pause is how long to wait before the push is tried again for the n-th time, where n is `attempt`.
func (j *jitter) pause(attempt int) time.Duration {
	return rand.N(j.rule().Limit(attempt))
}

// rule is what main says about it now. A file that cannot be read causes one warning, and is passed
// over.
func (j *jitter) rule() protocol.Jitter {
	trouble := ""
	rule := protocol.DefaultJitter
	for _, path := range protocol.JitterFiles {
		data, ok, err := j.main.ReadFile(path)
		if err == nil && !ok {
			continue
		}
		if err == nil {
			rule, err = protocol.ParseJitter(data)
		}
		if err == nil {
			break
		}
		rule = protocol.DefaultJitter
		trouble += path + ": " + err.Error() + "; "
	}
	if trouble != "" && trouble != j.warned {
		j.log.Warn().Msg("a rule for rejected pushes is passed over: " + trouble + "mend it by git")
	}
	j.warned = trouble
	return rule
}
