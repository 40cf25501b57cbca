package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// Asker is who asks a human something at a gate, as the record tells it on the host of that human.
// It does not rest on the words of the message. The human signs it with their answer (R74).
type Asker struct {
	Agent      string    `json:"agent"`          // the agent that asks
	Human      string    `json:"human"`          // the human on whose behalf; "" for none
	Host       Name      `json:"host"`           // their host
	Key        string    `json:"key"`            // fingerprint of the host's key that signed the message; "" if none did
	Since      time.Time `json:"since,omitzero"` // since when the record knows that key, UTC
	Vouched    string    `json:"vouched"`        // the most senior host that vouches for the key, and did since then; "" if none does: then the asker's host alone says since when
	Founder    bool      `json:"founder"`        // their host began the record
	HumanKey   string    `json:"human_key"`      // fingerprint of the human's own key that signed what is asked; "" if none did
	Undeclared bool      `json:"undeclared"`     // their host has never said that it has a human of that name
	Claims     string    `json:"claims"`         // on whose behalf the message says it is, if that is somebody else; "" if not
	Namesakes  []string  `json:"namesakes"`      // humans and agents with these names on other hosts, as "human NAME@HOST"
	More       int       `json:"more,omitempty"` // how many namesakes are left out
}

// Text is all of that in lines. A human sees these lines and signs them.
func (a Asker) Text() string {
	facts, doubts := a.Lines()
	return strings.Join(append(facts, doubts...), "\n")
}

// Lines are the lines of the text: what is known, and what should make a human careful.
func (a Asker) Lines() (facts, doubts []string) {
	human, host := Address{Name: a.Human}.Shown(), a.Host.String() // what no host declares may be any text
	by := Address{a.Agent, host}.Shown()
	if human != "" {
		by = human + "@" + host + " through " + by
	}
	facts = append(facts, "Asked by "+by+".")
	switch key := "Signed with the key " + a.Key + " of " + host; {
	case a.Key == "":
		doubts = append(doubts, "Not signed: nothing shows who wrote it.")
	case a.Founder:
		facts = append(facts, key+", known since "+formatInstant(a.Since)+": this host began the record.")
	case a.Vouched != "":
		facts = append(facts, key+", known since "+formatInstant(a.Since)+": "+a.Vouched+" vouches for it.")
	default:
		facts = append(facts, key+", which says itself that it is here since "+formatInstant(a.Since)+".")
		doubts = append(doubts, "Nobody vouches for this key.")
	}
	switch {
	case human == "":
	case a.Undeclared:
		doubts = append(doubts, host+" has never said that it has a human "+human+".")
	case a.HumanKey != "":
		facts = append(facts, human+" signed it too, with the key "+a.HumanKey+".")
	default:
		facts = append(facts, "No key of "+human+" signed it: it is the word of "+host+" alone.")
	}
	if a.Claims != "" {
		doubts = append(doubts, "The message says that it is on behalf of "+Address{Name: a.Claims}.Shown()+". That is not so.")
	}
	if len(a.Namesakes) > 0 {
		more := ""
		if a.More > 0 {
			more = fmt.Sprintf(" and %d more", a.More)
		}
		doubts = append(doubts, "Another host has one of the same name: "+strings.Join(a.Namesakes, ", ")+more+".")
	}
	return facts, doubts
}

// Short is what a notification tells of it, in one line.
func (a Asker) Short() string {
	who := Address{cmp.Or(a.Human, a.Agent), a.Host.String()}.Shown()
	switch {
	case a.Key == "":
		who += ", not signed"
	case a.Founder || a.Vouched != "":
		who += ", key " + a.Key
	default:
		who += ", key " + a.Key + ", nobody vouches for it"
	}
	if len(a.Namesakes) > 0 {
		who += ", not " + a.Namesakes[0]
	}
	return who
}

// Sight is what a human saw of an asker when they decided, with their signature of it.
type Sight struct {
	Seen string `json:"seen,omitempty"` // Asker.Text
	Sig  string `json:"seen_sig,omitempty"`
}

// SightOf is that a human saw an asker, with the human's signature. It is empty without a signature:
// an earlier version asks for none.
func SightOf(a Asker, sig string) Sight {
	if sig == "" {
		return Sight{}
	}
	return Sight{a.Text(), sig}
}

// seenContext begins the text that a human signs to say what they saw of an asker.
const seenContext = "parley-seen-v1"

// signed is what the signature is about. It stands beside `hsig`, the signature of the decision,
// because versions before it check that one alone.
func (s Sight) signed(hsig string) []byte {
	return []byte(strings.Join([]string{seenContext, hsig, longText(s.Seen), ""}, "\n"))
}

// Sign signs what was seen when the decision with the signature `hsig` was made.
func (s *Sight) Sign(key nkeys.KeyPair, hsig string) (err error) {
	s.Sig, err = signText(key, s.signed(hsig))
	return err
}

// Check returns an error if the private half of `key` did not sign that for the decision with the
// signature `hsig`.
func (s Sight) Check(key, hsig string) error {
	if s.Seen == "" || verify(key, s.Sig, s.signed(hsig)) != nil {
		return errors.New("the human's key did not sign what was seen of the asker")
	}
	return nil
}

var exampleSight = Sight{"Asked by nat@oracle-world through mawjs@oracle-world.\nSigned with the key SHA256:… of oracle-world, known since 2026-04-15T10:22:00.000Z: this host began the record.\nnat signed it too, with the key SHA256:….", "base64url…"}
