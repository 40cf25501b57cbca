package configs

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

const (
	minInterval = 100 * time.Millisecond
	maxInterval = 24 * time.Hour
	minTimeout  = time.Second
	maxTimeout  = 24 * time.Hour
	maxMaxHops  = 1000
	maxMaxRuns  = 100_000
	maxCommands = 1000
)

// Validate returns everything that is wrong with the configuration, as one *Error. Load does the
// same, with lines.
func (c Config) Validate() error { return asError("", c.problems()) }

// problems finds all problems. Key names the setting of each.
func (c Config) problems() []Problem {
	var ps []Problem
	add := func(key string, err error) {
		if err != nil {
			ps = append(ps, Problem{Key: key, Text: err.Error()})
		}
	}
	add("fleet", checkName(c.Fleet, "the fleet that shares one record"))
	if c.Alias != "" { // without it, the host files of the record say which host this is (R11)
		add("alias", checkName(c.Alias, "this host's name in the fleet"))
	}
	add("human", checkName(c.Human, "the human who decides here"))
	add("remote", gitremote.Check(c.Remote))
	ps = append(ps, c.Bus.problems()...)
	add("fetch_interval", checkRange(c.FetchInterval, minInterval, maxInterval, span.Exact))
	if c.PushInterval != 0 {
		add("push_interval", checkRange(c.PushInterval, minInterval, maxInterval, span.Exact))
	}
	add("courier_grace", checkRange(c.CourierGrace, minInterval, maxInterval, span.Exact))
	add("max_hops", checkRange(c.MaxHops, 1, maxMaxHops, strconv.Itoa))
	add("max_runs", checkRange(c.MaxRuns, 1, maxMaxRuns, strconv.Itoa))
	add("max_conversation_runs", checkRange(c.MaxConversationRuns, 1, maxMaxRuns, strconv.Itoa))
	if c.MaxCommands != 0 {
		add("max_commands", checkRange(c.MaxCommands, 1, maxCommands, strconv.Itoa))
	}
	add("message_limit", checkRange(c.MessageLimit, protocol.MinMessageLimit, protocol.MaxMessageLimit, showSize))
	add("command_timeout", checkRange(c.CommandTimeout, minTimeout, maxTimeout, span.Exact))
	add("claim_for", checkRange(c.ClaimFor, minTimeout, maxTimeout, span.Exact))
	if levels := []string{"trace", "debug", "info", "warn", "error"}; !slices.Contains(levels, c.LogLevel) {
		add("log_level", fmt.Errorf("%q is not a level: use one of %s", c.LogLevel, strings.Join(levels, ", ")))
	}
	add("notify", checkNotify(c.Notify))
	if c.Metrics != "" {
		add("metrics", checkListen(c.Metrics))
		add("metrics", c.checkMetricsPort())
	}
	return ps
}

func checkName(n protocol.Name, what string) error {
	if n == "" {
		return fmt.Errorf("is missing: it names %s", what)
	}
	_, err := protocol.ParseName(n.String())
	return err
}

func checkRange[T int | time.Duration](v, low, high T, show func(T) string) error {
	if v < low || v > high {
		return fmt.Errorf("%s is not from %s to %s", show(v), show(low), show(high))
	}
	return nil
}

func (b Bus) problems() []Problem {
	ps := b.systemProblems()
	add := func(key string, err error) {
		if err != nil {
			ps = append(ps, Problem{Key: "bus." + key, Text: err.Error()})
		}
	}
	if b.Listen != "" {
		add("listen", checkListen(b.Listen))
	}
	switch {
	case b.Links != "":
		add("links", checkListen(b.Links))
	case strings.HasSuffix(b.Listen, ":65535"):
		add("listen", fmt.Errorf("links would need the port after %q: choose a lower one", b.Listen))
	}
	if port := portOf(b.Listen); port != "" && port != "0" && port == portOf(b.Links) {
		add("links", fmt.Errorf("%q has the port of bus.listen: the two need one each", b.Links))
	}
	for _, err := range b.advertiseProblems() {
		add("advertise", err)
	}
	for i, hub := range b.Hubs {
		_, _, err := ParseHub(hub)
		add("hubs", err)
		if slices.Index(b.Hubs, hub) < i {
			add("hubs", fmt.Errorf("%q stands twice", hub))
		}
	}
	return ps
}

func (b Bus) advertiseProblems() []error {
	var errs []error
	if len(b.Advertise) > 0 && b.Listen == "" && b.Links == "" && b.URL == "" {
		errs = append(errs, errors.New("there is no port for others to reach: set bus.listen or bus.links"))
	}
	if len(b.Advertise) > protocol.MaxAddresses {
		errs = append(errs, fmt.Errorf("%d addresses are more than %d", len(b.Advertise), protocol.MaxAddresses))
	}
	for i, address := range b.Advertise {
		if err := protocol.CheckHostPort(address); err != nil {
			errs = append(errs, err)
		}
		if slices.Index(b.Advertise, address) < i {
			errs = append(errs, fmt.Errorf("%q stands twice", address))
		}
	}
	return errs
}

// ParseHub reads an entry of bus.hubs: ALIAS@host:port, or host:port for any host of the fleet that
// is there. Then the alias is "".
func ParseHub(s string) (alias protocol.Name, address string, err error) {
	address = s
	if name, rest, ok := strings.Cut(s, "@"); ok {
		if alias, err = protocol.ParseName(name); err != nil {
			return "", "", fmt.Errorf("%q should look like ALIAS@host:port: %w", s, err)
		}
		address = rest
	}
	return alias, address, protocol.CheckHostPort(address)
}

// checkListen checks an address at which to listen. It stands for all addresses of the machine only
// if it is written as 0.0.0.0 or [::].
func checkListen(address string) error {
	if strings.HasPrefix(address, ":") {
		return fmt.Errorf("%q names no host, which would mean all addresses of this machine: write one, such as 127.0.0.1%s, or 0.0.0.0%s for all", address, address, address)
	}
	host, _, err := protocol.SplitHostPort(address)
	if err != nil {
		return err
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "localhost" {
		return fmt.Errorf("%q is not an address of this machine's own: write its IP address, or 0.0.0.0 for all, and the name at bus.advertise", address)
	}
	return nil
}

// checkMetricsPort returns an error if another setting uses the port.
func (c Config) checkMetricsPort() error {
	port := portOf(c.Metrics)
	if port == "" || port == "0" {
		return nil
	}
	for _, other := range []struct{ setting, address string }{{"bus.listen", c.Bus.Listen}, {"the links of hosts", c.Bus.LinksAddress()}} {
		if portOf(other.address) == port {
			return fmt.Errorf("%q has the port of %s: the two need one each", c.Metrics, other.setting)
		}
	}
	return nil
}

func portOf(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return port
}
