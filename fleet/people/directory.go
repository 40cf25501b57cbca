package people

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/spelling"
	"github.com/parleyfleet/parley/protocol"
)

// Directory says who can be written to. For hosts with a key, it knows what they say of themselves.
// For hosts without one, it knows what host files say.
type Directory struct {
	ring  func() *keys.Ring
	wrote func(name string) bool
	files map[string]protocol.HostState // by path
}

// New is the directory of a record before its first host file. `ring` gives the current keys.
// `wrote` says whether anyone of that name ever wrote.
func New(ring func() *keys.Ring, wrote func(name string) bool) *Directory {
	return &Directory{ring, wrote, map[string]protocol.HostState{}}
}

// Check returns a *refusal.Refusal for a name that the fleet does not know. Its hint names similar
// names.
func (d *Directory) Check(name string) error {
	if d.Known(name) {
		return nil
	}
	return refusal.New(refusal.Unknown, d.Suggest(name), "nobody is called %q", name)
}

// CheckHosted refuses an address whose host is unknown or does not serve the
// name.
func (d *Directory) CheckHosted(to protocol.Address) error {
	alias := protocol.Name(to.Host)
	h, joined := d.ring().Host(alias)
	file, listed := d.hostFile(alias)
	if h.Out() {
		return refusal.New(refusal.Forbidden, d.HostsHint(), "the host %s is out: %s", alias, h.WhyOut())
	}
	if !joined && !listed {
		return refusal.New(refusal.Unknown, d.HostsHint(), "no host is called %q", to.Host)
	}
	if joined {
		file = protocol.HostState{Humans: h.Humans, Agents: h.Agents}
	}
	if names(file, to.Name) {
		return nil
	}
	hint := servedThere(file)
	if on := d.ServedOn(to.Name); len(on) > 0 {
		hint = fmt.Sprintf("%s is on %s", to.Name, JoinNames(on))
	}
	return refusal.New(refusal.Unknown, hint, "the host %s does not serve %q", to.Host, to.Name)
}

// servedThere is a hint that names the agents and humans of a host.
func servedThere(h protocol.HostState) string {
	there := namesIn(h.Humans, h.Agents)
	if len(there) == 0 || len(there) > manyNames {
		return "see who is there: parley who"
	}
	slices.Sort(there)
	return "there are " + JoinNames(slices.Compact(there)) + "; see: parley who"
}

func names(h protocol.HostState, name string) bool {
	return slices.ContainsFunc(h.Agents, func(a protocol.HostedAgent) bool { return a.Name.String() == name }) ||
		slices.Contains(h.Humans, protocol.Name(name))
}

// Known reports whether the fleet knows a participant of that name: an agent, a
// human, or anyone who ever wrote.
func (d *Directory) Known(name string) bool {
	return d.wrote(name) || slices.Contains(d.All(), name)
}

// ServedOn are the hosts where the name is an agent or a human, by alias.
func (d *Directory) ServedOn(name string) []protocol.Name {
	var on []protocol.Name
	for _, h := range d.ring().Hosts() {
		if names(protocol.HostState{Humans: h.Humans, Agents: h.Agents}, name) {
			on = append(on, h.Alias)
		}
	}
	for _, f := range d.OtherPrograms() {
		if names(f, name) {
			on = append(on, f.Host)
		}
	}
	slices.Sort(on)
	return on
}

// All is every agent and human that some host declares, sorted.
func (d *Directory) All() []string {
	var all []protocol.Name
	for _, h := range d.ring().Hosts() {
		all = append(all, namesIn(h.Humans, h.Agents)...)
	}
	for _, f := range d.OtherPrograms() {
		all = append(all, namesIn(f.Humans, f.Agents)...)
	}
	slices.Sort(all)
	return each.Of(slices.Compact(all), protocol.Name.String)
}

func namesIn(humans []protocol.Name, agents []protocol.HostedAgent) []protocol.Name {
	return slices.Concat(humans, each.Of(agents, func(a protocol.HostedAgent) protocol.Name { return a.Name }))
}

// Near are the participants whose names are similar to `name`, which nobody has.
func (d *Directory) Near(name string) (near []string) {
	for _, n := range d.All() {
		if spelling.Near(name, n) {
			near = append(near, n)
		}
	}
	return near
}

// Suggest is a hint that names the participants whose names are most similar to one that nobody
// has.
func (d *Directory) Suggest(name string) string {
	near := d.Near(name)
	switch {
	case len(near) > 0:
		return "did you mean " + strings.Join(near, ", ") + "? see: parley who"
	case len(d.All()) > 0:
		return "see who can be reached: parley who"
	}
	return "nobody is served yet: parley agent add NAME --exec 'COMMAND'"
}

// HostsHint is a hint that names all hosts.
func (d *Directory) HostsHint() string {
	return "the hosts of this fleet are " + JoinNames(each.Of(d.ring().Hosts(), func(h *keys.Host) protocol.Name { return h.Alias }))
}

// JoinNames joins names as a person lists them.
func JoinNames(list []protocol.Name) string {
	return strings.Join(each.Of(list, protocol.Name.String), ", ")
}

// Group is the group of an agent's instances in the whole fleet, or on `host` if that is not empty:
// hosts by alias, then the order that each host declared (R6, R7).
func (d *Directory) Group(agent, host string) []protocol.Instance {
	var group []protocol.Instance
	for _, h := range d.ring().Hosts() {
		if host != "" && h.Alias.String() != host {
			continue
		}
		if a, ok := h.Serves(agent); ok {
			group = append(group, a.Instances(h.Alias)...)
		}
	}
	return group
}

// ServesAt reports whether the host of an address is known to serve its name.
func (d *Directory) ServesAt(to protocol.Address) bool {
	return slices.Contains(d.ServedOn(to.Name), protocol.Name(to.Host))
}

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
		if spelling.Near(alias, name) {
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

// SetHostFile takes in what a host file of the record says. It counts only for hosts without a key,
// which are those of other programs.
func (d *Directory) SetHostFile(path string, h protocol.HostState) { d.files[path] = h }

// DropHostFile forgets the host file at path.
func (d *Directory) DropHostFile(path string) { delete(d.files, path) }

// hostFile is what a host file says of that host.
func (d *Directory) hostFile(alias protocol.Name) (protocol.HostState, bool) {
	h, ok := d.files[d.hostFiles()[alias]]
	return h, ok
}

// hostFiles are the paths of the files that count, by alias. If there are several for one host, the
// one that is called after the host counts, else the first by path. The order in which they came
// does not matter.
func (d *Directory) hostFiles() map[protocol.Name]string {
	counts := map[protocol.Name]string{}
	for path, h := range d.files {
		other, several := counts[h.Host]
		if named := protocol.HostFilePath(h.Host); !several || path == named || path < other && other != named {
			counts[h.Host] = path
		}
	}
	return counts
}

// OtherPrograms are the hosts without a key that host files name, by alias. Other programs run
// their agents.
func (d *Directory) OtherPrograms() []protocol.HostState {
	var all []protocol.HostState
	for alias, path := range d.hostFiles() {
		if _, joined := d.ring().Host(alias); !joined {
			all = append(all, d.files[path])
		}
	}
	slices.SortFunc(all, func(a, b protocol.HostState) int { return cmp.Compare(a.Host, b.Host) })
	return all
}
