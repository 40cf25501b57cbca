package configs

import (
	"bytes"
	"fmt"
	"iter"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/internal/redact"
)

// Notification is a command, or another way, by which the human of a host is told what happens.
type Notification struct {
	Command string     `json:"command"` // its command line; it is split as a shell would split it, and run without a shell; "": there is a way
	Way     string     `json:"way"`     // desktop, bell, ntfy URL, webhook URL or mail ADDRESS; "": there is a command
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

// String is the notification in the words of parley notify.
func (n Notification) String() string { return n.Way + n.Command }

// Shown is String without what lets somebody in: the user, password and query of a URL.
func (n Notification) Shown() string {
	if kind, at, ok := strings.Cut(n.Way, " "); ok && strings.Contains(at, "://") {
		return kind + " " + redact.URLs(at)
	}
	return n.String()
}

// Name is String without the rest of a URL either: whoever knows all of it can often use it.
func (n Notification) Name() string {
	kind, at, _ := strings.Cut(n.Way, " ")
	if u, err := url.Parse(at); err == nil && u.Host != "" {
		return kind + " at " + u.Host
	}
	return n.String()
}

// checkWay returns an error for what is no way of telling a human something.
func checkWay(way string) error {
	kind, at, _ := strings.Cut(way, " ")
	switch {
	case way == "desktop" || way == "bell":
		return nil
	case kind == "ntfy" || kind == "webhook":
		u, err := url.Parse(at)
		return wrongIf(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(at, " \t"), "%s needs a URL that begins with https:// or http://", kind)
	case kind == "mail":
		a, err := mail.ParseAddress(at)
		return wrongIf(err != nil || a.Address != at || strings.HasPrefix(at, "-"), "mail needs one address, such as nat@example.org")
	}
	return fmt.Errorf("%q is no way to be told: use desktop, bell, ntfy URL, webhook URL or mail ADDRESS", way)
}

// maxNotify bounds how many commands there are. Each command may be run for each matter.
const maxNotify = 16

// notifySetting is the list of those commands.
func notifySetting(key string, at *[]Notification) Setting {
	s := mappingsSetting(key, at, notifySettings).checked(func() error {
		return wrongIf(len(*at) > maxNotify, "%d commands are more than %d", len(*at), maxNotify)
	})
	return s.used(func() any {
		list := make([]Notification, len(*at))
		for i, n := range *at {
			list[i] = Notification{n.Command, n.Way, n.For, append(QuietHours{}, n.Quiet...)}
			if len(n.For) == 0 {
				list[i].For = NotifiedOf()
			}
		}
		return list
	})
}

func notifySettings(n *Notification) []Setting {
	return []Setting{
		textSetting("command", &n.Command).checked(func() error {
			return wrongIf((strings.TrimSpace(n.Command) == "") == (n.Way == ""), "an entry has a command or a way: one of the two")
		}),
		textSetting("way", &n.Way).checked(func() error {
			if n.Way == "" {
				return nil
			}
			return checkWay(n.Way)
		}),
		listSetting("for", &n.For, asIs[string], toText[string]).checked(func() error {
			return checkEach(n.For, func(what string) error {
				return wrongIf(!slices.Contains(NotifiedOf(), what), "%q is nothing to be notified of: use %s", what, strings.Join(NotifiedOf(), ", "))
			})
		}),
		quietSetting("quiet", &n.Quiet),
	}
}

// AddNotification adds a notification to a config.yaml, as SetRemote changes the remote: what people
// wrote stays. The result is all notifications that the file has now.
func AddNotification(path string, n Notification) ([]Notification, error) {
	return changeNotify(path, func(list []Notification) ([]Notification, error) {
		there := slices.ContainsFunc(list, func(old Notification) bool { return old.String() == n.String() })
		return append(list, n), wrongIf(there, "%s is there already", n.Shown())
	})
}

// RemoveNotification takes a notification out of a config.yaml: the one with that number, from 1 on,
// with those words, or the only one that begins with them.
func RemoveNotification(path, which string) (gone Notification, rest []Notification, err error) {
	rest, err = changeNotify(path, func(list []Notification) ([]Notification, error) {
		i := slices.IndexFunc(list, func(n Notification) bool { return n.String() == which })
		begins := func(n Notification) bool { return strings.HasPrefix(n.String(), which+" ") }
		if number, err := strconv.Atoi(which); i < 0 && err == nil {
			i = number - 1
		} else if i < 0 {
			i = slices.IndexFunc(list, begins)
		}
		if i < 0 || i >= len(list) || begins(list[i]) && slices.ContainsFunc(list[i+1:], begins) {
			return nil, fmt.Errorf("%q names none of the notifications, or several: parley notify lists them, with their numbers", which)
		}
		gone = list[i]
		return slices.Delete(list, i, i+1), nil
	})
	return gone, rest, err
}

// changeNotify changes the notifications in a config.yaml, and returns the new ones.
func changeNotify(path string, change func([]Notification) ([]Notification, error)) (list []Notification, err error) {
	err = edit(path, "notify, as config.example.yaml shows it,", func(c *Config) error {
		if list, err = change(slices.Clone(c.Notify)); len(list) == 0 {
			list = nil // as in a file without any
		}
		c.Notify = list
		return err
	}, func(data []byte) iter.Seq[[]byte] { return withNotify(data, list) })
	return list, err
}

// withNotify returns the forms that a config.yaml with other notifications can have, those first that
// keep most of what is there. The first one that means the right thing is the one: it is hard to tell
// in YAML on which line a value ends.
func withNotify(data []byte, list []Notification) iter.Seq[[]byte] {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) > 0 {
		lines[last] = append(lines[last], '\n')
	}
	from, end, indent, items := len(lines), len(lines), "  ", []*yaml.Node{}
	root, _ := document(data)
	if key, value := entry(root, "notify"); key != nil {
		from = key.Line - 1
		for i := 0; i < len(root.Content); i += 2 {
			if line := root.Content[i].Line - 1; line > from {
				end = min(end, line)
			}
		}
		if value.Kind == yaml.SequenceNode && value.Style&yaml.FlowStyle == 0 {
			indent, items = strings.Repeat(" ", value.Column-1), value.Content
		}
	}
	element := func(n Notification) string {
		return indent + "- {" + strings.Join(keyed(notifySettings(&n), false), ", ") + "}\n"
	}
	whole := "notify: []\n"
	for i, n := range list {
		if i == 0 {
			whole = "notify:\n"
		}
		whole += element(n)
	}
	return func(yield func([]byte) bool) {
		// try has `text` in the place of the lines from `a` on, up to each line from `b` to `most`.
		try := func(a, b, most int, text string) bool {
			for ; b <= most; b++ {
				if !yield(slices.Concat(bytes.Join(lines[:a], nil), []byte(text), bytes.Join(lines[b:], nil))) {
					return false
				}
			}
			return true
		}
		for i, item := range items {
			at, next := item.Line-1, end
			if i+1 < len(items) {
				next = items[i+1].Line - 1
			}
			switch {
			case len(list) == 0:
			case len(list) < len(items):
				if !try(at, at+1, next, "") {
					return
				}
			case i == len(items)-1:
				for to := at + 1; to <= next; to++ {
					if !try(to, to, to, element(list[len(list)-1])) {
						return
					}
				}
			}
		}
		try(from, min(from+1, end), end, whole)
	}
}
