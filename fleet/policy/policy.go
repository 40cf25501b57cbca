// Package policy is the affair of what is settled for the whole fleet, such as how long decisions
// stay open. The humans of the host that began the record settle it. Every host shows what holds,
// who settled it and when. Nothing is removed: a value that is changed or taken back stays readable
// in the record.
//
// A value is only kept here. Whoever asks computes what it means, at the time of looking or of
// writing: no other affair's fold reads it (DESIGN, section 10).
package policy

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Policy is what the fleet has settled. It does not change.
type Policy struct {
	settled map[string]Setting // by key
}

// Setting is one thing that somebody settled.
type Setting struct {
	Key    string
	Value  string // "" if it was taken back: then the default holds
	By     string
	Host   protocol.Name
	At     time.Time
	Path   protocol.Path
	Reason string
	Hand   affair.Hand // the key that signed it, if its human had one
}

// Decides is what the human's signature of a ruling is about.
func Decides(key, value string) string { return key + "=" + value }

// Settled is what was last settled for a key. `ok` is false if nothing ever was.
func (p Policy) Settled(key string) (Setting, bool) {
	s, ok := p.settled[key]
	return s, ok
}

// All is what was settled, by key.
func (p Policy) All() []Setting {
	return each.Of(slices.Sorted(maps.Keys(p.settled)), func(key string) Setting { return p.settled[key] })
}

// KindName is the name of the kind.
const KindName = "policy"

// maxSettings bounds how many keys a fleet can settle. Later versions have keys that this one does
// not know, but not that many.
const maxSettings = 256

// Kind is the kind of affair that the policy of the record with that id is. There is only one such
// affair.
func Kind(recordID string) *affair.Kind[Policy] {
	channel := protocol.PolicyChannel(recordID)
	return &affair.Kind[Policy]{
		Name:  KindName,
		Acts:  []protocol.ActSpec{protocol.SetPolicy.ActSpec},
		Of:    func(m *protocol.Message) (string, bool) { return KindName, m.Path.Channel() == channel },
		Hands: true,
		Begin: func(string) Policy { return Policy{} },
		Step:  Policy.step,
	}
}

// step settles what a deed says. It keeps keys and values that this version does not know: another
// version may know them.
func (p Policy) step(d affair.Deed) (Policy, error) {
	r, err := protocol.SetPolicy.Parse(d.Body)
	switch {
	case err != nil:
		return p, affair.Malformed(err)
	case d.Standing != affair.Signed || !d.Founder:
		return p, errors.New("only the host that began the record settles what holds for all")
	case !d.Human:
		return p, refusal.New(refusal.Forbidden, "", "%s is no human of %s", d.Author().Name, d.Host)
	}
	if err := d.Decided(protocol.Path{}, "", Decides(r.Key, r.Value), time.Time{}, ""); err != nil {
		return p, refusal.New(refusal.Forbidden, "", "%s", err)
	}
	if _, known := p.settled[r.Key]; !known && len(p.settled) >= maxSettings {
		return p, errors.New("the fleet has settled as much as it can")
	}
	settled := maps.Clone(p.settled)
	if settled == nil {
		settled = map[string]Setting{}
	}
	settled[r.Key] = Setting{Key: r.Key, Value: r.Value, By: d.Author().Name, Host: d.Host, At: d.Timestamp, Path: d.Message.Path, Reason: r.Reason, Hand: d.Hand}
	return Policy{settled}, nil
}

// Set has a human settle a key. If `value` is "", it takes back what was settled. If the value
// holds already, it writes nothing. `hsig` is the signature of the human's own key, for Decides; it
// is empty if they have none.
func Set(recordID, human string, host protocol.Name, key, value, reason, hsig string) affair.Command {
	return Kind(recordID).Command(KindName, func(p Policy, now time.Time) ([]affair.Draft, error) {
		k, err := Find(key)
		if err != nil {
			return nil, err
		}
		if err := k.check(value); err != nil {
			return nil, err
		}
		if p.settled[key].Value == value {
			return nil, nil
		}
		head := protocol.FormHead{From: human, At: now.UTC().Truncate(time.Millisecond)}
		return []affair.Draft{{Channel: protocol.PolicyChannel(recordID), Message: protocol.Message{
			From: human, To: []protocol.Address{{Name: human, Host: host.String()}}, Type: protocol.TypeText, Act: protocol.ActPolicy, Human: human, Hsig: hsig,
			Body: protocol.NormalBody(protocol.SetPolicy.Format(protocol.Ruling{FormHead: head, Key: key, Value: value, Reason: reason})),
		}}}, nil
	})
}
