package configs

import (
	"slices"
	"strings"
)

// Notification is a command by which the human of a host is told what happens.
type Notification struct {
	Command string     `json:"command"` // its command line; it is split as a shell would split it, and run without a shell
	For     []string   `json:"for"`     // the kinds of matters for which it is run; none: all
	Quiet   QuietHours `json:"quiet"`   // the hours in which it is not run; what has come in the meantime is told when they end
}

// Of what a human can be notified.
const (
	NotifyGate       = "gate"        // something waits for their decision
	NotifyMention    = "mention"     // mail for them
	NotifyFailure    = "failure"     // an agent failed on what they sent
	NotifyDeadLetter = "dead-letter" // an agent of this host has failed for good on a message
	NotifySession    = "session"     // a session of an agent program asks them something, and mail waits for that
)

// NotifiedOf returns all matters of which a human can be notified.
func NotifiedOf() []string {
	return []string{NotifyGate, NotifyMention, NotifyFailure, NotifyDeadLetter, NotifySession}
}

// IsFor reports whether the command is run for that matter.
func (n Notification) IsFor(what string) bool { return len(n.For) == 0 || slices.Contains(n.For, what) }

// maxNotify bounds how many commands there are. Each command may be run for each matter.
const maxNotify = 16

// notifySetting is the list of those commands.
func notifySetting(key string, at *[]Notification) Setting {
	s := mappingsSetting(key, at, func(n *Notification) []Setting {
		return []Setting{
			textSetting("command", &n.Command).checked(func() error { return wrongIf(strings.TrimSpace(n.Command) == "", "an entry has no command") }),
			listSetting("for", &n.For, asIs[string], toText[string]).checked(func() error {
				return each(n.For, func(what string) error {
					return wrongIf(!slices.Contains(NotifiedOf(), what), "%q is nothing to be notified of: use %s", what, strings.Join(NotifiedOf(), ", "))
				})
			}),
			quietSetting("quiet", &n.Quiet),
		}
	}).checked(func() error {
		return wrongIf(len(*at) > maxNotify, "%d commands are more than %d", len(*at), maxNotify)
	})
	return s.used(func() any {
		list := make([]Notification, len(*at))
		for i, n := range *at {
			list[i] = Notification{n.Command, n.For, append(QuietHours{}, n.Quiet...)}
			if len(n.For) == 0 {
				list[i].For = NotifiedOf()
			}
		}
		return list
	})
}
