package people

import (
	"strings"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/spelling"
	"github.com/parleyfleet/parley/protocol"
)

const (
	manyHosts   = 10  // with this many hosts, a hint does not list all of them
	manyNames   = 12  // a hint lists no more agents and humans of a host
	maxMisspelt = 256 // how long a text may be to be taken for a misspelt alias, in bytes
)

// FindHost is the host with that alias. The error is a *refusal.Refusal that names the most similar
// aliases.
func (d *Directory) FindHost(alias string) (*keys.Host, error) {
	if h, ok := d.ring().Host(protocol.Name(alias)); ok {
		return h, nil
	}
	return nil, refusal.New(refusal.Unknown, d.suggestHost(alias), "no host of this fleet is called %q", alias)
}

// suggestHost is a hint that names the hosts whose aliases are most similar to one that nobody has.
func (d *Directory) suggestHost(alias string) string {
	var near []protocol.Name
	hosts := d.ring().Hosts()
	for _, h := range hosts {
		name := h.Alias.String()
		if len(alias) > maxMisspelt {
			break
		}
		if spelling.Distance(name, strings.ToLower(alias)) <= 1+len(name)/3 || alias != "" && strings.HasPrefix(name, alias) {
			near = append(near, h.Alias)
		}
	}
	switch {
	case len(near) > 0 && len(near) < manyHosts:
		return "did you mean " + JoinNames(near) + "? see: parley fleet hosts"
	case len(hosts) < manyHosts:
		return d.HostsHint()
	}
	return "see which there are: parley fleet hosts"
}
