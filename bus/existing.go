package bus

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/internal/redact"
)

const (
	// rttWait bounds the measuring of a round trip to the existing system.
	rttWait = time.Second
	// deniedFor is how long a subject counts as one that we may not publish to
	// after the system has said so. The node announces itself more often.
	deniedFor = 12 * time.Second
	// deniedRetry is the time between two new connections while the system denies
	// us a subject: new permissions count, and renewed credentials are read, then.
	deniedRetry = 30 * time.Second
)

// system is the connection to an existing NATS system: whether it is up, and
// what keeps it from being of use.
type system struct {
	bus  *Bus
	came chan struct{} // holds one token after it came up

	mu          sync.Mutex // guards the fields below
	since       time.Time  // when it came up last
	down        time.Time  // when it went down last
	problem     string     // why the last try failed
	subscribe   string     // a subject that we need and may not subscribe to, "" for none
	publish     string     // one that we may not publish to
	publishedAt time.Time  // when that was said last
	told        string     // the problem that was logged last
	toldAt      time.Time  // when
}

func newSystem(b *Bus) *system {
	return &system{bus: b, came: make(chan struct{}, 1), down: b.opts.Now()}
}

// connected notes that the system is connected.
func (s *system) connected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since, s.problem = s.bus.opts.Now(), ""
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// recheck finds out whether a system that denied us a subject, and has just been
// connected anew, still does: it would have said so before it answered.
func (s *system) recheck() {
	if s.bus.conn.FlushTimeout(connectWait) != nil || permissionOf(s.bus.conn.LastError()) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribe = ""
}

// disconnected notes that it no longer is, or that a try to connect failed.
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

// permissionError is how NATS names a subject that is denied.
var permissionError = regexp.MustCompile(`(?i)permissions violation for (publish|subscription) to "([^"]+)"`)

// permissionOf is what a permission error says: whether it is about publishing
// or a subscription, and which subject. It is nil for other errors and for none.
func permissionOf(err error) []string {
	if err == nil {
		return nil
	}
	return permissionError.FindStringSubmatch(err.Error())
}

// reported takes in what the system says without being asked: that it does not
// know us any more, or denies us a subject. It reports false where that is no
// matter of the fleet. The log is told once an hour.
func (s *system) reported(err error) bool {
	if m := permissionOf(err); m != nil && s.bus.needs(m[2]) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if strings.EqualFold(m[1], "publish") {
			s.publish, s.publishedAt = m[2], s.bus.opts.Now()
		} else {
			s.subscribe = m[2]
		}
		s.tell(s.denial())
		return true
	}
	for _, refusal := range []error{nats.ErrAuthorization, nats.ErrAuthRevoked, nats.ErrAuthExpired, nats.ErrAccountAuthExpired} {
		if errors.Is(err, refusal) {
			s.disconnected(err)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.tell(s.problem)
			return true
		}
	}
	return false
}

// tell logs a problem. s.mu is held.
func (s *system) tell(problem string) {
	now := s.bus.opts.Now()
	if s.told == problem && now.Sub(s.toldAt) < time.Hour {
		return
	}
	s.told, s.toldAt = problem, now
	s.bus.opts.Log.Warn().Str("problem", problem).Msg("the NATS system does not carry the bus; it is tried again")
}

// needs reports whether subject is one of those without which the bus does not
// work.
func (b *Bus) needs(subject string) bool {
	return strings.HasPrefix(subject, strings.TrimSuffix(b.subjects.All(), ">")) ||
		strings.HasPrefix(subject, strings.TrimSuffix(inboxes(b.opts.Fleet), ">")) || strings.HasPrefix(subject, b.inbox)
}

// denial is what the system denies us now, "" for nothing. s.mu is held.
func (s *system) denial() string {
	what := ""
	switch {
	case s.subscribe != "":
		what = "subscribe to " + s.subscribe
	case s.publish != "" && s.bus.opts.Now().Sub(s.publishedAt) < deniedFor:
		what = "publish to " + s.publish
	default:
		return ""
	}
	return "the system does not let this host " + what + ": " + s.request("ask its operator to let this user ")
}

// request is what the operator of the system has to allow.
func (s *system) request(begin string) string {
	o := s.bus.opts
	publish := []string{s.bus.subjects.From(o.Alias), inboxes(o.Fleet)}
	subscribe := []string{s.bus.subjects.All(), inboxesOf(o.Login.InboxPrefix, o.Fleet, o.Alias)}
	return fmt.Sprintf("%spublish to %s, and subscribe to %s", begin, strings.Join(publish, " and "), strings.Join(subscribe, " and "))
}

// explain is why a try to connect failed, and what to do where that is known.
func (s *system) explain(err error) string {
	o := s.bus.opts
	switch {
	case errors.Is(err, nats.ErrAuthorization) && o.Login.ownKey(o.URL):
		return "the system does not accept this host's key: " + s.request("ask its operator for a user with the nkey "+s.bus.identity().public+" who may ")
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthRevoked):
		return "the system does not accept " + o.Login.what() + ": check that, or ask its operator"
	case errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAccountAuthExpired):
		return "the system says that the time of " + o.Login.what() + " is over: ask its operator to renew it"
	case errors.Is(err, nats.ErrNkeysNotSupported):
		return "the system does not ask for keys: put a user and password, or a token, into the URL"
	case errors.Is(err, nats.ErrNoServers):
		return "it cannot be reached"
	}
	text := strings.TrimPrefix(err.Error(), "nats: ")
	if strings.Contains(text, "certificate signed by unknown authority") {
		text += "; name the file of the system's certificate authority with bus.ca"
	}
	return text
}

// link is the connection as a link.
func (s *system) link() Link {
	conn := s.bus.conn
	link := Link{Peer: redact.URLs(s.bus.opts.URL), Out: true, Up: conn.IsConnected()}
	if link.Up {
		if name := conn.ConnectedServerName(); name != "" {
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
	} else if link.Problem = s.denial(); link.Problem != "" {
		link.Up, link.HalfUp = false, true
	}
	return link
}

// watch looks again at what was denied whenever the system has come up, and
// connects anew from time to time while it denies something, until the bus
// closes.
func (s *system) watch() {
	timer := time.NewTicker(deniedRetry)
	defer timer.Stop()
	for {
		select {
		case <-s.bus.ctx.Done():
			return
		case <-s.came:
			s.recheck()
		case <-timer.C:
			s.retry()
			s.tellDown()
		}
	}
}

// tellDown logs why the system is not connected, where that is so.
func (s *system) tellDown() {
	if s.bus.conn.IsConnected() {
		return
	}
	link := s.link() // takes in the last error
	s.mu.Lock()
	defer s.mu.Unlock()
	if !link.Up && link.Problem != "" {
		s.tell(link.Problem)
	}
}

// retry connects anew where the system denies us something.
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
