package protocol

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// InboxTier is the tier of an agent that asks for its mail and is not run.
const InboxTier = "inbox"

// SessionTier is the tier of an agent that is a session of an agent program, which a person opens.
// Such agents of one name form no group (R68).
const SessionTier = "session"

// IsSession reports whether the agent is a session of an agent program.
func (a HostedAgent) IsSession() bool { return len(a.Tiers) == 1 && a.Tiers[0].Name == SessionTier }

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

// Instance is one of the workers that share an agent's name: the N-th, from 0,
// of a tier on a host.
type Instance struct {
	Host Name
	Tier string
	N    int
}

// String returns "host/tier/n".
func (i Instance) String() string {
	return i.Host.String() + "/" + i.Tier + "/" + strconv.Itoa(i.N)
}

// ParseInstance reads "host/tier/n". A tier may have slashes of its own. So the host ends at the
// first slash, and the number begins after the last.
func ParseInstance(s string) (Instance, error) {
	alias, rest, _ := strings.Cut(s, "/")
	last := strings.LastIndexByte(rest, '/')
	if last < 0 {
		return Instance{}, fmt.Errorf("%q is not an instance: it should look like host/tier/0", s)
	}
	tier, number := rest[:last], rest[last+1:]
	host, err := ParseName(alias)
	if err != nil {
		return Instance{}, fmt.Errorf("instance %q: host %w", s, err)
	}
	if err := CheckTierName(tier); err != nil {
		return Instance{}, fmt.Errorf("instance %q: %w", s, err)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || strconv.Itoa(n) != number {
		return Instance{}, fmt.Errorf("instance %q: %q is not a number from 0", s, number)
	}
	return Instance{Host: host, Tier: tier, N: n}, nil
}

// Select is the index of the instance that acts on the message at `rel`, the path below its
// channel. It is the first four bytes of SHA-256(rel), big-endian, modulo `size`, the number of
// instances (Crosstalk, "Instance groups"; R6). A group of no instances has index 0.
func Select(rel string, size int) int {
	if size <= 0 {
		return 0
	}
	sum := sha256.Sum256([]byte(rel))
	return int(uint64(binary.BigEndian.Uint32(sum[:4])) % uint64(size))
}

// parseChoices reads the field "chosen". It leaves out an entry that cannot be read; then the rule
// decides (Select).
func parseChoices(values []string) []Choice {
	var choices []Choice
	for _, v := range values {
		agent, at := "", v
		if eq := strings.LastIndex(v, "="); eq >= 0 {
			agent, at = v[:eq], v[eq+1:]
		}
		if i, err := ParseInstance(at); err == nil {
			choices = append(choices, Choice{Agent: agent, Instance: i})
		}
	}
	return choices
}

func formatChoices(choices []Choice) []string {
	values := make([]string, len(choices))
	for i, c := range choices {
		values[i] = c.Instance.String()
		if c.Agent != "" {
			values[i] = c.Agent + "=" + values[i]
		}
	}
	return values
}
