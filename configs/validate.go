package configs

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
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
	return wrongIn("", Settings(&c))
}

// checkMetrics checks the address of the metrics. No other setting may use its port.
func (c *Config) checkMetrics() error {
	return errors.Join(checkListenAt(c.Metrics), c.checkMetricsPort())
}

func (b *Bus) checkListen() error {
	port := portOf(b.Listen)
	return errors.Join(checkListenAt(b.Listen), wrongIf(b.Links == "" && port == "65535", "links would need the port after %q: choose a lower one", b.Listen))
}

func (b *Bus) checkLinks() error {
	port := portOf(b.Links)
	return errors.Join(checkListenAt(b.Links), wrongIf(port != "" && port != "0" && port == portOf(b.Listen), "%q has the port of bus.listen: the two need one each", b.Links))
}

func (b *Bus) checkAdvertise() error {
	return errors.Join(
		wrongIf(len(b.Advertise) > 0 && b.Listen == "" && b.Links == "" && b.URL == "", "there is no port for others to reach: set bus.listen or bus.links"),
		wrongIf(len(b.Advertise) > protocol.MaxAddresses, "%d addresses are more than %d", len(b.Advertise), protocol.MaxAddresses),
		each(b.Advertise, protocol.CheckHostPort), twice(b.Advertise))
}

func (b *Bus) checkHubs() error {
	return errors.Join(each(b.Hubs, func(hub string) error {
		_, _, err := ParseHub(hub)
		return err
	}), twice(b.Hubs))
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

// checkListenAt checks an address at which to listen, if there is one. It stands for all addresses of the machine only
// if it is written as 0.0.0.0 or [::].
func checkListenAt(address string) error {
	if address == "" {
		return nil
	}
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
