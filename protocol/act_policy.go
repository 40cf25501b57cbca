package protocol

import (
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/internal/pattern"
)

// Ruling is what a human of the host that began the record settles for the whole fleet: the value
// of one key (R29). With an empty value, the default holds again.
type Ruling struct {
	FormHead
	Key    string
	Value  string
	Reason string // may be empty
}

// ActPolicy is the act of a Ruling.
const ActPolicy Act = "policy"

// SetPolicy is the act by which the fleet's policy is set.
var SetPolicy = NewAct(ActSpec{
	Act: ActPolicy, Heading: "POLICY", Class: ClassNotice, Doc: "Settles something for the whole fleet, such as how long decisions stay open.",
}, parseRuling, formatRuling, Ruling{FormHead{From: "nat", At: exampleTime}, "window-cross-host", "7d", "We meet once a week."})

var policyKey = pattern.New(`^[a-z][a-z0-9.-]{0,63}$`)

func formatRuling(r Ruling) string {
	return writeForm("POLICY", r.FormHead).put("KEY", r.Key).put("VALUE", flatText(r.Value)).put("REASON", r.Reason).String()
}

func parseRuling(body string) (Ruling, error) {
	f := readForm("POLICY", body, "KEY", "VALUE", "REASON")
	r := Ruling{f.FormHead, f.flat("KEY"), f.flat("VALUE"), f.text("REASON")}
	if r.Key == "" {
		return Ruling{}, errors.New("it does not say what it settles")
	}
	if !policyKey.MatchString(r.Key) {
		return Ruling{}, fmt.Errorf("%.80q is not the name of a policy: small letters, digits and dashes", r.Key)
	}
	return r, nil
}
