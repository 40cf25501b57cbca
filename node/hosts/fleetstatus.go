package hosts

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// FleetStatus answers control.AskFleet.
func (q *questioner) FleetStatus(ctx context.Context, r control.HostsRequest) (control.FleetStatus, error) {
	hosts := q.directory.Known(r.All)
	// What others have is compared with what was here before they were asked. So a message that is
	// on its way does not look like a gap.
	mine := q.reporter.report()
	ctx, cancel := context.WithTimeout(ctx, presence.AskWait)
	defer cancel()
	fleet := control.FleetStatus{Fleet: q.Config.Fleet, Asked: q.Config.Alias, Hosts: make([]control.FleetHost, len(hosts))}
	var all sync.WaitGroup
	for at, h := range hosts {
		row := &fleet.Hosts[at]
		row.Host = h
		switch h.State {
		case control.HostHere:
			row.Answered = true
			reported(row, mine, mine)
		case control.HostLive:
			all.Go(func() { q.askHost(ctx, row, mine) }) // ends with its answer, or ctx
		}
	}
	all.Wait()
	return fleet, nil
}

// askHost asks a live host how it is doing and, at the same time, how far away it is. So a host
// under load has the full time for each.
func (q *questioner) askHost(ctx context.Context, row *control.FleetHost, mine protocol.Report) {
	var ping control.Ping
	var pingErr error
	var pinging sync.WaitGroup
	pinging.Go(func() { ping, pingErr = q.Asker.Ping(ctx, row.Alias) }) // ends with the answer, or ctx
	answer, took, err := q.Asker.Ask(ctx, row.Alias, presence.QuestionStatus)
	pinging.Wait()
	row.Answered = err == nil || pingErr == nil || presence.HasAnswered(err)
	var theirs protocol.Report
	if err == nil {
		theirs, err = protocol.DecodeReport(answer)
	}
	if err == nil && theirs.Host != row.Alias {
		err = fmt.Errorf("%s reports as %s", row.Alias, theirs.Host)
	}
	if err == nil {
		reported(row, mine, theirs)
		row.RTT = control.Seconds(took)
	} else {
		row.Problem = writing.AsError(NoAnswer(row.Alias, presence.AskWait, err)).Error()
	}
	if pingErr == nil {
		row.RTT, row.Clock, row.Version = ping.RTT, ping.Clock, ping.Version
	}
}

// reported fills a row with what its host has said of itself.
func reported(row *control.FleetHost, mine, theirs protocol.Report) {
	row.Version, row.Since = theirs.Version, theirs.Since
	row.Messages, row.Tip, row.Unrecorded, row.Unpushed = theirs.Messages, theirs.Tip, theirs.Unrecorded, theirs.Unpushed
	row.Remote, row.Trouble, row.AgentCount = theirs.Remote, theirs.Trouble, theirs.AgentCount
	row.Behind, row.Ahead = lag(mine, theirs)
	for _, l := range theirs.Links {
		row.Links = append(row.Links, control.LinkStatus{
			Peer: l.Peer, Host: l.Host, Address: l.Address, Out: l.Out, Up: l.Up, HalfUp: l.HalfUp, RTT: control.Seconds(l.RTT), Problem: l.Problem})
	}
}

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
