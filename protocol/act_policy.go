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
var SetPolicy = formAct(ActSpec{
	Act: ActPolicy, Heading: "POLICY", Class: ClassNotice, Doc: "Settles something for the whole fleet, such as how long decisions stay open.",
}, Ruling{FormHead{From: "nat", At: exampleTime}, "window-cross-host", "7d", "We meet once a week."}, func(r *Ruling) []part {
	return []part{
		partOf("KEY", &r.Key, parsePolicyKey, flatText), flatPart("VALUE", &r.Value), textPart("REASON", &r.Reason),
	}
})

var policyKey = pattern.New(`^[a-z][a-z0-9.-]{0,63}$`)

func parsePolicyKey(key string) (string, error) {
	if key == "" {
		return "", errors.New("it does not say what it settles")
	}
	if !policyKey.MatchString(key) {
		return "", fmt.Errorf("%.80q is not the name of a policy: small letters, digits and dashes", key)
	}
	return key, nil
}
