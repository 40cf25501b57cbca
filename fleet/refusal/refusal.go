// Package refusal is how a rule refuses: it says that a command is not carried out, why, and what
// to try.
package refusal

import "fmt"

// Refusal says that a command is not carried out, why, and what to try.
type Refusal struct {
	Reason string
	Hint   string
	Kind   Kind
}

// Kind is what is wrong with a refused command.
type Kind int

// The kinds of refusal.
const (
	Forbidden Kind = iota // a rule forbids it
	Unknown               // it names what does not exist
	Senseless             // it makes no sense as it stands
)

// New makes a refusal of that kind. The hint may be empty.
func New(kind Kind, hint, format string, args ...any) *Refusal {
	return &Refusal{Reason: fmt.Sprintf(format, args...), Hint: hint, Kind: kind}
}

// Error returns the reason.
func (r *Refusal) Error() string { return r.Reason }
