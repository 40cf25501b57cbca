package collab

import (
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

// acting is for whom something is done, and by which human.
type acting struct {
	me     string
	human  string // who typed it; "" if an agent did
	chosen string // why `me`, if nobody named it
}

// acts is for whom a caller asks something. It also reads what that one keeps about those whom it
// knows.
func (c *Collab) acts(by control.Caller, a control.Acting) (acting, error) {
	who, err := c.chosen(by, a)
	if err == nil {
		c.look(who.me)
	}
	return who, err
}

// chosen is the agent for whom a caller asks something (R59). An agent asks for itself. A human
// asks for the agent that is named, else for the agent in whose folder they are, else for the only
// agent here. The door has already decided who may name whom.
func (c *Collab) chosen(by control.Caller, a control.Acting) (acting, error) {
	if by.Kind != control.Operator {
		return acting{me: by.Name.String()}, nil
	}
	human := c.Human.String()
	agents := c.Agents()
	var names []string
	for _, served := range agents {
		names = append(names, served.Name.String())
	}
	slices.Sort(names)
	switch {
	case a.As == human:
		return acting{me: human, human: human}, nil
	case a.As != "" && slices.Contains(names, a.As):
		return acting{me: a.As, human: human}, nil
	case a.As != "":
		return acting{}, control.Errorf(control.KindNotFound, "they are: "+strings.Join(append(names, human), ", "), "this host serves no agent %q", a.As)
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
		return acting{near[0], human, chosenFolder}, nil
	case len(names) == 1:
		return acting{names[0], human, chosenOnly}, nil
	case len(names) == 0:
		return acting{}, control.Errorf(control.KindUsage, "add one: parley agent add NAME; or act in your own name: --via "+human,
			"nobody can tell for whom: this host serves no agent")
	}
	return acting{}, control.Errorf(control.KindUsage, "name one: --via "+strings.Join(append(names, human), "|"),
		"nobody can tell for whom: this host serves %s", strings.Join(names, ", "))
}

// views is whose view a caller asks for. Everybody may read what is in the record.
func (c *Collab) views(by control.Caller, v control.Viewing) (acting, error) {
	if v.For != "" {
		var err error
		c.Folded(func(s *fleet.State) { err = c.known(s, v.For) }) // a misspelling would look as if there were nothing
		c.look(v.For)
		return acting{me: v.For}, err
	}
	return c.acts(by, control.Acting{Dir: v.Dir})
}

// within reports whether a folder is another one or lies in it.
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
