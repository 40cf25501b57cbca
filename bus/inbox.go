package bus

import (
	"crypto/rand"
	"strings"

	"github.com/parleyfleet/parley/protocol"
)

// Answers travel on subjects of their own, all of them made here:
//
//	_INBOX.<fleet>.<asking host>.<start of its bus>.<question>
//
// The last two tokens are random. A host that connects as a client may
// subscribe only to its own inboxes.

// inboxes is the pattern of all inboxes of the fleet.
func inboxes(fleet protocol.Name) string { return "_INBOX." + fleet.String() + ".>" }

// inboxesOf is the pattern of one host's inboxes.
func inboxesOf(fleet, host protocol.Name) string {
	return "_INBOX." + fleet.String() + "." + host.String() + ".>"
}

// newInbox is where one run of a host's bus gets its answers: below it.
func newInbox(fleet, host protocol.Name) string {
	return strings.TrimSuffix(inboxesOf(fleet, host), ">") + rand.Text()
}

// inboxOf reports whether subject is an inbox of host, and not a pattern.
func inboxOf(subject string, fleet, host protocol.Name) bool {
	rest, ok := strings.CutPrefix(subject, strings.TrimSuffix(inboxesOf(fleet, host), ">"))
	return ok && rest != "" && !strings.ContainsAny(rest, "*> \t\r\n")
}
