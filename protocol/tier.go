package protocol

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// InboxTier is the tier of an agent that asks for its mail and is not run.
const InboxTier = "inbox"

// MaxTierCount bounds the count of one tier, so that no file makes its reader build a huge group.
const MaxTierCount = 1024

// Tier is a named slot of an agent with a number of parallel workers.
type Tier struct {
	Name  string
	Count int
}

var tierPattern = pattern.New(`^[A-Za-z0-9._/-]{1,64}$`)

// CheckTierName returns an error if `s` cannot be the name of a tier. Tiers are called like models,
// such as gpt-4.1 or meta-llama/Llama-3 (R15a). The rule is the same wherever a tier is named: in
// an agent's file, in the word of a host, in a host file, and in the instance for which a message
// was chosen.
func CheckTierName(s string) error {
	if !tierPattern.MatchString(s) {
		return fmt.Errorf("%q is not the name of a tier: use 1 to 64 letters, digits, dots, _, - and /", s)
	}
	return nil
}

// String returns "name*count".
func (t Tier) String() string { return t.Name + "*" + strconv.Itoa(t.Count) }

// parseTier reads "name*count".
func parseTier(s string) (Tier, error) {
	name, count, ok := strings.Cut(s, "*")
	if !ok {
		return Tier{}, fmt.Errorf("%q is not a tier such as opus*1", s)
	}
	if err := CheckTierName(name); err != nil {
		return Tier{}, err
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > MaxTierCount {
		return Tier{}, fmt.Errorf("tier %q: the count is not a number from 1 to %d", s, MaxTierCount)
	}
	return Tier{Name: name, Count: n}, nil
}
