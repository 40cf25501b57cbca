package protocol

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// MaxAddresses is how many addresses a host may have.
const MaxAddresses = 8

// maxHostName bounds a name of the domain name system, in bytes.
const maxHostName = 253

var hostNamePattern = pattern.New(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$`)

// SplitHostPort splits the address of a host, "host:port" or "[IPv6]:port". It insists on both
// parts. The host is an IP address without a zone, or a name of the domain name system. The port is
// at most 65535; the port 0 is only for listeners.
func SplitHostPort(address string) (host string, port uint16, err error) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return "", 0, fmt.Errorf("address %q is not host:port, such as 192.0.2.7:4222", address)
	}
	host, text := address[:i], address[i+1:]
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || strconv.FormatUint(n, 10) != text {
		return "", 0, fmt.Errorf("address %q has no port from 0 to 65535", address)
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if ip, err := netip.ParseAddr(inner); !ok || err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", 0, fmt.Errorf("address %q holds no IPv6 address between its brackets", address)
		}
		return inner, uint16(n), nil
	}
	if len(host) > maxHostName || !hostNamePattern.MatchString(host) {
		return "", 0, fmt.Errorf("address %q names no host", address)
	}
	return host, uint16(n), nil
}

// CheckHostPort returns an error if others could not dial the address. It must name a host and a
// port. The host must not stand for all addresses of a machine.
func CheckHostPort(address string) error {
	host, port, err := SplitHostPort(address)
	if err != nil {
		return err
	}
	if port == 0 {
		return fmt.Errorf("address %q has no port from 1 to 65535", address)
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Unmap().IsUnspecified() {
		return fmt.Errorf("address %q means all addresses of a machine, of which others cannot know which to dial", address)
	}
	return nil
}

// IsLoopback reports whether the host of an address means this machine alone.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// takeAddress adds an address to the host's list.
func (h *HostState) takeAddress(address string) error {
	if err := CheckHostPort(address); err != nil {
		return err
	}
	if slices.Contains(h.Addresses, address) {
		return nil
	}
	if len(h.Addresses) == MaxAddresses {
		return errors.New("a host has at most " + strconv.Itoa(MaxAddresses) + " addresses")
	}
	h.Addresses = append(h.Addresses, address)
	return nil
}
