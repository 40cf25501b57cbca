package hosts

import (
	"math"

	"github.com/parleyfleet/parley/protocol"
)

// lag is how many messages each of two hosts lacks, at least, of those that the other one has. The
// ends of the chains show what came last. Holes before the ends, and messages without a host, show
// in the two totals: `theirs` lacks so many more messages than `mine` lacks as the difference of
// the totals says.
func lag(mine, theirs protocol.Report) (behind, ahead int) {
	behind, ahead = beyond(mine.Have, theirs.Have), beyond(theirs.Have, mine.Have)
	more := mine.Messages - theirs.Messages
	return max(behind, more+ahead, 0), max(ahead, behind-more, 0)
}

// beyond is by how many messages the chains of `some` go on after the ends of the chains of
// `others`.
func beyond(some, others []protocol.Have) int {
	ends := make(map[protocol.Name]protocol.Have, len(others))
	for _, h := range others {
		ends[h.Host] = h
	}
	count := 0
	for _, h := range some {
		end, known := ends[h.Host]
		switch {
		case !known, h.Path.Compare(end.Path) > 0 && h.Run != end.Run:
			count += few(h.Seq)
		case h.Path.Compare(end.Path) > 0 && h.Seq > end.Seq:
			count += few(h.Seq - end.Seq)
		}
	}
	return count
}

// few is a number that another host stated, made so small that such numbers can be added up.
func few(n uint64) int { return int(min(n, math.MaxInt32)) }
