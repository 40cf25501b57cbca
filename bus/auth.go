package bus

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/protocol"
)

// guard decides who may connect to the embedded server, and what for:
//
//	who                             subscribes to                     publishes to
//	client with a trusted key       the fleet, own inboxes, $SRV.>    below its own name, inboxes, $SRV.>
//	server with a trusted key       the fleet, all inboxes, $SRV.>    the same
//	client without any key          parley.>                          nothing
//
// On $SRV.> it is asked which NATS services there are; answers go to inboxes.
// Anybody else is refused: a key that is not trusted or not proved, a server
// without a key, and a server with our own key, which is either ourselves by a
// loop or a copy of this machine.
type guard struct {
	opts    *Options
	key     string // our own public key
	account *server.Account
	wake    func() // called when a server knocks
}

// Check implements server.Authentication.
func (g *guard) Check(c server.ClientAuthentication) bool {
	leaf := c.Kind() == server.LEAF
	if leaf {
		g.wake()
	}
	user, err := g.admit(c, leaf)
	if err != nil {
		remote := ""
		if a := c.RemoteAddress(); a != nil {
			remote = a.String()
		}
		g.opts.Log.Debug().Err(err).Str("address", remote).Bool("link", leaf).Msg("a connection was refused")
		return false
	}
	user.Account = g.account
	c.RegisterUser(user)
	return true
}

func (g *guard) admit(c server.ClientAuthentication, leaf bool) (*server.User, error) {
	o := c.GetOpts()
	if o.Nkey == "" {
		if leaf || c.Kind() != server.CLIENT {
			return nil, errors.New("it shows no key")
		}
		return &server.User{Permissions: readerPermissions()}, nil
	}
	if err := proveKey(o.Nkey, o.Sig, c.GetNonce()); err != nil {
		return nil, err
	}
	alias, err := g.aliasOf(o.Nkey, leaf)
	if err != nil {
		return nil, err
	}
	user := &server.User{Username: alias.String(), Permissions: hostPermissions(g.opts.Fleet, alias)}
	if leaf {
		user.Permissions = linkPermissions(g.opts.Fleet)
	}
	return user, nil
}

func (g *guard) aliasOf(key string, leaf bool) (protocol.Name, error) {
	if key == g.key {
		if leaf {
			return "", errors.New("it shows this host's own key")
		}
		return g.opts.Alias, nil
	}
	alias, ok := g.opts.Trusted(key)
	if !ok {
		return "", fmt.Errorf("its key %s is not trusted", key)
	}
	return alias, nil
}

// proveKey checks that the holder of key signed nonce.
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

// lookups is the pattern of the subjects on which it is asked for NATS services.
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

func linkPermissions(fleet protocol.Name) *server.Permissions {
	both := []string{protocol.Subjects{Fleet: fleet}.All(), inboxes(fleet), lookups}
	return &server.Permissions{
		Subscribe: &server.SubjectPermission{Allow: both},
		Publish:   &server.SubjectPermission{Allow: both},
	}
}
