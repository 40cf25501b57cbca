package bus

import (
	"fmt"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/wait"
)

const (
	// rttWait bounds how long a round trip to the existing system is measured.
	rttWait = time.Second
	// deniedFor is how long a subject counts as denied for publishing after the system has said so.
	// The node announces itself more often than that.
	deniedFor = 12 * time.Second
	// deniedRetry is the time between two new connections while the system denies us a subject.
	// With a new connection, new permissions count and renewed credentials are read.
	deniedRetry = 30 * time.Second
)

// system is the connection to an existing NATS system: whether it is up, and why it cannot be used.
type system struct {
	bus  *Bus
	came chan struct{} // holds one token after the connection has come up

	mu          sync.Mutex // guards the fields below
	since       time.Time  // when it last came up
	down        time.Time  // when it last went down
	problem     string     // why the last attempt failed
	subscribe   string     // a subject that we need but may not subscribe to; "" for none
	earlier     bool       // the system has said that in an earlier connection
	publish     string     // a subject on which we may not publish
	publishedAt time.Time  // when the system last said that
	told        string     // the problem that was last logged
	toldAt      time.Time  // when it was logged
}

func (s *system) connected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since, s.problem, s.earlier = s.bus.opts.Now(), "", true
	wait.Nudge(s.came)
}

// arrived waits until the system, which has just been connected, knows our subscriptions. Only then
// can we hear answers. If it denied a subscription in an earlier connection and has not denied it
// by then, the subscription is granted now.
func (s *system) arrived() {
	if s.bus.conn.FlushTimeout(connectWait) != nil {
		return // it has gone again
	}
	s.mu.Lock()
	if s.earlier {
		s.subscribe = ""
	}
	s.mu.Unlock()
	s.bus.queue.linked()
}

// disconnected notes that the system is no longer connected, or that an attempt to connect has
// failed.
func (s *system) disconnected(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down.Before(s.since) {
		s.down = s.bus.opts.Now()
	}
	if err != nil {
		s.problem = s.explain(err)
	}
}

// up reports whether the system carries the bus, as far as this host knows.
func (s *system) up() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bus.conn.IsConnected() && s.denial() == ""
}

func (s *system) link() Link {
	conn := s.bus.conn
	link := Link{Peer: redact.URLs(s.bus.opts.URL), Out: true, Up: conn.IsConnected()}
	if link.Up {
		// A server without a name of its own has its id as its name.
		if name := conn.ConnectedServerName(); name != "" && name != conn.ConnectedServerId() {
			link.Peer = name
		}
		start := time.Now()
		if conn.FlushTimeout(rttWait) == nil {
			link.RTT = time.Since(start)
		}
	} else if err := conn.LastError(); err != nil && permissionOf(err) == nil {
		s.disconnected(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	link.Since = s.since
	if !link.Up {
		link.Since, link.Problem = s.down, s.problem
		link.Young = link.young(s.bus.opts.Now())
	} else if link.Problem = s.denial(); link.Problem != "" {
		link.Up, link.HalfUp = false, true
	} else if most := conn.MaxPayload(); most < maxPayload {
		link.Problem = fmt.Sprintf("it carries at most %d bytes in one piece (max_payload), so larger messages come by git alone; parley would use %d", most, maxPayload)
	}
	return link
}

// watch tells when the system has come up and can be used. While the system denies something, it
// connects anew from time to time. It ends when the bus closes.
func (s *system) watch() {
	timer := time.NewTicker(deniedRetry)
	defer timer.Stop()
	for {
		select {
		case <-s.bus.ctx.Done():
			return
		case <-s.came:
			s.arrived()
		case <-timer.C:
			s.retry()
			s.tellDown()
		}
	}
}

func (s *system) tellDown() {
	if s.bus.conn.IsConnected() {
		return
	}
	link := s.link() // this takes in the last error
	s.mu.Lock()
	defer s.mu.Unlock()
	if !link.Up && link.Problem != "" {
		s.tell(link.Problem)
	}
}

// retry connects anew if the system denies us something.
func (s *system) retry() {
	s.mu.Lock()
	denial := s.denial()
	s.mu.Unlock()
	if denial == "" {
		return
	}
	if err := s.bus.conn.ForceReconnect(); err != nil {
		s.bus.opts.Log.Debug().Err(err).Msg("cannot connect to the NATS system anew")
	}
}
