package bus

import (
	"net/url"
	"strings"
	"time"
)

// rttWait bounds the measuring of a round trip to the existing system.
const rttWait = time.Second

// connected notes that the existing system is connected.
func (l *links) connected(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.since, l.problem = now, ""
}

// disconnected notes that it no longer is.
func (l *links) disconnected(now time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = now
	if err != nil {
		l.problem = err.Error()
	}
}

// existing is the connection to the existing system, as a link.
func (l *links) existing() Link {
	conn := l.bus.conn
	link := Link{Peer: withoutSecrets(l.bus.opts.URL), Out: true}
	if link.Up = conn.IsConnected(); link.Up {
		if name := conn.ConnectedServerName(); name != "" {
			link.Peer = name
		}
		start := time.Now()
		if conn.FlushTimeout(rttWait) == nil {
			link.RTT = time.Since(start)
		}
	} else if err := conn.LastError(); err != nil {
		link.Problem = err.Error()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	link.Since = l.since
	if !link.Up {
		link.Since = l.down
		if link.Problem == "" {
			link.Problem = l.problem
		}
	}
	return link
}

// withoutSecrets is addresses without passwords and tokens.
func withoutSecrets(addresses string) string {
	var shown []string
	for address := range strings.SplitSeq(addresses, ",") {
		address = strings.TrimSpace(address)
		if u, err := url.Parse(address); err == nil && u.User != nil {
			address = u.Scheme + "://…@" + u.Host
		}
		shown = append(shown, address)
	}
	return strings.Join(shown, ", ")
}

// hasUser reports whether one of the addresses names a user or token.
func hasUser(addresses string) bool {
	for address := range strings.SplitSeq(addresses, ",") {
		if u, err := url.Parse(strings.TrimSpace(address)); err == nil && u.User != nil {
			return true
		}
	}
	return false
}
