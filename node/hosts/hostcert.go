package hosts

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/writing"
)

// HostCertificate answers control.HostCertificate.
func (q *questioner) HostCertificate(ctx context.Context, r control.HostRequest) (control.Certificate, error) {
	host, err := q.directory.Host(ctx, r)
	if err != nil {
		return control.Certificate{}, err
	}
	c := control.Certificate{Alias: host.Alias}
	if host.State == control.HostHere {
		b := q.Bus()
		if b == nil {
			return c, writing.AsError(writing.ErrDraining)
		}
		c.PEM = string(b.Certificate())
		return c, nil
	}
	if err := askable(host, "ask"); err != nil {
		return c, err
	}
	ctx, cancel := context.WithTimeout(ctx, presence.AskWait)
	defer cancel()
	answer, _, err := q.Asker.Ask(ctx, host.Alias, presence.QuestionCertificate)
	if err != nil {
		return c, writing.AsError(NoAnswer(host.Alias, presence.AskWait, err))
	}
	key, err := certified(answer)
	if err != nil {
		return c, writing.AsError(fmt.Errorf("cannot use the certificate of %s: %w", host.Alias, err))
	}
	counts := false
	q.Folded(func(s *fleet.State) { counts = s.Keys().HasKey(host.Alias, key, q.Now()) })
	if !counts {
		return c, control.Errorf(control.KindRefused, "", "cannot use the certificate of %s: it is made for the key %s, which is not its key", host.Alias, key)
	}
	c.PEM = string(answer)
	return c, nil
}

// certified is the public nkey for which a certificate in PEM is made.
func certified(text []byte) (string, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" || len(bytes.TrimSpace(rest)) > 0 {
		return "", errors.New("it is not one certificate in PEM")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return "", err
	}
	key, ok := cert.PublicKey.(ed25519.PublicKey)
	if !ok {
		return "", fmt.Errorf("it is made for a key of the kind %s", cert.PublicKeyAlgorithm)
	}
	public, err := nkeys.Encode(nkeys.PrefixByteUser, key)
	return string(public), err
}

// askable returns an error if a host cannot be asked now. `what` is what cannot be done to it.
func askable(host control.Host, what string) error {
	alias := host.Alias.String()
	switch host.State {
	case control.HostHere:
		return control.Errorf(control.KindUsage, "see how it fares: parley status", "cannot %s %s: that is this host itself", what, alias)
	case control.HostRemoved:
		return control.Errorf(control.KindRefused, "since when: parley fleet show "+alias, "cannot %s %s: it was removed from the fleet", what, alias)
	case control.HostRevoked:
		return control.Errorf(control.KindRefused, "since when: parley fleet show "+alias,
			"cannot %s %s: its key is revoked, and what it says is refused", what, alias)
	case control.HostAway:
		return control.Errorf(control.KindFailed, "what is known of it: parley fleet show "+alias,
			"cannot %s %s: it is away, last seen %s", what, alias, span.At(host.LastSeen))
	case control.HostGit:
		return control.Errorf(control.KindFailed, "where it says that it is reached: parley fleet show "+alias,
			"cannot %s %s: it is not on the bus, git alone reaches it; it last wrote %s", what, alias, span.At(host.LastSeen))
	}
	return nil
}
