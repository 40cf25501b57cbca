package configs

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

const (
	minInterval = 100 * time.Millisecond
	maxInterval = 24 * time.Hour
	minTimeout  = time.Second
	maxTimeout  = 24 * time.Hour
	maxMaxHops  = 1000
	// A message has up to 16 KiB of frontmatter, and NATS systems carry 1 MiB
	// with their headers unless told otherwise.
	minMessageLimit = 20 * kib
	maxMessageLimit = 960 * kib
)

// Validate says all that is wrong with the configuration as one *Error. Load
// does the same, with lines.
func (c Config) Validate() error { return asError("", c.problems()) }

// problems finds all problems; Key names the setting that each is about.
func (c Config) problems() []Problem {
	var ps []Problem
	add := func(key string, err error) {
		if err != nil {
			ps = append(ps, Problem{Key: key, Text: err.Error()})
		}
	}
	add("fleet", checkName(c.Fleet, "the fleet that shares one record"))
	add("alias", checkName(c.Alias, "this host's name in the fleet"))
	add("human", checkName(c.Human, "the human who decides here"))
	add("remote", checkRemote(c.Remote))
	ps = append(ps, c.Bus.problems()...)
	add("fetch_interval", checkRange(c.FetchInterval, minInterval, maxInterval, showDuration))
	if c.PushInterval != 0 {
		add("push_interval", checkRange(c.PushInterval, minInterval, maxInterval, showDuration))
	}
	add("courier_grace", checkRange(c.CourierGrace, minInterval, maxInterval, showDuration))
	add("max_hops", checkRange(c.MaxHops, 1, maxMaxHops, strconv.Itoa))
	add("message_limit", checkRange(c.MessageLimit, minMessageLimit, maxMessageLimit, showSize))
	add("command_timeout", checkRange(c.CommandTimeout, minTimeout, maxTimeout, showDuration))
	if levels := []string{"trace", "debug", "info", "warn", "error"}; !slices.Contains(levels, c.LogLevel) {
		add("log_level", fmt.Errorf("%q is not a level: use one of %s", c.LogLevel, strings.Join(levels, ", ")))
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

// checkRemote refuses what git would take for an option, and a path that would
// mean another folder wherever the node is started.
func checkRemote(remote string) error {
	switch {
	case remote == "":
		return nil
	case !isLine(remote) || strings.TrimSpace(remote) != remote:
		return fmt.Errorf("%q contains control characters or surrounding space", remote)
	case strings.HasPrefix(remote, "-"):
		return fmt.Errorf("%q begins with a dash, which git takes for an option", remote)
	case filepath.IsAbs(remote), strings.HasPrefix(remote, "/"), remoteHost(remote) != "", strings.Contains(remote, "://"):
		return nil
	}
	return fmt.Errorf("%q is neither a git URL nor an absolute path", remote)
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
		add("listen", fmt.Errorf("links would need the port after %q: name another address there", b.Listen))
	}
	if port := portOf(b.Listen); port != "" && port != "0" && port == portOf(b.Links) {
		add("links", fmt.Errorf("%q has the port of listen: the two need one each", b.Links))
	}
	for i, hub := range b.Hubs {
		add("hubs", checkHub(hub))
		if slices.Index(b.Hubs, hub) < i {
			add("hubs", fmt.Errorf("%q stands twice", hub))
		}
	}
	return ps
}

func checkListen(address string) error {
	host, _, err := splitAddress(address, 0)
	if err != nil {
		return err
	}
	return checkLoopback(address, host)
}

func checkHub(address string) error {
	host, _, err := splitAddress(address, 1)
	if err != nil {
		return err
	}
	return checkLoopback(address, host)
}

// checkLoopback keeps the bus on this machine.
func checkLoopback(address, host string) error {
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%q leaves this machine, which is not supported yet: links between machines need keys and TLS; use 127.0.0.1", address)
}

// splitAddress splits host:port and insists on both.
func splitAddress(address string, lowest int) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not an address: it should look like 127.0.0.1:4222", address)
	}
	if host == "" {
		return "", 0, fmt.Errorf("%q names no host, which would mean all addresses of this machine: name one, such as 127.0.0.1%s", address, address)
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < lowest || port > 65535 || strconv.Itoa(port) != text {
		return "", 0, fmt.Errorf("%q has no port from %d to 65535", address, lowest)
	}
	return host, port, nil
}

func portOf(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return port
}
