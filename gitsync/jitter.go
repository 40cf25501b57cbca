package gitsync

import (
	"math/rand/v2"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// jitter is how long to wait before the attempt-th push again, as the record's own
// files say (Crosstalk, JITTER.md). The caller holds share.
func (r *Record) jitter(attempt int) time.Duration {
	return rand.N(r.jitterRule().Limit(attempt))
}

// jitterRule is what main says of it now. A file that cannot be read is warned of
// once and passed over.
func (r *Record) jitterRule() protocol.Jitter {
	trouble := ""
	rule := protocol.DefaultJitter
	for _, path := range protocol.JitterFiles {
		data, ok, err := r.ReadFile(path)
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
	if trouble != "" && trouble != r.jitterTrouble {
		r.log.Warn().Msg("a rule for rejected pushes is passed over: " + trouble + "mend it by git")
	}
	r.jitterTrouble = trouble
	return rule
}
