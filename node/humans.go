package node

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

// humans answers the verbs about the keys of humans (R35). It only sees the public halves: a human
// signs in the program that they use.
type humans struct {
	host     protocol.Name
	human    protocol.Name // of this host
	recordID string
	folded   folded.State
	act      func(ctx context.Context, c fleet.Command, about protocol.Path) ([]written, error)
}

// list answers control.Humans.
func (h *humans) list(context.Context, control.HumansRequest) (control.HumanList, error) {
	l := control.HumanList{Record: h.recordID, Host: h.host, Here: h.human, Humans: []control.Human{}}
	h.folded(func(s *fleet.State) {
		for _, host := range s.Keys().Hosts() {
			for _, human := range host.Humans {
				l.Humans = append(l.Humans, humanAt(host, human))
			}
		}
	})
	slices.SortFunc(l.Humans, func(a, b control.Human) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Host, b.Host)) })
	return l, nil
}

// humanAt is a human of a host as they are listed.
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

// signed returns an error for a decision of this host's human that their key has not signed, if
// they have one. It is called before the decision is written, which would be void.
func (h *humans) signed(d protocol.HumanDecision, sig string) (err error) {
	h.folded(func(s *fleet.State) {
		host, joined := s.Keys().Host(h.host)
		if !joined {
			return
		}
		key, counts, had := host.HumanKeyNow(h.human.String())
		switch {
		case host.Contested(h.human.String()) != nil:
			err = control.Errorf(control.KindRefused, "a human of the host that began the record revokes one of the two there: parley human revoke --host --key",
				"%s has told of two first keys of %s, and neither counts: %s", h.host, h.human, strings.Join(host.Contested(h.human.String()), " and "))
		case had && !counts:
			err = control.Errorf(control.KindRefused, "parley human add", "the key of %s is revoked: nothing can be decided in that name", h.human)
		case had:
			d.RecordID, d.Human, d.Host, d.Key = h.recordID, h.human, h.host, key.Key
			if no := d.Check(sig); no != nil {
				err = control.Errorf(control.KindRefused, "decide it at a terminal, with this version of parley", "%s has a key of their own: %v", h.human, no)
			}
		}
	})
	return err
}

// give answers control.GiveHumanKey.
func (h *humans) give(ctx context.Context, r control.HumanKeyRequest) (control.Human, error) {
	says := protocol.HumanKey{Host: h.host, Human: h.human, Key: r.Key, After: r.After, Open: r.Open, Proof: r.Proof, Agreed: r.Agreed}
	if err := protocol.CheckKey(r.Key); err != nil {
		return control.Human{}, control.Errorf(control.KindUsage, "", "cannot take the key: %v", err)
	}
	if _, err := h.act(ctx, fleet.GiveHumanKey{HumanKey: says}, protocol.Path{}); err != nil {
		return control.Human{}, asError(err)
	}
	var v control.Human
	h.folded(func(s *fleet.State) {
		if host, joined := s.Keys().Host(h.host); joined {
			v = humanAt(host, h.human)
		}
	})
	return v, nil
}

// end answers control.EndHumanKey.
func (h *humans) end(ctx context.Context, r control.EndHumanKeyRequest) (control.HumanKeyEnd, error) {
	e := protocol.HumanEnd{Host: h.host, Of: cmp.Or(r.Of, h.host), Human: cmp.Or(r.Human, h.human), Key: r.Key, By: r.By, Agreed: r.Agreed, Counts: r.Counts}
	var err error
	h.folded(func(s *fleet.State) {
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
			e.Counts = []string{}
			for _, it := range s.SignedBy(e.Of, e.Human, e.Key) {
				e.Counts = append(e.Counts, it.Hash)
			}
			slices.Sort(e.Counts)
		}
	})
	v := control.HumanKeyEnd{Human: e.Human, Of: e.Of, Key: e.Key, Counts: append([]string{}, e.Counts...)}
	switch {
	case err != nil:
		return control.HumanKeyEnd{}, asError(err)
	case r.Try:
		return v, nil
	}
	said, err := h.act(ctx, fleet.EndHumanKey{HumanEnd: e}, protocol.Path{})
	if err != nil {
		return control.HumanKeyEnd{}, asError(err)
	}
	v.Path = said[0].message.Path.String()
	return v, nil
}
