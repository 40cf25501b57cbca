package netrig

import (
	"fmt"
	"strings"
)

// Fault is something that the router does to packets.
type Fault string

// Drop loses all packets from one host to another, silently.
func Drop(from, to *Host) Fault {
	return Fault(fmt.Sprintf("ip saddr %s ip daddr %s drop", from.Address, to.Address))
}

// Lose loses a share of all packets, in percent, at random.
func Lose(percent int) Fault {
	return Fault(fmt.Sprintf("numgen random mod 100 < %d drop", percent))
}

// Reset answers all TCP packets from one host to another with a reset.
func Reset(from, to *Host) Fault {
	return Fault(fmt.Sprintf("ip saddr %s ip daddr %s meta l4proto tcp reject with tcp reset", from.Address, to.Address))
}

// Apart loses all packets between hosts of different groups, silently.
func Apart(groups ...[]*Host) []Fault {
	var faults []Fault
	for i, one := range groups {
		for j, other := range groups {
			for _, from := range one {
				for _, to := range other {
					if i != j {
						faults = append(faults, Drop(from, to))
					}
				}
			}
		}
	}
	return faults
}

// Break has the router do these things to packets from now on, and nothing else. Without any fault,
// the network is whole.
func (n *Net) Break(faults ...Fault) {
	n.t.Helper()
	var text strings.Builder
	text.WriteString("flush chain inet faults forward\n")
	for _, f := range faults {
		fmt.Fprintf(&text, "add rule inet faults forward %s\n", f)
	}
	n.rules(text.String())
}

// Divert sends what `from` sends to the port of `to` to a third host. For the sender, the third
// host looks like `to`.
func (n *Net) Divert(from, to *Host, port int, third *Host) {
	n.t.Helper()
	n.rules(fmt.Sprintf("add rule ip divert prerouting ip saddr %s ip daddr %s tcp dport %d dnat to %s:%d\n",
		from.Address, to.Address, port, third.Address, port))
}

// Hide puts a host behind a NAT for good: the others see the router in its place, and cannot dial it.
func (n *Net) Hide(h *Host) {
	n.t.Helper()
	n.rules(fmt.Sprintf("table ip nat_%[1]s {\n chain out {\n type nat hook postrouting priority 100;\n ip saddr %[2]s masquerade\n }\n"+
		" chain in {\n type filter hook forward priority 1;\n ip daddr %[2]s ct state new drop\n }\n}\n", h.Name, h.Address))
}

// Straight ends all diversions.
func (n *Net) Straight() {
	n.t.Helper()
	n.rules("flush chain ip divert prerouting\n")
}
