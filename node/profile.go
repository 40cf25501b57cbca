package node

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Profile answers control.ActorProfile.
func (sh *shelves) Profile(ctx context.Context, r control.ProfileRequest) (control.Profile, error) {
	name, err := protocol.ParseName(r.Name)
	if err != nil {
		return control.Profile{}, control.Errorf(control.KindUsage, "", "there is no such profile: %v", err)
	}
	if r.File != "" {
		if err := sh.writeProfile(ctx, name, []byte(r.File)); err != nil {
			return control.Profile{}, err
		}
	}
	// An agent's profile may have another name than the agent.
	of := name.String()
	if a, err := sh.roster.Get(of); err == nil {
		of = agents.ProfileName(a)
	}
	var p control.Profile
	sh.folded(func(s *fleet.State) { p, err = profileView(s, of) })
	return p, err
}

// profileView shows the actor profile of a name.
func profileView(s *fleet.State, of string) (control.Profile, error) {
	if err := s.Profiles.Clash(); err != nil {
		return control.Profile{}, control.Errorf(control.KindConflict, "rename or remove one of the two in a clone and push", "%v", err)
	}
	a, path, ok := s.Profiles.Of(of)
	if !ok {
		hint := "write one: parley agent profile " + of + " --set FILE"
		if known := s.Profiles.Names(); len(known) > 0 {
			hint += "; there are " + strings.Join(known, ", ")
		}
		return control.Profile{}, control.Errorf(control.KindNotFound, hint, "there is no actor profile called %q", of)
	}
	return control.Profile{
		Name: a.Name, Path: path, Description: a.Description, Author: a.Author, Domain: a.Domain, Alias: a.Alias, Body: a.Body,
	}, nil
}

func (sh *shelves) writeProfile(ctx context.Context, name protocol.Name, file []byte) error {
	defer sh.writing.Unlock()
	sh.writing.Lock()
	a, err := protocol.ParseActor(file)
	if err != nil {
		return control.Errorf(control.KindUsage, "it begins with a line ---, then name: and description:, a line ---, and the text",
			"cannot write the profile %s: %v", name, err)
	}
	if a.Name != name.String() {
		return control.Errorf(control.KindUsage, "", "cannot write the profile %s: the name in it is %q", name, a.Name)
	}
	var path string
	var there bool
	sh.folded(func(s *fleet.State) { _, path, there = s.Profiles.Of(a.Name) })
	local, _ := protocol.IsActorPath(path)
	if there && local && path != protocol.LocalActorPath(name) {
		return control.Errorf(control.KindConflict, "edit that file in a clone and push", "cannot write the profile %s: %s has that name", name, path)
	}
	if err := sh.books.Write(ctx, protocol.LocalActorPath(name), file); err != nil {
		return asError(err)
	}
	sh.books.CheckProfiles()
	return nil
}
