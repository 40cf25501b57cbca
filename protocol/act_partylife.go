package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Leaving ends its author's part in a party. Nothing is deleted (seed, "leave").
type Leaving struct {
	FormHead
	Reason string // may be empty
}

// ActLeave is the act of a Leaving.
const ActLeave Act = "leave"

// LeaveParty is the act by which a member leaves.
var LeaveParty = NewAct(ActSpec{
	Act: ActLeave, Heading: "PARTY LEAVE", Class: ClassDeed, Doc: "Ends its author's part in a party.",
}, func(body string) (Leaving, error) {
	f := readForm("PARTY LEAVE", body, "REASON")
	return Leaving{f.FormHead, f.text("REASON")}, nil
}, func(l Leaving) string {
	return writeForm("PARTY LEAVE", l.FormHead).put("REASON", l.Reason).String()
}, Leaving{exampleHead, "It is built."})

// Removal is the leader's decision that a member is no longer one. No rule and no score removes
// anybody (seed, "Sync Decay").
type Removal struct {
	FormHead
	Whom   Address
	Reason string
}

// ActRemove is the act of a Removal.
const ActRemove Act = "party-remove"

// RemoveMember is the act by which the leader removes a member.
var RemoveMember = NewAct(ActSpec{
	Act: ActRemove, Heading: "PARTY REMOVE", Class: ClassDeed, Doc: "Removes a member of a party, by its leader.",
}, func(body string) (Removal, error) {
	f := readForm("PARTY REMOVE", body, "WHOM", "REASON")
	r := Removal{FormHead: f.FormHead, Reason: f.text("REASON")}
	var err error
	r.Whom, err = ParseAddress(f.flat("WHOM"))
	if err == nil && r.Reason == "" {
		err = errors.New("it gives no reason")
	}
	return r, err
}, func(r Removal) string {
	return writeForm("PARTY REMOVE", r.FormHead).put("WHOM", r.Whom.String()).put("REASON", r.Reason).String()
}, Removal{FormHead{From: "nat", Topic: "tmux design", At: exampleTime}, Address{Name: "mawui", Host: "white"}, "It is on another team now."})

// Decides is what the leader's signature is about: the end of the membership that the message
// `since` began. So a copy of the signature ends no membership in another party, and no later one.
func (r Removal) Decides(since Path) string {
	return r.Whom.String() + ", a member by " + since.String() + ": " + longText(r.Reason)
}

// Presence is how reachable a member of a party says that it is (seed, "Presence States").
type Presence string

// The states. Nobody says that they are dormant: others see it, when nothing was heard from them
// for a day.
const (
	PresenceActive    Presence = "active"
	PresenceIdle      Presence = "idle"
	PresenceCompacted Presence = "compacted"
	PresenceAway      Presence = "away"
	PresenceDormant   Presence = "dormant"
	PresenceHidden    Presence = "hidden"
	PresenceBusy      Presence = "busy"
)

// SayablePresences are the states that a member can say it is in.
func SayablePresences() []Presence {
	return []Presence{PresenceActive, PresenceIdle, PresenceCompacted, PresenceAway, PresenceHidden, PresenceBusy}
}

// ParsePresence reads a state that a member can say it is in.
func ParsePresence(text string) (Presence, error) {
	p := Presence(strings.ToLower(strings.TrimSpace(text)))
	if slices.Contains(SayablePresences(), p) {
		return p, nil
	}
	if p == PresenceDormant {
		return "", errors.New("nobody says that they are dormant: it is seen, after a day without a word")
	}
	var names []string
	for _, s := range SayablePresences() {
		names = append(names, string(s))
	}
	return "", fmt.Errorf("%.80q is no presence; they are %s", text, strings.Join(names, ", "))
}

// PresenceNote says that a member's presence has changed.
type PresenceNote struct {
	FormHead
	State Presence
	Note  string // may be empty
}

// ActPresence is the act of a PresenceNote.
const ActPresence Act = "party-presence"

// SayPresence is the act by which a member says that its presence has changed.
var SayPresence = NewAct(ActSpec{
	Act: ActPresence, Heading: "PARTY PRESENCE", Class: ClassDeed, Doc: "Says how reachable a member of a party is from now on.",
}, func(body string) (PresenceNote, error) {
	f := readForm("PARTY PRESENCE", body, "STATE", "NOTE")
	n := PresenceNote{FormHead: f.FormHead, Note: f.text("NOTE")}
	var err error
	n.State, err = ParsePresence(f.flat("STATE"))
	return n, err
}, func(n PresenceNote) string {
	return writeForm("PARTY PRESENCE", n.FormHead).put("STATE", string(n.State)).put("NOTE", n.Note).String()
}, PresenceNote{exampleHead, PresenceBusy, "a long build"})
