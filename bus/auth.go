package bus

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/protocol"
)

// guard decides who may connect to the embedded server, and what for:
//
//	who                                   subscribes to                  publishes to
//	client with a key that counts         parley.>, $SRV, own inboxes    below its own name, $SRV, inboxes
//	link of a host that others link to    the fleet, $SRV, all inboxes   the same
//	link of another host                  the fleet, $SRV, own inboxes   below its own name, $SRV, inboxes
//	client without a key, on the loopback parley.>                       nothing
//
// Links have proved their keys at the entrance. Everybody else is refused: anybody whose key does
// not count or is not proved, and anybody who comes to the leaf port past the entrance. On a port
// that other machines can reach, everybody without a key is refused too. With $SRV.>, tools ask
// which NATS services there are; the answers go to inboxes.
type guard struct {
	bus     *Bus
	opts    *Options
	inner   string // public key of our own connection
	account *server.Account
	keyless bool // clients without a key may read
}

func newGuard(b *Bus) (*guard, error) {
	inner, err := b.inner.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("cannot read the server's own key: %w", err)
	}
	host, _, err := protocol.SplitHostPort(b.opts.Listen)
	return &guard{bus: b, opts: &b.opts, inner: inner, keyless: err == nil && protocol.IsLoopback(host)}, nil
}

// Check implements server.Authentication.
func (g *guard) Check(c server.ClientAuthentication) bool {
	remote := ""
	if a := c.RemoteAddress(); a != nil {
		remote = a.String()
	}
	user, err := g.admit(c, remote)
	if err != nil {
		g.opts.Log.Debug().Err(err).Str("address", remote).Msg("a connection was refused")
		return false
	}
	user.Account = g.account
	c.RegisterUser(user)
	return true
}

func (g *guard) admit(c server.ClientAuthentication, remote string) (*server.User, error) {
	switch c.Kind() {
	case server.LEAF:
		in := g.bus.entrance.enter(remote)
		if in == nil {
			return nil, errors.New("it did not come by the links port, or has entered before")
		}
		user := &server.User{Username: in.host.String(), Permissions: hostPermissions(g.opts.Fleet, in.host)}
		if in.carries {
			user.Permissions = linkPermissions(g.opts.Fleet)
		}
		return user, nil
	case server.CLIENT:
		return g.admitClient(c.GetOpts(), c.GetNonce())
	}
	return nil, errors.New("it is neither a client nor a link")
}

func (g *guard) admitClient(o *server.ClientOpts, nonce []byte) (*server.User, error) {
	if o.Nkey == "" {
		if !g.keyless {
			return nil, errors.New("it shows no key")
		}
		return &server.User{Permissions: readerPermissions()}, nil
	}
	if err := proveKey(o.Nkey, o.Sig, nonce); err != nil {
		return nil, err
	}
	alias, err := g.aliasOf(o.Nkey)
	if err != nil {
		return nil, err
	}
	return &server.User{Username: alias.String(), Permissions: clientPermissions(g.opts.Fleet, alias)}, nil
}

func (g *guard) aliasOf(key string) (protocol.Name, error) {
	if key == g.inner || key == g.bus.identity().public {
		return g.opts.Alias, nil
	}
	alias, ok := g.opts.Trusted(key)
	if !ok {
		return "", fmt.Errorf("its key %s is not trusted", key)
	}
	return alias, nil
}

// proveKey checks that the holder of `key` has signed `nonce`.
func proveKey(key, sig string, nonce []byte) error {
	if len(nonce) == 0 {
		return errors.New("it was given nothing to sign")
	}
	raw, err := base64.RawURLEncoding.DecodeString(sig)
	if err != nil {
		if raw, err = base64.StdEncoding.DecodeString(sig); err != nil {
			return errors.New("its signature is not base64")
		}
	}
	if !nkeys.IsValidPublicUserKey(key) {
		return errors.New("its key is not a public user nkey")
	}
	public, err := nkeys.FromPublicKey(key)
	if err != nil {
		return fmt.Errorf("its key cannot be read: %w", err)
	}
	if err := public.Verify(nonce, raw); err != nil {
		return errors.New("it does not hold the key it shows")
	}
	return nil
}

// lookups is the pattern of the subjects with which tools ask for NATS services.
const lookups = micro.APIPrefix + ".>"

func readerPermissions() *server.Permissions {
	return &server.Permissions{
		Subscribe: &server.SubjectPermission{Allow: []string{protocol.SubjectRoot + ".>"}},
		Publish:   &server.SubjectPermission{Deny: []string{">"}},
	}
}

func hostPermissions(fleet, alias protocol.Name) *server.Permissions {
	s := protocol.Subjects{Fleet: fleet}
	return &server.Permissions{
		Subscribe: &server.SubjectPermission{Allow: []string{s.All(), inboxesOf("", fleet, alias), lookups}},
		Publish:   &server.SubjectPermission{Allow: []string{s.From(alias), inboxes(fleet), lookups}},
	}
}

// clientPermissions are the permissions of a client with the key of a host. Like a client without a
// key, it may ask for everything: there is nothing but the fleet's subjects.
func clientPermissions(fleet, alias protocol.Name) *server.Permissions {
	p := hostPermissions(fleet, alias)
	p.Subscribe.Allow = append(p.Subscribe.Allow, readerPermissions().Subscribe.Allow...)
	return p
}

func linkPermissions(fleet protocol.Name) *server.Permissions {
	both := []string{protocol.Subjects{Fleet: fleet}.All(), lookups, inboxes(fleet)}
	return &server.Permissions{
		Subscribe: &server.SubjectPermission{Allow: both},
		Publish:   &server.SubjectPermission{Allow: both},
	}
}

// Offences are what came on the fleet's subjects and was not taken, since the start.
type Offences struct {
	Malformed uint64    // what could not be read
	Refused   uint64    // letters, questions and answers whose signature or key does not prove their sender, or whose time is too far from ours
	Last      string    // what was last refused, and why, in one line; "" if nothing was
	At        time.Time // when something was last refused or could not be read; zero if nothing was
	// Clocks are hosts whose letters were refused because of their time alone, each with its clock less
	// ours, as the last of those letters said.
	Clocks map[protocol.Name]time.Duration
}

type offences struct {
	now func() time.Time
	log zerolog.Logger

	mu sync.Mutex // guards is
	is Offences
}

// Offences returns what was not taken so far.
func (o *offences) Offences() Offences {
	o.mu.Lock()
	defer o.mu.Unlock()
	is := o.is
	is.Clocks = maps.Clone(o.is.Clocks)
	return is
}

// noteClock notes how far the clock of a host is from ours. A key has proved that it is that host.
func (o *offences) noteClock(host protocol.Name, off time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.is.Clocks == nil {
		o.is.Clocks = map[protocol.Name]time.Duration{}
	}
	o.is.Clocks[host] = off
}

func (o *offences) countMalformed(msg *nats.Msg, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.is.Malformed++
	o.is.At = o.now()
	o.log.Debug().Err(err).Str("subject", msg.Subject).Msg("something on the bus cannot be read")
}

func (o *offences) countRefused(msg *nats.Msg, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.is.Refused++
	o.is.Last, o.is.At = msg.Subject+": "+err.Error(), o.now()
	o.log.Debug().Err(err).Str("subject", msg.Subject).Msg("a letter on the bus was refused")
}
