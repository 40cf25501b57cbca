package party

import (
	"context"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/mesh"
	"github.com/parleyfleet/parley/protocol"
)

// Mesh answers control.ShowMesh. A change is told as soon as it is in the state. Mesh reads no
// files, and a burst of messages is looked at once.
func (p *Parties) Mesh(ctx context.Context, r control.MeshRequest, yield func(control.Mesh) error) error {
	if !r.Follow {
		return yield(p.mesh())
	}
	f := p.Events.Follow(func(h feed.Happening) bool { return h.Kind == control.EventMessage || h.Kind == control.EventHost })
	defer f.End()
	was := p.mesh()
	if err := yield(was); err != nil {
		return err
	}
	for {
		select {
		case <-f.Wake():
		case <-ctx.Done():
			return nil
		}
		if happened, missed := f.Drain(); missed == 0 && !p.moves(happened) {
			continue
		}
		is := p.mesh()
		change, changed := mesh.Changes(was, is)
		was = is
		if !changed {
			continue
		}
		if err := yield(change); err != nil {
			return err
		}
	}
}

// moves reports whether what has happened may have changed the mesh: a host came or went, or there
// was a deed of a party or a topic, or a word that says who may sign.
func (p *Parties) moves(happened []feed.Happening) (yes bool) {
	deeds := slices.Concat(p.kind.Deeds(), topics.Kind(p.RecordID).Deeds())
	p.Folded(func(s *fleet.State) {
		yes = slices.ContainsFunc(happened, func(h feed.Happening) bool {
			if h.Kind == control.EventHost {
				return true
			}
			it, ok := s.Ledger.Item(h.Came)
			return ok && it.Type == protocol.TypeText && (slices.Contains(deeds, it.Act) || it.Act.HostWord())
		})
	})
	return yes
}

func (p *Parties) mesh() control.Mesh {
	var shown []mesh.Party
	p.Folded(func(s *fleet.State) {
		all, scores := p.all(s), p.standing.Scores(s)
		for _, f := range all {
			if f.Begun() && !f.Over() {
				of := mesh.Party{Party: p.view(s, all, f, scores), Scores: p.scores(s, f, scores), Synced: map[string]time.Time{}}
				for _, m := range f.Members {
					if given := scores[""][m.Name]; len(given) > 0 {
						of.Synced[m.Name] = given[len(given)-1].At
					}
				}
				shown = append(shown, of)
			}
		}
	})
	return mesh.Of(shown, p.Now())
}

// scores returns the scores that members of a party gave on its topic, in the form that a mesh
// needs. It is asked while the state is read.
func (p *Parties) scores(s *fleet.State, f found, all collab.Scores) (list []mesh.Score) {
	for _, m := range f.Members {
		for _, score := range all[f.Slug][m.Name] {
			shown := mesh.Score{By: m.Name, Asker: score.Asker, Host: hostOf(s, f, score.Asker), Raw: score.Raw, At: score.At}
			if m.Name == f.Leader.Via { // for other members, the view has it
				shown.Trust = p.standing.Trust(s, score.Asker, m.Name, all.Between(score.Asker, m.Name))
			}
			list = append(list, shown)
		}
	}
	return list
}

// hostOf is the host of an agent that asked: its host as a member, or else a host that serves it.
func hostOf(s *fleet.State, f found, name string) string {
	for _, m := range f.Members {
		if m.Name == name {
			return m.Host.String()
		}
	}
	if on := s.People.ServedOn(name); len(on) > 0 {
		return on[0].String()
	}
	return ""
}
