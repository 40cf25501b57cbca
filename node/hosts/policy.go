package hosts

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// policies holds what the fleet has settled for all its hosts, and answers the verbs about it.
type policies struct {
	*Options
	humans *humans
}

// now returns what is settled, and which host began the record.
func (p *policies) now() (now policy.Policy, founder protocol.Name) {
	p.Folded(func(s *fleet.State) {
		now = fleet.Value(s, policy.Kind(p.Record.ID()), policy.KindName, time.Time{})
		founder, _ = s.Keys().Founder()
	})
	return now, founder
}

// List answers control.ListPolicy: first what this version knows, then what others have settled.
func (p *policies) List(_ context.Context, r control.PolicyRequest) ([]control.PolicySetting, error) {
	now, _ := p.now()
	if r.Key != "" {
		k, err := policy.Find(r.Key)
		if err != nil {
			return nil, err
		}
		return []control.PolicySetting{settingOf(now, k)}, nil
	}
	list := []control.PolicySetting{}
	known := map[string]bool{}
	for _, k := range policy.Keys() {
		known[k.Name] = true
		list = append(list, settingOf(now, k))
	}
	for _, s := range now.All() {
		if !known[s.Key] {
			list = append(list, settingOf(now, policy.Key{Name: s.Key}))
		}
	}
	return list, nil
}

func settingOf(p policy.Policy, k policy.Key) control.PolicySetting {
	s, _ := p.Settled(k.Name)
	value, _ := p.Value(k.Name)
	view := control.PolicySetting{
		Key: k.Name, Value: value, Default: k.Default, Doc: k.Doc, Settled: s.Value, By: s.By, Host: s.Host, Time: s.At, Reason: s.Reason,
	}
	if !s.Path.IsZero() {
		view.Path, view.Proof = s.Path.String(), proofOf(s.Hand)
	}
	return view
}

// proofOf says what proves that a human has decided something.
func proofOf(h affair.Hand) string {
	switch {
	case h.Key == "":
		return control.ProofHost
	case h.Open:
		return control.ProofOpenKey
	}
	return control.ProofOwnKey
}

// Set answers control.SetPolicy.
func (p *policies) Set(ctx context.Context, by control.Caller, r control.SetPolicyRequest) (control.PolicySetting, error) {
	who, err := p.Actor(by, "")
	if err != nil {
		return control.PolicySetting{}, err
	}
	if _, founder := p.now(); founder != p.Config.Alias {
		return control.PolicySetting{}, control.Errorf(control.KindRefused, "run it on the host "+founder.String()+", which began the record",
			"cannot settle %s for the fleet: only a human of %s can", r.Key, founder)
	}
	if err := p.humans.Signed(protocol.HumanDecision{Act: protocol.ActPolicy, Reason: policy.Decides(r.Key, r.Value)}, r.Hsig); err != nil {
		return control.PolicySetting{}, err
	}
	if _, err := p.Decider.Do(ctx, policy.Set(p.Record.ID(), who.Name, p.Config.Alias, r.Key, r.Value, r.Reason, r.Hsig)); err != nil {
		return control.PolicySetting{}, err
	}
	list, err := p.List(ctx, control.PolicyRequest{Key: r.Key})
	if err != nil {
		return control.PolicySetting{}, err
	}
	return list[0], nil
}
