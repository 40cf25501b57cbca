package bus

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// helloTimeout bounds the TLS handshake and the two lines after it.
const helloTimeout = 3 * time.Second

// keepAlive lets the system notice that a machine is gone. While bytes flow, the pings of NATS
// notice it earlier.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}

// knocked is a connection to a host that has proved its key and said yes, and whose server has
// greeted ours.
type knocked struct {
	conn    *tls.Conn
	host    protocol.Name
	key     string
	address string
	took    time.Duration // round trip time of the two lines
	off     time.Duration // its clock minus ours
	version string
	takes   bool   // it was told that this host takes links
	greets  []byte // what its server has said first; nil in a probe
}

// knock connects to one address of a hub, makes sure that it is that hub, and asks for a link. The
// error is a *DialError.
func (b *Bus) knock(ctx context.Context, t target, probe bool) (*knocked, error) {
	k := &knocked{host: t.hub.Alias, address: t.address}
	fail := func(cause Cause, reason string) (*knocked, error) {
		return nil, &DialError{Host: k.host, Address: t.address, Cause: cause, Reason: reason}
	}
	dialling, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	raw, err := (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext(dialling, "tcp", t.address)
	if err != nil {
		return fail(noRoute(err))
	}
	k.conn = tls.Client(raw, b.dialTLS(t.hub, k))
	if err := k.introduce(ctx, b, probe); err != nil {
		_ = raw.Close()
		return fail(noHandshake(err))
	}
	return k, nil
}

// dialTLS is how a hub is dialled: with TLS 1.3, showing our own key, and insisting on a key of the
// hub that counts. Names, dates and signer of its certificate are not looked at.
func (b *Bus) dialTLS(hub Hub, k *knocked) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection checks it, by the key
		NextProtos:         []string{linkName},
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &b.identity().cert, nil
		},
		VerifyConnection: func(state tls.ConnectionState) error {
			if state.NegotiatedProtocol != linkName {
				return &pinError{CauseTLS, "what listens there speaks TLS, but no links: is it the port for links?"}
			}
			key, err := peerKey(state)
			if err != nil {
				return &pinError{CauseKey, err.Error()}
			}
			k.key = key
			k.host, err = b.pinned(hub, key)
			return err
		},
	}
}

// pinned is the host whose key was shown. It must be the hub that was dialled.
func (b *Bus) pinned(hub Hub, key string) (protocol.Name, error) {
	if key == b.identity().public {
		return hub.Alias, &pinError{CauseSelf, "that is this host itself, or a copy of it"}
	}
	alias, counts := b.opts.Trusted(key)
	shown, _ := protocol.Fingerprint(key)
	switch {
	case hub.Alias == "" && counts && alias != b.opts.Alias:
		return alias, nil
	case hub.Alias == "":
		return "", &pinError{CauseKey, fmt.Sprintf("the key shown there, %s, is that of no other host of the fleet", shown)}
	case len(hub.Keys) == 0 && !counts:
		return hub.Alias, &pinError{CauseKey, fmt.Sprintf("nothing is known of a host called %s, so the key shown there, %s, is not believed", hub.Alias, shown)}
	case slices.Contains(hub.Keys, key) && counts && alias == hub.Alias:
		return hub.Alias, nil
	case counts:
		return hub.Alias, &pinError{CauseKey, fmt.Sprintf("the key shown there is that of %s, not of %s", alias, hub.Alias)}
	}
	return hub.Alias, &pinError{CauseKey, fmt.Sprintf("the key shown there, %s, is not one of %s: another machine answers at this address", shown, hub.Alias)}
}

// introduce shakes hands and asks for the link.
func (k *knocked) introduce(ctx context.Context, b *Bus, probe bool) error {
	ctx, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = k.conn.NetConn().SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := k.conn.HandshakeContext(ctx); err != nil {
		return err
	}
	began := time.Now()
	k.takes = b.takesLinks()
	asks := hello{Link: linkVersion, Version: b.opts.Discovery.Version, Time: b.opts.Now().UTC(), Takes: k.takes, Probe: probe}
	if err := writeLine(k.conn, asks); err != nil {
		return err
	}
	var says welcome
	if err := readLine(k.conn, &says); err != nil {
		return err
	}
	k.took = time.Since(began)
	k.off = says.Time.Sub(b.opts.Now()) + k.took/2
	k.version = said(says.Version)
	if says.Cause != "" {
		return &pinError{says.known(), said(says.Reason)}
	}
	if !probe { // a host that takes a link and then hangs must not keep this host from other hubs
		var err error
		if k.greets, err = readGreeting(k.conn, helloTimeout); err != nil {
			return &pinError{CauseBusy, "it took the link, but its NATS server says nothing: " + said(lastError(err))}
		}
	}
	if !stop() {
		return context.Cause(ctx)
	}
	return k.conn.SetDeadline(time.Time{})
}

// known is the cause that the other end names, if it is one that it may name.
func (w welcome) known() Cause {
	if slices.Contains([]Cause{CauseKey, CauseSelf, CauseVersion, CauseBusy}, w.Cause) {
		return w.Cause
	}
	return CauseBusy
}

// A link begins, after the TLS handshake, with one line of JSON in each direction, before anything
// of NATS. The host that dials says what it wants. The host that listens says yes, or why not. So
// both know the cause if there is no link, and nobody whose key does not count ever speaks to the
// NATS server.

const (
	linkVersion = 1 // version of these lines and of what follows them
	linkName    = "parley-link"
	maxHello    = 2 << 10 // bytes of a line
	maxSaid     = 200     // bytes of a reason that people are shown
)

type hello struct {
	Link    int       `json:"link"` // linkVersion
	Version string    `json:"version"`
	Time    time.Time `json:"time"`
	Takes   bool      `json:"takes"` // it takes links of other hosts itself
	Probe   bool      `json:"probe"` // it only tests the connection
}

// welcome is what the host that listens answers.
type welcome struct {
	Link    int       `json:"link"`
	Version string    `json:"version"`
	Time    time.Time `json:"time"`
	Cause   Cause     `json:"cause,omitempty"` // why not, "" for yes
	Reason  string    `json:"reason,omitempty"`
}

func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readLine reads a hello or a welcome, and not a byte of what follows.
func readLine(r io.Reader, v any) error {
	var line []byte
	one := make([]byte, 1)
	for {
		if _, err := io.ReadFull(r, one); err != nil {
			return err
		}
		if one[0] == '\n' {
			break
		}
		if line = append(line, one[0]); len(line) > maxHello {
			return fmt.Errorf("its first line is longer than %d bytes", maxHello)
		}
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("its first line does not speak of links: %w", err)
	}
	return nil
}

// said is a text of the other end in a form that may be kept: short and valid.
func said(s string) string {
	s = s[:min(len(s), maxSaid)]
	return strings.ToValidUTF8(s, "\uFFFD")
}
