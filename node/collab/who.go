package collab

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
)

// Why somebody acts although nobody named them.
const (
	chosenFolder = "folder"
	chosenOnly   = "only"
)

// Acting is for whom something is done, and by which human.
type Acting struct {
	Me     string
	Human  string // who typed it; "" if an agent did
	Chosen string // why it is Me, if nobody named anybody
}

// acts is for whom a caller asks something. It also reads what that one keeps about those whom it
// knows.
func (c *Collab) acts(by control.Caller, a control.Acting) (Acting, error) {
	who, err := c.Acting(by, a, true)
	if err == nil {
		c.friends.look(who.Me)
	}
	return who, err
}

// Acting is the agent for whom a caller asks something (R59). An agent asks for itself. A human
// asks for the agent that is named, else for the agent in whose folder they are, else for the only
// agent here. With `self`, a human may also be named, as in topics; in parties agents take part. The
// door has already decided who may name whom.
func (c *Collab) Acting(by control.Caller, a control.Acting, self bool) (Acting, error) {
	if by.Kind != control.Operator {
		return Acting{Me: by.Name.String()}, nil
	}
	human := c.Human.String()
	agents := c.Agents()
	var names []string
	for _, served := range agents {
		names = append(names, served.Name.String())
	}
	slices.Sort(names)
	offered := names
	if self {
		offered = append(slices.Clip(names), human)
	}
	switch {
	case a.As == human && self:
		return Acting{Me: human, Human: human}, nil
	case a.As == human && !slices.Contains(names, human):
		return Acting{}, control.Errorf(control.KindUsage, "name the agent: --via "+cmp.Or(strings.Join(names, "|"), "AGENT"),
			"cannot act in parties for %s: agents take part in them, and a human leads one through an agent", human)
	case a.As != "" && slices.Contains(names, a.As):
		return Acting{Me: a.As, Human: human}, nil
	case a.As != "":
		return Acting{}, control.Errorf(control.KindNotFound, "they are: "+strings.Join(offered, ", "), "this host serves no agent %q", a.As)
	}
	var near []string
	deepest := 0
	for _, served := range agents {
		if served.Dir == "" || !within(served.Dir, a.Dir) {
			continue
		}
		switch depth := len(filepath.Clean(served.Dir)); {
		case depth > deepest:
			near, deepest = []string{served.Name.String()}, depth
		case depth == deepest:
			near = append(near, served.Name.String())
		}
	}
	switch {
	case len(near) == 1:
		return Acting{near[0], human, chosenFolder}, nil
	case len(names) == 1:
		return Acting{names[0], human, chosenOnly}, nil
	case len(names) == 0:
		hint := "add one: parley agent add NAME"
		if self {
			hint += "; or act in your own name: --via " + human
		}
		return Acting{}, control.Errorf(control.KindUsage, hint, "nobody can tell for whom: this host serves no agent")
	}
	return Acting{}, control.Errorf(control.KindUsage, "name one: --via "+strings.Join(offered, "|"),
		"nobody can tell for whom: this host serves %s", strings.Join(names, ", "))
}

// Viewing is whose view a caller asks for. Everybody may read what is in the record.
func (c *Collab) Viewing(by control.Caller, v control.Viewing) (Acting, error) {
	if v.For != "" {
		var err error
		c.Folded(func(s *fleet.State) { err = c.known(s, v.For) }) // a misspelling would look as if there were nothing
		c.friends.look(v.For)
		return Acting{Me: v.For}, err
	}
	return c.acts(by, control.Acting{Dir: v.Dir})
}

func within(folder, inner string) bool {
	if inner == "" {
		return false
	}
	for _, resolve := range []func(string) string{filepath.Clean, real} {
		rel, err := filepath.Rel(resolve(folder), resolve(inner))
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// real is a path without symbolic links. If they cannot be followed, it is the path as it is.
func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}
