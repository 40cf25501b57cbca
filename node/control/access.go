package control

import (
	"cmp"
	"reflect"
	"strings"
)

// Access is what a request does. It decides who may make the request.
type Access int

const (
	// Reads changes nothing: every caller may.
	Reads Access = iota
	// Speaks writes messages and receipts. They bear the mark of the one who wrote them.
	Speaks
	// Keeps writes something into the record that has no place for such a mark.
	Keeps
	// Operates decides something for the host.
	Operates
)

// String is the access in one word.
func (a Access) String() string {
	return [...]string{"reads", "speaks", "keeps", "operates"}[a]
}

// need is what one request needs: an access and, if it speaks or keeps, the name in which it asks
// to do that. "" names nobody.
type need struct {
	access Access
	as     string
}

// need is what a request of the verb needs. A request with a field As acts in that name. A request
// type that acts in somebody's name without such a field could be used in anybody's name.
func (v *VerbSpec) need(request any) need {
	n := need{access: v.Access}
	if v.onlyReads != nil && v.onlyReads(request) {
		n.access = Reads
	}
	if as := reflect.ValueOf(request).FieldByName("As"); as.IsValid() {
		n.as = as.String()
	}
	return n
}

// doing is what a refused request could not do.
func (v *VerbSpec) doing() string { return cmp.Or(v.Doing, strings.ReplaceAll(v.Name, "-", " ")) }

// permit is the only place that decides whether a caller may make a request. The error says why
// not.
func permit(c Caller, v VerbSpec, n need) error {
	doing := v.doing()
	own := n.as == "" || n.as == c.Name.String()
	switch {
	case c.Kind == Operator, n.access == Reads:
		return nil
	case c.Kind == ByAgent && c.Name == "":
		return Errorf(KindRefused, "give it the agent's token: PARLEY_TOKEN", "cannot %s: this is called by an agent, and nobody can tell which (%s): it may only read", doing, c.How)
	case n.access == Operates && c.Kind == ByAgent:
		return Errorf(KindRefused, "ask your human to do it, in a terminal of their own, without PARLEY_TOKEN and PARLEY_AGENT",
			"cannot %s: %s is an agent, and this is for a person to decide (known by %s)", doing, c.Name, c.How)
	case n.access == Operates || n.access == Keeps && c.Kind == Unattended:
		return Errorf(KindRefused, "call it in a terminal on this machine, in the node's container where it has one; "+
			"where that is refused too, end the node's process with kill and start it anew",
			"cannot %s: nobody can tell who calls (%s), and this is for whoever operates this host", doing, c.How)
	case !own:
		return Errorf(KindRefused, "leave --as out",
			"cannot %s as %q: this is called by %s, which acts for nobody else (known by %s)", doing, n.as, c.Name, c.How)
	}
	return nil
}
