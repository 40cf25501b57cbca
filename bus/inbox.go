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
// The last two tokens are random. A host that connects as a client may subscribe only to its own
// inboxes. An existing system may prescribe another prefix than _INBOX to a host
// (Login.InboxPrefix).
const inboxRoot = "_INBOX"

// inboxes is the pattern of all inboxes of the fleet.
func inboxes(fleet protocol.Name) string { return inboxRoot + "." + fleet.String() + ".>" }

// inboxesOf is the pattern of one host's inboxes. They are below `prefix`, where "" means _INBOX.
func inboxesOf(prefix string, fleet, host protocol.Name) string {
	if prefix == "" {
		prefix = inboxRoot
	}
	return prefix + "." + fleet.String() + "." + host.String() + ".>"
}

// newInbox is the subject below which one run of a host's bus gets its answers.
func newInbox(prefix string, fleet, host protocol.Name) string {
	return strings.TrimSuffix(inboxesOf(prefix, fleet, host), ">") + rand.Text()
}

// inboxOf reports whether `subject` is an inbox of `host`, and no pattern.
func inboxOf(subject string, fleet, host protocol.Name) bool {
	rest, ok := strings.CutPrefix(subject, strings.TrimSuffix(inboxesOf("", fleet, host), ">"))
	return ok && rest != "" && !strings.ContainsAny(rest, "*> \t\r\n")
}

// foreignInboxOf reports whether `subject` is an inbox of `host` below another prefix than _INBOX:
// <prefix>.<fleet>.<host>.<start>.<question>. A subject that means something else, to the fleet or
// to NATS, is none.
func foreignInboxOf(subject string, fleet, host protocol.Name) bool {
	tokens := strings.Split(subject, ".")
	n := len(tokens) - 4
	if n < 1 || tokens[n] != fleet.String() || tokens[n+1] != host.String() {
		return false
	}
	if first := tokens[0]; first == inboxRoot || first == protocol.SubjectRoot || strings.HasPrefix(first, "$") {
		return false
	}
	for _, token := range tokens {
		if token == "" || strings.ContainsAny(token, "*> \t\r\n") {
			return false
		}
	}
	return true
}
