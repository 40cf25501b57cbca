package configs

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/redact"
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

func (c Config) problems() []Problem { return wrongIn("", Settings(&c)) }

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
		checkEach(b.Advertise, protocol.CheckHostPort), twice(b.Advertise))
}

func (b *Bus) checkHubs() error {
	return errors.Join(checkEach(b.Hubs, func(hub string) error {
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

// checkMetrics checks the address of the metrics. No other setting may use its port.
func (c *Config) checkMetrics() error {
	port := portOf(c.Metrics)
	taken := func(of, address string) error {
		return wrongIf(port != "" && port != "0" && portOf(address) == port, "%q has the port of %s: the two need one each", c.Metrics, of)
	}
	return errors.Join(checkListenAt(c.Metrics), cmp.Or(taken("bus.listen", c.Bus.Listen), taken("the links of hosts", c.Bus.LinksAddress())))
}

func portOf(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return port
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

// isText reports whether s can stand in a file that people edit: valid UTF-8
// without control characters, except tabs and line ends.
func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\uFEFF' || r == '\uFFFE' || r == '\uFFFF')
	})
}

// isLine reports whether s is text of one line without tabs.
func isLine(s string) bool { return isText(s) && !strings.ContainsAny(s, "\n\t") }

// shellWord quotes s for a command that a person is asked to copy.
func shellWord(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+:,@%", r)
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Warnings are what works in a config.yaml but is unwise: secrets that stand in it, a file that
// others may read, and what it shows to others. A file that Load refuses has none.
func Warnings(path string) []Problem {
	data, err := readCapped(path)
	if err != nil {
		return nil
	}
	c, problems := parse(data)
	if len(problems) > 0 {
		return nil
	}
	lines := map[string]int{}
	if root, _ := document(data); root != nil {
		lines = keyLines(root)
	}
	var all []Problem
	warn := func(key, format string, args ...any) {
		all = append(all, Problem{Line: lines[key], Key: key, Text: fmt.Sprintf(format, args...)})
	}
	if gitremote.HasPassword(c.Remote) {
		warn("remote", "a password stands in the URL: whoever reads this file or a copy of it has it; let a credential helper of git keep it, "+
			"and write the URL without it")
	}
	if gitremote.HasQuery(c.Remote) {
		warn("remote", "what stands behind the ? of the URL can be read in this machine's list of processes: "+
			"a token belongs in a credential helper of git")
	}
	if strings.Contains(redact.URLs(c.Bus.URL), redact.Mark) {
		warn("bus.url", "a user, password or token stands in the URL: whoever reads this file or a copy of it has it; "+
			"let a file at bus.creds or bus.nkey say who this host is")
	}
	if host, _, err := net.SplitHostPort(c.Metrics); err == nil && !loopback(host) {
		warn("metrics", "whoever can reach %s reads, without a key, the names of this host's agents and of the fleet's hosts, and how busy they are: "+
			"listen at 127.0.0.1, or let a firewall keep others away", c.Metrics)
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		warn("", "others on this machine may read or change it (mode %04o): chmod 600 %s", info.Mode().Perm(), shellWord(path))
	}
	return all
}

// loopback reports whether an address at which to listen can only be reached from this machine.
func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
