package node

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// shownTime is how times stand in sentences for people.
const shownTime = "2006-01-02 15:04:05Z07:00"

// askWait is how long a host is waited for that is asked about itself: far above
// any round trip, and as long as a person waits gladly.
const askWait = 2 * time.Second

// PingHost implements control.Service.
func (n *Node) PingHost(ctx context.Context, r control.PingRequest) (control.Ping, error) {
	host, err := n.Host(ctx, control.HostRequest{Alias: r.Alias})
	if err != nil {
		return control.Ping{}, err
	}
	if err := askable(host, "ping"); err != nil {
		return control.Ping{}, err
	}
	if r.Within <= 0 {
		r.Within = askWait
	}
	ctx, cancel := context.WithTimeout(ctx, r.Within)
	defer cancel()
	ping, err := n.ping(ctx, host.Alias)
	if err != nil {
		return ping, asError(noAnswer(host.Alias, r.Within, err))
	}
	return ping, nil
}

// ping asks a host for its time.
func (n *Node) ping(ctx context.Context, host protocol.Name) (control.Ping, error) {
	asked := n.now()
	answer, took, err := n.ask(ctx, host, questionPing)
	if err != nil {
		return control.Ping{Alias: host, RTT: control.Seconds(took)}, err
	}
	n.live.measure(host, took)
	pong, err := protocol.DecodePong(answer)
	clock := pong.Now.Sub(asked.Add(took / 2))
	return control.Ping{Alias: host, RTT: control.Seconds(took), Clock: control.Seconds(clock), Version: pong.Version}, err
}

// ask asks a host a question, and says how long the answer took.
func (n *Node) ask(ctx context.Context, host, what protocol.Name) (answer []byte, took time.Duration, err error) {
	b := n.currentBus()
	if b == nil {
		return nil, 0, ErrDraining
	}
	begin := time.Now()
	answer, err = b.Ask(ctx, host, what, nil)
	return answer, time.Since(begin), err
}

// noAnswer is why a host did not answer, in words for people.
func noAnswer(host protocol.Name, within time.Duration, err error) error {
	switch {
	case hasAnswered(err):
		return control.Errorf(control.KindFailed, "", "%s", err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return control.Errorf(control.KindFailed, "how it can be reached: parley host show "+host.String(), "%s did not answer within %s", host, within)
	}
	return err
}
