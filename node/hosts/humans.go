package hosts

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// humans answers the verbs about the keys of humans (R35). It only sees the public halves: a human
// signs in the program that they use.
type humans struct {
	*Options
}

// List answers control.Humans.
func (h *humans) List(context.Context, control.HumansRequest) (control.HumanList, error) {
	l := control.HumanList{Record: h.Record.ID(), Host: h.Config.Alias, Here: h.Config.Human, Humans: []control.Human{}}
	h.Folded(func(s *fleet.State) {
		for _, host := range s.Keys().Hosts() {
			for _, human := range host.Humans {
				l.Humans = append(l.Humans, humanAt(host, human))
			}
		}
	})
	slices.SortFunc(l.Humans, func(a, b control.Human) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Host, b.Host)) })
	return l, nil
}

func humanAt(host *keys.Host, human protocol.Name) control.Human {
	v := control.Human{Name: human, Host: host.Alias, Contested: []string{}}
	v.Keys = len(host.HumanKeys(human.String()))
	last, counts, had := host.HumanKeyNow(human.String())
	if !counts {
		if v.Contested = append(v.Contested, host.Contested(human.String())...); had && len(v.Contested) == 0 {
			v.Revoked = last.Ended.Timestamp
		}
		return v
	}
	v.Key, v.Open, v.Since = last.Key, last.Open, last.Since.Timestamp
	v.Fingerprint, _ = protocol.Fingerprint(last.Key) // the fold accepts no key without one
	return v
}

// Signed returns an error for a decision of this host's human that their key has not signed, if
// they have one. It is called before the decision is written, which would be void.
func (h *humans) Signed(d protocol.HumanDecision, sig string) (err error) {
	h.Folded(func(s *fleet.State) {
		host, joined := s.Keys().Host(h.Config.Alias)
		if !joined {
			return
		}
		key, counts, had := host.HumanKeyNow(h.Config.Human.String())
		switch {
		case host.Contested(h.Config.Human.String()) != nil:
			err = control.Errorf(control.KindRefused, "a human of the host that began the record revokes one of the two there: parley gates key revoke --host --key",
				"%s has told of two first keys of %s, and neither counts: %s", h.Config.Alias, h.Config.Human, strings.Join(host.Contested(h.Config.Human.String()), " and "))
		case had && !counts:
			err = control.Errorf(control.KindRefused, "parley gates key add", "the key of %s is revoked: nothing can be decided in that name", h.Config.Human)
		case had:
			d.RecordID, d.Human, d.Host, d.Key = h.Record.ID(), h.Config.Human, h.Config.Alias, key.Key
			if no := d.Check(sig); no != nil {
				err = control.Errorf(control.KindRefused, "decide it at a terminal, with this version of parley", "%s has a key of their own: %v", h.Config.Human, no)
			}
		}
	})
	return err
}

// Give answers control.GiveHumanKey.
func (h *humans) Give(ctx context.Context, r control.HumanKeyRequest) (control.Human, error) {
	says := protocol.HumanKey{Host: h.Config.Alias, Human: h.Config.Human, Key: r.Key, After: r.After, Open: r.Open, Proof: r.Proof, Agreed: r.Agreed}
	if err := protocol.CheckKey(r.Key); err != nil {
		return control.Human{}, control.Errorf(control.KindUsage, "", "cannot take the key: %v", err)
	}
	if _, err := h.Decider.Act(ctx, fleet.GiveHumanKey{HumanKey: says}, protocol.Path{}); err != nil {
		return control.Human{}, err
	}
	var v control.Human
	h.Folded(func(s *fleet.State) {
		if host, joined := s.Keys().Host(h.Config.Alias); joined {
			v = humanAt(host, h.Config.Human)
		}
	})
	return v, nil
}

// End answers control.EndHumanKey.
func (h *humans) End(ctx context.Context, r control.EndHumanKeyRequest) (control.HumanKeyEnd, error) {
	e := protocol.HumanEnd{Host: h.Config.Alias, Of: cmp.Or(r.Of, h.Config.Alias), Human: cmp.Or(r.Human, h.Config.Human), Key: r.Key, By: r.By, Agreed: r.Agreed, Counts: r.Counts}
	var err error
	h.Folded(func(s *fleet.State) {
		if host, joined := s.Keys().Host(e.Of); e.Key == "" && joined {
			if all := host.HumanKeys(e.Human.String()); len(all) > 0 {
				e.Key = all[len(all)-1].Key
			}
		}
		if !r.Try {
			return
		}
		if e.By == "" {
			e.By = e.Key
		}
		if err = s.MayEndHumanKey(e); err == nil {
			e.Counts = each.Of(s.SignedBy(e.Of, e.Human, e.Key), func(it *fleet.Item) string { return it.Hash })
			slices.Sort(e.Counts)
		}
	})
	v := control.HumanKeyEnd{Human: e.Human, Of: e.Of, Key: e.Key, Counts: append([]string{}, e.Counts...)}
	switch {
	case err != nil:
		return control.HumanKeyEnd{}, err
	case r.Try:
		return v, nil
	}
	said, err := h.Decider.Act(ctx, fleet.EndHumanKey{HumanEnd: e}, protocol.Path{})
	if err != nil {
		return control.HumanKeyEnd{}, err
	}
	v.Path = said[0].Message.Path.String()
	return v, nil
}
