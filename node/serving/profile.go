package serving

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Profile answers control.ActorProfile.
func (ps *profiles) Profile(ctx context.Context, r control.ProfileRequest) (p control.Profile, err error) {
	name, err := protocol.ParseName(r.Name)
	if err != nil {
		return p, control.Errorf(control.KindUsage, "", "there is no such profile: %v", err)
	}
	// An agent's profile may have another name than the agent.
	of := name
	if a, err := ps.Roster.Get(name.String()); err == nil {
		of = protocol.Name(agents.ProfileName(a))
	}
	if r.File != "" {
		if err := ps.writeProfile(ctx, name, []byte(r.File)); err != nil {
			return p, err
		}
	}
	if p, err = ps.profileView(of, r.Path); err != nil || r.Accept == "" {
		return p, err
	}
	if err := ps.acceptProfile(of, p, r.Accept); err != nil || p.State == control.ProfileGone {
		return p, err
	}
	return ps.profileView(of, p.Path)
}

func (ps *profiles) profileView(of protocol.Name, path string) (p control.Profile, err error) {
	ps.Folded(func(s *fleet.State) {
		st := ps.of(s, of.String())
		a := st.recorded
		switch {
		case slices.Contains(st.paths, path):
			a, _ = s.Profiles.At(path)
			if st.path != path {
				st.path, st.state = path, control.ProfileUnaccepted
			}
		case path != "":
			err = control.Errorf(control.KindNotFound, "", "no actor profile called %q lies at %s", of, path)
		case st.state == control.ProfileGone:
			a = st.accepted
		case st.state == control.ProfileTwo:
			err = control.Errorf(control.KindConflict, fmt.Sprintf("rename or remove one of the two in a clone and push; or look at one, and choose it: parley agent profile %s --path %s", of, visible.Shell(st.paths[0])),
				"two actor profiles are called %q: %s", of, visible.Line(strings.Join(st.paths[:2], " and ")))
		case len(st.paths) == 0:
			hint := "write one: parley agent profile " + of.String() + " --set FILE"
			if known := s.Profiles.Names(); len(known) > 0 {
				hint += "; there are " + strings.Join(known, ", ")
			}
			err = control.Errorf(control.KindNotFound, hint, "there is no actor profile called %q", of)
		}
		p = control.Profile{
			Name: a.Name, Path: st.path, Description: a.Description, Author: a.Author, Domain: a.Domain, Alias: a.Alias, Body: a.Body,
			Hash: a.Hash, State: st.state,
		}
	})
	return p, err
}

// acceptProfile makes a profile the operator's word, if it still is the one that the operator saw.
func (ps *profiles) acceptProfile(name protocol.Name, p control.Profile, hash string) (err error) {
	var file []byte // none where the record has none any more
	if p.State != control.ProfileGone {
		if file, _, err = ps.Record.ReadFile(p.Path); err != nil {
			return err
		}
	}
	if p.Hash != hash || p.State != control.ProfileGone && protocol.Hash(file) != hash {
		return control.Errorf(control.KindConflict, "read it again: parley agent profile "+name.String(), "cannot accept the profile %s: it has changed meanwhile", name)
	}
	return ps.accept(name, file)
}

func (ps *profiles) writeProfile(ctx context.Context, name protocol.Name, file []byte) error {
	defer ps.writing.Unlock()
	ps.writing.Lock()
	a, err := protocol.ParseActor(file)
	if err != nil {
		return control.Errorf(control.KindUsage, "it begins with a line ---, then name: and description:, a line ---, and the text",
			"cannot write the profile %s: %v", name, err)
	}
	if a.Name != name.String() {
		return control.Errorf(control.KindUsage, "", "cannot write the profile %s: the name in it is %q", name, a.Name)
	}
	var paths []string
	ps.Folded(func(s *fleet.State) { paths = s.Profiles.Called(a.Name) })
	if len(paths) > 0 && strings.HasPrefix(paths[0], protocol.LocalActorsDir) && !slices.Contains(paths, protocol.LocalActorPath(name)) {
		return control.Errorf(control.KindConflict, "edit that file in a clone and push", "cannot write the profile %s: %s has that name", name, paths[0])
	}
	if err := ps.Books.Write(ctx, protocol.LocalActorPath(name), file); err != nil {
		return err
	}
	return ps.accept(name, file)
}
