package protocol

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/parleyfleet/parley/internal/each"
	"strings"
	"time"
)

// The acts by which somebody comes into a party, and what their bodies say.
const (
	ActInvite    Act = "invite"     // Invitation
	ActPartyJoin Act = "party-join" // PartyJoin
)

// Invitation asks one agent into a party. It is a gate: only a human of the host that serves the
// agent decides (R38; seed, "invite").
type Invitation struct {
	FormHead         // From is the agent that invites, Topic the party's name
	Human    string  // on whose behalf
	Whom     Address // without a host: a partner whom no host serves, who is asked on the issue alone (R34)
	Deciders []Name  // those who may decide, of that host; empty: any of its humans
	Anchor   string
	Rules    PartyRules
	AnswerBy time.Time // UTC; the invitation does not expire before. Zero: it never expires (R25)
}

// Invite is the act by which an agent is asked into a party.
var Invite = NewAct(deed(ActInvite, "PARTY INVITE", "Asks an agent into a party; a human of its host decides."), parseInvitation, formatInvitation, Invitation{
	FormHead: exampleHead, Human: "nat", Whom: Address{Name: "mawui", Host: "white"}, Deciders: []Name{"zoe"}, Anchor: "maw-js#332", Rules: DefaultPartyRules(),
	AnswerBy: exampleTime.Add(7 * 24 * time.Hour),
})

// InviteDecides is the text that a human signs to have an agent invite another one. `party` is the
// message that began the party.
func InviteDecides(party Path, whom Address) string {
	return "invite " + whom.String() + " to " + party.String()
}

// JoinDecides is the text that a human signs to have an agent ask to be let into a party. `party`
// is the message that began the party.
func JoinDecides(party Path, who Address) string {
	return "join " + party.String() + " as " + who.String()
}

// Rule6 is the last line of every text that goes outside in the name of an agent. It says which
// agent sent the text, and on whose behalf (R33).
func Rule6(agent, human string) string {
	on := ""
	if human != "" {
		on = " on behalf of " + human
	}
	return "Rule 6: Sent by " + agent + on + " — Oracle Never Pretends to Be Human."
}

func formatInvitation(i Invitation) string {
	payload, err := json.Marshal(struct {
		Type      string     `json:"type"`
		Topic     string     `json:"topic"`
		Anchor    string     `json:"anchor"`
		Rules     PartyRules `json:"rules"`
		InvitedBy string     `json:"invitedBy"`
		ReplyTo   string     `json:"replyTo"`
	}{"work-with-invite", i.Topic, i.Anchor, i.Rules, i.Human + " (via " + i.From + ")", i.From})
	if err != nil { // rules are texts and finite numbers
		payload = nil
	}
	w := writeForm("PARTY INVITE", FormHead{Topic: i.Topic, At: i.At, Mark: i.Mark})
	w.put("From", i.Human+" (via "+i.From+")").put("Anchor", cmp.Or(flatText(i.Anchor), "none")).put("Rules", i.Rules.Short())
	w.put("INVITED", i.Whom.String()).put("DECIDES", joinNames(i.Deciders)).put("ANSWER-BY", formatInstant(i.AnswerBy)).put("PAYLOAD", string(payload))
	return w.line("").line("Join this collaboration? Accept, reject, or defer.").line(Rule6(i.From, i.Human)).String()
}

func parseInvitation(body string) (Invitation, error) {
	f := readForm("PARTY INVITE", body, "FROM", "ANCHOR", "RULES", "INVITED", "DECIDES", "ANSWER-BY", "PAYLOAD")
	i := Invitation{FormHead: FormHead{Topic: f.Topic, At: f.At, Mark: f.Mark}, Anchor: f.flat("ANCHOR"), Rules: DefaultPartyRules()}
	if i.Anchor == "none" {
		i.Anchor = ""
	}
	var payload struct {
		Topic, InvitedBy, ReplyTo string
		Rules                     json.RawMessage
	}
	if err := json.Unmarshal([]byte(f.flat("PAYLOAD")), &payload); err != nil {
		return Invitation{}, errors.New("its payload cannot be read")
	}
	if err := i.Rules.Override(string(payload.Rules)); err != nil {
		return Invitation{}, err
	}
	i.From = flatText(payload.ReplyTo)
	i.Human = strings.TrimSuffix(f.flat("FROM"), " (via "+i.From+")")
	if i.Human == "" || i.Human == f.flat("FROM") {
		return Invitation{}, errors.New("it does not say on whose behalf, as HUMAN (via AGENT)")
	}
	i.Topic = cmp.Or(i.Topic, payload.Topic)
	whom, err := ParseAddress(f.flat("INVITED"))
	if err == nil && (whom.Host != "" || i.Anchor == "") {
		_, err = ParseName(whom.Host)
	}
	if err != nil {
		return Invitation{}, errors.New("it does not say whom it invites, as AGENT@HOST")
	}
	i.Whom = whom
	if i.Deciders, err = splitNames(f.flat("DECIDES")); err != nil { // nobody could answer such a gate, and it would wait for ever
		return Invitation{}, fmt.Errorf("it names nobody of the host of %s: %w", whom, err)
	}
	i.AnswerBy, err = f.instant("ANSWER-BY")
	return i, err
}

// splitNames reads what joinNames writes.
func splitNames(text string) (names []Name, err error) {
	list, err := splitAddresses(text)
	for _, a := range list {
		name, wrong := ParseName(a.Name)
		if wrong != nil || a.Host != "" {
			return nil, fmt.Errorf("%.80q is no name", a)
		}
		names = append(names, name)
	}
	return names, err
}

func joinNames(names []Name) string {
	return joinAddresses(each.Of(names, func(n Name) Address { return Address{Name: n.String()} }))
}

// GateAnswer is what a human decides at a gate of a party: an invite, a join, an agent's
// wish. It answers the gate's message, and the human's own key signs it (R35, R38).
type GateAnswer struct {
	FormHead           // From is the human
	Gate     string    // the gate in words, for those who read the message
	Reason   string    // may be empty
	Until    time.Time // UTC; when the gate is asked again, if the human puts it off
	// TakesBack is the hex SHA-256 of the file of the decision that this one takes back;
	// empty: none.
	TakesBack string
	Sight
}

// The acts by which a human answers a gate of a party.
const (
	ActPartyAccept Act = "party-accept"
	ActPartyReject Act = "party-reject"
	ActPartyDefer  Act = "party-defer"
)

// AcceptGate, RejectGate and DeferGate are the answers to a gate of a party.
var (
	AcceptGate = gateAnswer(ActPartyAccept, "PARTY ACCEPT", "Accepts what a gate of a party asks a human.")
	RejectGate = gateAnswer(ActPartyReject, "PARTY REJECT", "Declines what a gate of a party asks a human.")
	DeferGate  = gateAnswer(ActPartyDefer, "PARTY DEFER", "Puts off what a gate of a party asks a human.")
)

func gateAnswer(act Act, heading, doc string) WordAct[GateAnswer] {
	example := GateAnswer{FormHead: FormHead{From: "zoe", Topic: "tmux design", At: exampleTime}, Gate: "invite of mawui@white", Reason: "after standup", Sight: exampleSight}
	if act == ActPartyDefer {
		example.Until = exampleTime.Add(24 * time.Hour)
	}
	return formAct(deed(act, heading, doc), example, func(a *GateAnswer) []part {
		return []part{
			flatPart("GATE", &a.Gate), textPart("REASON", &a.Reason), timePart("UNTIL", &a.Until), flatPart("TAKES-BACK", &a.TakesBack),
			textPart("SEEN", &a.Seen), flatPart("SEEN-SIG", &a.Sig), check(func() bool { return act != ActPartyDefer || !a.Until.IsZero() }, "it does not say until when"),
		}
	})
}

// PartyJoin asks to take part in a party. Its leader decides (R31).
type PartyJoin struct {
	FormHead
	Reason string // may be empty
}

// JoinParty is the act by which somebody asks a party's leader to be let in.
var JoinParty = formAct(deed(ActPartyJoin, "PARTY JOIN", "Asks a party's leader to be let in."),
	PartyJoin{exampleHead, "I build the panes."}, func(j *PartyJoin) []part { return []part{textPart("REASON", &j.Reason)} })
