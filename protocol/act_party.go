package protocol

import (
	"errors"
	"fmt"
	"github.com/parleyfleet/parley/internal/each"
	"slices"
	"strings"
	"time"
)

// The acts of parties, and what their bodies say.
const (
	ActOrganize Act = "organize"       // Organizing
	ActWish     Act = "party-wish"     // Wish
	ActRules    Act = "party-rules"    // RuleChange
	ActLeave    Act = "leave"          // Leaving
	ActRemove   Act = "party-remove"   // Removal
	ActPresence Act = "party-presence" // PresenceNote
)

// PartyChannel is the channel of a party. It follows from the record, the host where the party was
// organized, the short form of its name, and the time of that. So no party takes the place of
// another one, and two parties with the same name have two channels (R24).
func PartyChannel(recordID string, host Name, slug Slug, at time.Time) ChannelID {
	return DeriveChannel(recordID, host.String(), "@party "+slug.String()+" "+formatInstant(at))
}

// Organizing makes a party. If an agent says it without being asked, the message is a gate: the
// agent's human decides, and there is no party before that (R64).
type Organizing struct {
	FormHead        // From is the agent, Topic the party's name; At makes its channel
	Leader   Name   // the human who leads it
	Team     string // the tag; empty: none
	Anchor   string // the issue on which the party hangs; empty: none
	Reason   string // why an agent wishes for it; empty: it does not say
	With     []Address
	Rules    PartyRules
}

// Organize is the act by which a party begins.
var Organize = formAct(deed(ActOrganize, "PARTY ORGANIZE", "Begins a party, or asks its author's human for that."), Organizing{
	FormHead: exampleHead, Leader: "nat", Team: "fleet-core", Anchor: "maw-js#332", With: []Address{{Name: "mawui", Host: "white"}}, Rules: DefaultPartyRules(),
}, func(o *Organizing) []part {
	return []part{
		partOf("LEADER", &o.Leader, func(s string) (Name, error) { return Name(s), nil }, Name.String), flatPart("TEAM", &o.Team), flatPart("ANCHOR", &o.Anchor), flatPart("REASON", &o.Reason),
		partOf("WITH", &o.With, splitAddresses, joinAddresses),
		{key: "RULES", write: func() string { return o.Rules.String() }, read: func(f *form) error {
			o.Rules = DefaultPartyRules()
			if rules := f.text("RULES"); rules != "" {
				return o.Rules.Override(rules)
			}
			return nil
		}},
		needs(&o.Topic, "it does not say what the party is called"),
		check(func() bool { return o.Leader != "" }, "it does not say which human leads the party"),
		check(func() bool { return !o.At.IsZero() }, "it does not say when it was written"),
	}
})

// Decides is what the human's signature of an organizing is about. It contains the time, so that
// nobody begins the party again with a copy of the signature.
func (o Organizing) Decides() string {
	o.FormHead, o.Reason = FormHead{From: o.From, Topic: o.Topic, At: o.At}, ""
	return Organize.Format(o)
}

// MaxWith bounds how many addresses an organizing may name as invited, and how many deciders an
// invitation may name.
const MaxWith = 256

func joinAddresses(list []Address) string {
	return strings.Join(each.Of(list, Address.String), ", ")
}

// splitAddresses reads a list of addresses; an address that is named twice is in the list once.
func splitAddresses(text string) (list []Address, err error) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		a, err := ParseAddress(word)
		switch {
		case err != nil:
			return nil, err
		case slices.Contains(list, a):
		case len(list) == MaxWith:
			return nil, fmt.Errorf("it names more than %d", MaxWith)
		default:
			list = append(list, a)
		}
	}
	return list, nil
}

// What a Wish can be for.
const (
	WishInvite    = "invite"
	WishBroadcast = "broadcast"
)

// Wish is what an agent of a party asks its human for, because an agent may not do it alone: to
// invite somebody, or to tell something to agents of other hosts (R64). In the channel of a topic,
// an agent asks for the latter too.
type Wish struct {
	FormHead
	For  string // one of the constants above
	Whom Address
	Text string // what a broadcast says
	On   []Name // of a broadcast: the hosts whose agents are told; empty: all
	Cost string // of a broadcast: what it may cost
}

// AskHuman is the act by which an agent of a party, or of a topic, asks its human.
var AskHuman = formAct(deed(ActWish, "PARTY WISH", "Asks the author's human for what an agent of a party or a topic does not do alone."),
	Wish{FormHead: exampleHead, For: WishInvite, Whom: Address{Name: "mawui", Host: "white"}}, func(w *Wish) []part {
		return []part{
			flatPart("FOR", &w.For), addressPart("WHOM", &w.Whom), textPart("TEXT", &w.Text), partOf("ON", &w.On, splitNames, joinNames), flatPart("COST", &w.Cost), noteLine(""), noteLine("Accept, reject, or defer."),
			check(func() bool { return w.For == WishInvite || w.For == WishBroadcast }, "nobody asks a human for that"),
			check(func() bool { return w.For != WishInvite || w.Whom.Name != "" }, "it does not say whom to invite"),
			check(func() bool { return w.For != WishBroadcast || w.Text != "" }, "it does not say what to tell"),
		}
	})

func addressPart(key string, value *Address) part {
	return partOf(key, value, func(s string) (Address, error) {
		if s == "" {
			return Address{}, nil
		}
		return ParseAddress(s)
	}, func(a Address) string {
		if a.Name == "" {
			return ""
		}
		return a.String()
	})
}

// RuleChange sets rules of a party. Only its leader does (seed, "rules").
type RuleChange struct {
	FormHead
	Set    []RuleValue
	Reason string // may be empty
}

// RuleValue is the name of a rule and its new value.
type RuleValue struct{ Name, Value string }

// SetRules is the act by which the leader changes the rules.
var SetRules = formAct(deed(ActRules, "PARTY RULES", "Changes rules of a party, by its leader."),
	RuleChange{FormHead{From: "nat", Topic: "tmux design", At: exampleTime}, []RuleValue{{"consensus_mode", "majority"}}, "We are five now."}, func(c *RuleChange) []part {
		return []part{
			partOf("SET", &c.Set, parseRuleValues, func([]RuleValue) string { return c.Words() }), textPart("REASON", &c.Reason),
			check(func() bool { return c.Set != nil }, "it sets no rule"),
		}
	})

// Decides is what the leader's signature is about: this change of the rules of the party that the
// message `party` began. The text names the party and the time. So a copy of the signature changes
// no other party, and a copy that would undo a later change is recognized.
func (c RuleChange) Decides(party Path) string {
	return c.Words() + "\nin " + party.String() + "\nat " + formatInstant(c.At)
}

// Words are the rules and their new values, in one line.
func (c RuleChange) Words() string {
	return strings.Join(each.Of(c.Set, func(v RuleValue) string { return v.Name + "=" + v.Value }), ", ")
}

func parseRuleValues(text string) (set []RuleValue, err error) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%.80q is not of the form RULE=VALUE", part)
		}
		set = append(set, RuleValue{name, value})
	}
	return set, nil
}

// Leaving ends its author's part in a party. Nothing is deleted (seed, "leave").
type Leaving struct {
	FormHead
	Reason string // may be empty
}

// LeaveParty is the act by which a member leaves.
var LeaveParty = formAct(deed(ActLeave, "PARTY LEAVE", "Ends its author's part in a party."),
	Leaving{exampleHead, "It is built."}, func(l *Leaving) []part { return []part{textPart("REASON", &l.Reason)} })

// Removal is the leader's decision that a member is no longer one. No rule and no score removes
// anybody (seed, "Sync Decay").
type Removal struct {
	FormHead
	Whom   Address
	Reason string
}

// RemoveMember is the act by which the leader removes a member.
var RemoveMember = formAct(deed(ActRemove, "PARTY REMOVE", "Removes a member of a party, by its leader."),
	Removal{FormHead{From: "nat", Topic: "tmux design", At: exampleTime}, Address{Name: "mawui", Host: "white"}, "It is on another team now."}, func(r *Removal) []part {
		return []part{partOf("WHOM", &r.Whom, ParseAddress, Address.String), textPart("REASON", &r.Reason), needs(&r.Reason, noReason)}
	})

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
	names := each.Of(SayablePresences(), func(s Presence) string { return string(s) })
	return "", fmt.Errorf("%.80q is no presence; they are %s", text, strings.Join(names, ", "))
}

// PresenceNote says that a member's presence has changed.
type PresenceNote struct {
	FormHead
	State Presence
	Note  string // may be empty
}

// SayPresence is the act by which a member says that its presence has changed.
var SayPresence = formAct(deed(ActPresence, "PARTY PRESENCE", "Says how reachable a member of a party is from now on."),
	PresenceNote{exampleHead, PresenceBusy, "a long build"}, func(n *PresenceNote) []part {
		return []part{partOf("STATE", &n.State, ParsePresence, func(p Presence) string { return string(p) }), textPart("NOTE", &n.Note)}
	})
