package configs

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"

	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/redact"
)

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
