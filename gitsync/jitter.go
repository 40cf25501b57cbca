package gitsync

import (
	"math/rand/v2"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/protocol"
)

// jitter is how long to wait before a push that was rejected is tried again, as the
// record's own files say (Crosstalk, JITTER.md). One goroutine uses it at a time.
type jitter struct {
	main   *Reader
	log    zerolog.Logger
	warned string // what was last warned of
}

// pause is how long to wait before the attempt-th push again.
func (j *jitter) pause(attempt int) time.Duration {
	return rand.N(j.rule().Limit(attempt))
}

// rule is what main says of it now. A file that cannot be read is warned of
// once and passed over.
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
