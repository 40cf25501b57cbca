package bus

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/internal/pattern"
)

// What an existing system refuses us, in words that say what to ask its operator for.

// permissionError is how NATS names a subject that it denies.
var permissionError = pattern.New(`(?i)permissions violation for (publish|subscription) to "([^"]+)"`)

// permissionOf is the content of a permission error: whether it is about publishing or about a
// subscription, and the subject. It is nil for other errors and for none.
func permissionOf(err error) []string {
	if err == nil {
		return nil
	}
	return permissionError.FindStringSubmatch(err.Error())
}

// reported takes in what the system says without being asked: that it no longer knows us, or that
// it denies us a subject. It returns false for an error that does not concern the fleet. It is
// logged once an hour.
func (s *system) reported(err error) bool {
	if m := permissionOf(err); m != nil && s.needs(m[2]) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if strings.EqualFold(m[1], "publish") {
			s.publish, s.publishedAt = m[2], s.bus.opts.Now()
		} else {
			s.subscribe, s.earlier = m[2], false
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

// tell logs a problem. The caller holds s.mu.
func (s *system) tell(problem string) {
	now := s.bus.opts.Now()
	if s.told == problem && now.Sub(s.toldAt) < time.Hour {
		return
	}
	s.told, s.toldAt = problem, now
	s.bus.opts.Log.Warn().Str("problem", problem).Msg("the NATS system does not carry the bus; it is tried again")
}

// needs reports whether the bus does not work without that subject.
func (s *system) needs(subject string) bool {
	b := s.bus
	return strings.HasPrefix(subject, strings.TrimSuffix(b.subjects.All(), ">")) ||
		strings.HasPrefix(subject, strings.TrimSuffix(inboxes(b.opts.Fleet), ">")) || strings.HasPrefix(subject, b.inbox)
}

// denial is what the system denies us now, or "". The caller holds s.mu.
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

// explain says why an attempt to connect failed and, if that is known, what to do.
func (s *system) explain(err error) string {
	o := s.bus.opts
	switch {
	case errors.Is(err, nats.ErrAuthorization) && o.Login.ownKey(o.URL):
		if shown, err := o.Key.PublicKey(); err != nil || shown != s.bus.identity().public {
			return "the system does not accept the key that this host had when it started: stop and start the node, so that it shows its new key, " + s.bus.identity().public
		}
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
	if dial := new(net.OpError); errors.As(err, &dial) && dial.Op == "dial" {
		const away = "it cannot be reached: "
		_, reason := noRoute(err)
		return away + strings.TrimPrefix(reason, away)
	}
	text := strings.TrimPrefix(err.Error(), "nats: ")
	if strings.Contains(text, "certificate signed by unknown authority") {
		text += "; name the file of the system's certificate authority with bus.ca"
	}
	return text
}
