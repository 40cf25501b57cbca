package configs

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

const (
	minInterval = 100 * time.Millisecond
	maxInterval = 24 * time.Hour
	minTimeout  = time.Second
	maxTimeout  = 24 * time.Hour
	maxMaxRuns  = 100_000
	maxCommands = 1000
)

// Validate returns everything that is wrong with the configuration, as one *Error. Load does the
// same, with lines.
func (c Config) Validate() error { return asError("", c.problems()) }

// problems finds all problems. Key names the setting of each.
func (c Config) problems() []Problem {
	return append(wrongIn("", Settings(&c)), c.Bus.problems()...)
}

// levelSetting is how much the log says.
func levelSetting(key string, at *string) Setting {
	levels := []string{"trace", "debug", "info", "warn", "error"}
	return valueSetting(key, at, "info", asIs[string], toText[string], plainOrQuoted).checked(func() error {
		if !slices.Contains(levels, *at) {
			return fmt.Errorf("%q is not a level: use one of %s", *at, strings.Join(levels, ", "))
		}
		return nil
	})
}

// checkMetrics checks the address of the metrics. No other setting may use its port.
func (c *Config) checkMetrics() error {
	if c.Metrics == "" {
		return nil
	}
	return errors.Join(checkListen(c.Metrics), c.checkMetricsPort())
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
func (c *Config) checkMetricsPort() error {
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
