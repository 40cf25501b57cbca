package policy

import (
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/spelling"
	"github.com/parleyfleet/parley/protocol"
)

// Key is one thing that a fleet can settle.
type Key struct {
	Name    string
	Default string // what holds if nothing is settled
	Doc     string // what it is, in one line
	reads   func(value string) error
}

// The keys, by name.
const (
	KeyFrameCoordinator = "frame-coordinator"
	KeyFrameMember      = "frame-member"
	KeyReprompt         = "reprompt"
	KeyWindowCrossHost  = "window-cross-host"
	KeyWindowIssue      = "window-issue"
	KeyWindowSameHost   = "window-same-host"
)

// Keys are all that a fleet can settle, by name.
func Keys() []Key {
	return []Key{
		{KeyFrameCoordinator, "", "the agent that makes the calls of an inquiry, where none is named", readAgent},
		{KeyFrameMember, "", "the preset or agent with which members of inquiries are made: NAME, or NAME@HOST,HOST", readMaker},
		{KeyReprompt, "no", "whether a decision that was put off is asked for again when its time has come", readChoice},
		{KeyWindowCrossHost, "7d", "how long a decision stays open between agents of two hosts", readWindow},
		{KeyWindowIssue, "30d", "how long a decision stays open that is asked for on an issue", readWindow},
		{KeyWindowSameHost, "24h", "how long a decision stays open between agents of one host", readWindow},
	}
}

// Find is the key with that name. The error is a *refusal.Refusal that names the key which was
// probably meant.
func Find(name string) (Key, error) {
	var names []string
	nearest, least := "", 3
	for _, k := range Keys() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
		if far := spelling.Distance(name, k.Name); far < least {
			nearest, least = k.Name, far
		}
	}
	hint := "they are: " + strings.Join(names, ", ")
	if nearest != "" {
		hint = "did you mean " + nearest + "?"
	}
	return Key{}, refusal.New(refusal.Unknown, hint, "a fleet has no policy %q", name)
}

// check returns an error if a value is not possible for the key. "" takes back what was settled.
func (k Key) check(value string) error {
	if value == "" {
		return nil
	}
	if err := k.reads(value); err != nil {
		return refusal.New(refusal.Senseless, "", "%s: %v", k.Name, err)
	}
	return nil
}

// value is what holds for a key: what was settled, if this version can read it, else the default.
func (p Policy) value(name string) string {
	k, err := Find(name)
	if err != nil {
		return ""
	}
	if s := p.settled[name].Value; s != "" && k.reads(s) == nil {
		return s
	}
	return k.Default
}

// Value is what holds for a key. `settled` says whether that is what was settled: a value that this
// version cannot read does not hold.
func (p Policy) Value(name string) (value string, settled bool) {
	value = p.value(name)
	return value, value == p.settled[name].Value
}

// Window is how long a decision stays open for a message of the way that the key stands for.
func (p Policy) Window(key string) time.Duration {
	d, _ := span.Parse(p.value(key))
	return d
}

// Reprompt reports whether a deferral whose time has come is pending again, and not timed out
// (R29).
func (p Policy) Reprompt() bool { return p.value(KeyReprompt) == "yes" }

// A window shorter than a minute would be over before anybody could answer.
const (
	minWindow = time.Minute
	maxWindow = 366 * 24 * time.Hour
)

func readWindow(value string) error {
	d, err := span.Parse(value)
	if err == nil && (d < minWindow || d > maxWindow) {
		err = refusal.New(refusal.Senseless, "", "%s is not from 1m to 366d", value)
	}
	return err
}

func readChoice(value string) error {
	if value != "yes" && value != "no" {
		return refusal.New(refusal.Senseless, "", "%q is neither yes nor no", value)
	}
	return nil
}

func readAgent(value string) error {
	_, err := protocol.ParseName(value)
	return err
}

// readMaker reads a preset or agent, and the hosts on which members are made with it. If no host is
// named, these are all hosts.
func readMaker(value string) error {
	name, hosts, some := strings.Cut(value, "@")
	names := []string{name}
	if some {
		names = append(names, strings.Split(hosts, ",")...)
	}
	for _, n := range names {
		if _, err := protocol.ParseName(n); err != nil {
			return refusal.New(refusal.Senseless, "write it as claude, or claude@white,black", "%v", err)
		}
	}
	return nil
}
