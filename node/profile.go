package node

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Profile answers control.ActorProfile.
func (n *Node) Profile(ctx context.Context, r control.ProfileRequest) (control.Profile, error) {
	name, err := protocol.ParseName(r.Name)
	if err != nil {
		return control.Profile{}, control.Errorf(control.KindUsage, "", "there is no such profile: %v", err)
	}
	if r.File != "" {
		if err := n.writeProfile(ctx, name, []byte(r.File)); err != nil {
			return control.Profile{}, err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.state.Profiles.Clash(); err != nil {
		return control.Profile{}, control.Errorf(control.KindConflict, "rename or remove one of the two in a clone and push", "%v", err)
	}
	// An agent's profile may be called otherwise than the agent.
	of := name.String()
	for _, a := range n.roster.All() {
		if a.Name == name {
			of = agents.ProfileName(a)
		}
	}
	a, path, ok := n.state.Profiles.Of(of)
	if !ok {
		hint := "write one: parley agent profile " + of + " --set FILE"
		if known := n.state.Profiles.Names(); len(known) > 0 {
			hint += "; there are " + strings.Join(known, ", ")
		}
		return control.Profile{}, control.Errorf(control.KindNotFound, hint, "there is no actor profile called %q", of)
	}
	return control.Profile{
		Name: a.Name, Path: path, Description: a.Description, Author: a.Author, Domain: a.Domain, Alias: a.Alias, Body: a.Body,
	}, nil
}

func (n *Node) writeProfile(ctx context.Context, name protocol.Name, file []byte) error {
	defer n.writing.Unlock()
	n.writing.Lock()
	a, err := protocol.ParseActor(file)
	if err != nil {
		return control.Errorf(control.KindUsage, "it begins with a line ---, then name: and description:, a line ---, and the text",
			"cannot write the profile %s: %v", name, err)
	}
	if a.Name != name.String() {
		return control.Errorf(control.KindUsage, "", "cannot write the profile %s: the name in it is %q", name, a.Name)
	}
	n.mu.Lock()
	_, path, there := n.state.Profiles.Of(a.Name)
	n.mu.Unlock()
	local, _ := protocol.IsActorPath(path)
	if there && local && path != protocol.LocalActorPath(name) {
		return control.Errorf(control.KindConflict, "edit that file in a clone and push", "cannot write the profile %s: %s has that name", name, path)
	}
	if err := n.books.Write(ctx, protocol.LocalActorPath(name), file); err != nil {
		return asError(err)
	}
	n.books.CheckProfiles()
	return nil
}
