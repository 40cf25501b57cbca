package node

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// FleetStatus implements control.Service.
func (n *Node) FleetStatus(ctx context.Context) (control.FleetStatus, error) {
	hosts, err := n.Hosts(ctx)
	if err != nil {
		return control.FleetStatus{}, err
	}
	// What others have is compared with what was here before they were asked, so
	// that a message on its way is no gap.
	mine := n.report()
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	fleet := control.FleetStatus{Fleet: n.cfg.Fleet, Asked: n.cfg.Alias, Hosts: make([]control.FleetHost, len(hosts))}
	var all sync.WaitGroup
	for i, h := range hosts {
		row := &fleet.Hosts[i]
		row.Host = h
		switch h.State {
		case control.HostHere:
			row.Answered = true
			reported(row, mine, mine)
		case control.HostLive:
			all.Go(func() { n.askHost(ctx, row, mine) }) // ends with its answer, or ctx
		}
	}
	all.Wait()
	return fleet, nil
}

// askHost asks a live host how it fares.
func (n *Node) askHost(ctx context.Context, row *control.FleetHost, mine protocol.Report) {
	ping, err := n.ping(ctx, row.Alias)
	if err == nil {
		row.RTT, row.Clock, row.Version = ping.RTT, ping.Clock, ping.Version
	}
	var answer []byte
	if err == nil || hasAnswered(err) {
		answer, _, err = n.ask(ctx, row.Alias, questionStatus)
	}
	var theirs protocol.Report
	if err == nil {
		row.Answered = true
		theirs, err = protocol.DecodeReport(answer)
	}
	if err == nil && theirs.Host != row.Alias {
		err = fmt.Errorf("%s reports as %s", row.Alias, theirs.Host)
	}
	if err != nil {
		row.Answered = row.Answered || hasAnswered(err)
		row.Problem = asError(noAnswer(row.Alias, askWait, err)).Error()
		return
	}
	reported(row, mine, theirs)
}

// hasAnswered reports whether a host did answer, if only to say why it does not.
func hasAnswered(err error) bool { return errors.As(err, new(*bus.AnswerError)) }

// reported puts into a row what its host said of itself.
func reported(row *control.FleetHost, mine, theirs protocol.Report) {
	row.Version, row.Since = theirs.Version, theirs.Since
	row.Messages, row.Tip, row.Unrecorded, row.Unpushed = theirs.Messages, theirs.Tip, theirs.Unrecorded, theirs.Unpushed
	row.Remote, row.Trouble, row.AgentCount = theirs.Remote, theirs.Trouble, theirs.AgentCount
	row.Behind, row.Ahead = lag(mine, theirs)
	for _, l := range theirs.Links {
		row.Links = append(row.Links, control.LinkStatus{
			Peer: l.Peer, Host: l.Host, Address: l.Address, Out: l.Out, Up: l.Up, HalfUp: l.HalfUp, RTT: l.RTT, Problem: l.Problem})
	}
}
