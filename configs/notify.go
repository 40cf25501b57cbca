package configs

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Notification is a command by which the human of a host is told what happens.
type Notification struct {
	Command string     // a command line; it is split as a shell would split it, and run without a shell
	For     []string   // what it is run for: some of NotifiedOf; none: all
	Quiet   QuietHours // when it is not run; what has come in the meantime is told when they end
}

// Of what a human can be notified.
const (
	NotifyGate       = "gate"        // something waits for their decision
	NotifyMention    = "mention"     // mail for them
	NotifyFailure    = "failure"     // an agent failed on what they sent
	NotifyDeadLetter = "dead-letter" // an agent of this host has failed for good on a message
)

// NotifiedOf returns all matters of which a human can be notified.
func NotifiedOf() []string {
	return []string{NotifyGate, NotifyMention, NotifyFailure, NotifyDeadLetter}
}

// IsFor reports whether the command is run for that matter.
func (n Notification) IsFor(what string) bool { return len(n.For) == 0 || slices.Contains(n.For, what) }

// maxNotify bounds how many commands there are. Each command may be run for each matter.
const maxNotify = 16

// notifySetting is the list of those commands.
func notifySetting(at *[]Notification) setting {
	return setting{
		key: "notify",
		set: func(n *yaml.Node) error {
			elements, err := items(n)
			if err != nil {
				return err
			}
			*at = nil
			var problems []Problem
			for i, element := range elements {
				if element.Kind != yaml.MappingNode {
					problems = append(problems, Problem{Line: element.Line, Key: fmt.Sprintf("notify[%d]", i), Text: "should hold the keys command, for and quiet"})
					continue
				}
				var one Notification
				problems = append(problems, readMapping(element, fmt.Sprintf("notify[%d].", i), []field{
					asField(textSetting("command", &one.Command)), asField(listSetting("for", &one.For)),
					{key: "quiet", set: func(n *yaml.Node) error { return readQuiet(n, &one.Quiet) }},
				}, nil)...)
				*at = append(*at, one)
			}
			return asError("", problems)
		},
		show: func() string {
			list := make([]string, len(*at))
			for i, one := range *at {
				parts := []string{"command: " + quoted(one.Command)}
				if one.For != nil {
					parts = append(parts, "for: ["+strings.Join(one.For, ", ")+"]")
				}
				if one.Quiet != nil {
					spans := one.Quiet.Texts()
					for j := range spans {
						spans[j] = quoted(spans[j])
					}
					parts = append(parts, "quiet: ["+strings.Join(spans, ", ")+"]")
				}
				list[i] = "{" + strings.Join(parts, ", ") + "}"
			}
			return "[" + strings.Join(list, ", ") + "]"
		},
	}
}

// checkNotify returns an error if something is wrong with those commands.
func checkNotify(list []Notification) error {
	if len(list) > maxNotify {
		return fmt.Errorf("%d commands are more than %d", len(list), maxNotify)
	}
	for _, n := range list {
		if strings.TrimSpace(n.Command) == "" {
			return fmt.Errorf("an entry has no command")
		}
		for _, what := range n.For {
			if !slices.Contains(NotifiedOf(), what) {
				return fmt.Errorf("%q is nothing to be notified of: use %s", what, strings.Join(NotifiedOf(), ", "))
			}
		}
	}
	return nil
}
