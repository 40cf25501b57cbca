package inquiry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"unicode"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/inquiry/place"
	"github.com/parleyfleet/parley/protocol"
)

// material keeps copies of what inquiries investigate, and the places in which members work.
type material struct {
	*Options
	known  *index
	taking sync.RWMutex // read-held from the taking of what is investigated until it has been used
	asking sync.Map     // by agent, a channel that holds a token while it begins an inquiry that investigates something
}

// turn waits until an agent is taking nothing else: one of each agent at a time, so that they can be
// counted.
func (t *material) turn(ctx context.Context, agent protocol.Name) (release func(), err error) {
	slot, _ := t.asking.LoadOrStore(agent, make(chan struct{}, 1))
	turn := slot.(chan struct{})
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// maxOfAgent is how many inquiries of one agent that investigate something may go on at once: for
// each a copy is kept.
const maxOfAgent = 4

// take keeps a copy of what is to be investigated, and notes what it is. An agent may name only what
// lies in its own folder. What is refused is told in the same words, whether it is there or not.
func (t *material) take(ctx context.Context, by control.Caller, o *protocol.InquiryOpening) error {
	a := place.Ask{In: o.In, Home: t.Home}
	hint := ""
	if by.Kind == control.ByAgent {
		hint = "name a folder in your own, or REPO@COMMIT in it; your human can name others"
		reader, err := t.reader(by.Name.String())
		if err != nil {
			return err
		}
		a.By = reader
		going := 0
		t.Folded(func(s *fleet.State) {
			for _, v := range t.known.open(s) {
				if !v.State.Over() && v.Opening.In != "" && v.By == (protocol.Address{Name: by.Name.String(), Host: t.Host.String()}) {
					going++
				}
			}
		})
		if going >= maxOfAgent {
			return control.Errorf(control.KindRefused, "wait until one of them is over: parley frame list", "%s has %d inquiries going on that investigate something", by.Name, going)
		}
	}
	source, err := place.Snapshot(ctx, t.Places, a)
	if err != nil {
		return control.Errorf(control.KindUsage, hint, "cannot take what is to be investigated: %v", err)
	}
	if strings.ContainsFunc(source.In, unicode.IsControl) { // it would stand in prompts
		return control.Errorf(control.KindUsage, hint, "cannot take what is to be investigated: its name has control characters")
	}
	o.In, o.Snapshot = source.In, source.Hash
	return nil
}

// hold keeps what is taken from being removed until the returned function is called. What no
// inquiry needs then is removed, unless somebody else holds it: then the last one removes it.
func (t *material) hold() (release func()) {
	t.taking.RLock()
	return func() {
		t.taking.RUnlock()
		t.tidy()
	}
}

// tidy removes copies of material that no inquiry needs, unless something is just being taken.
func (t *material) tidy() {
	if !t.taking.TryLock() {
		return
	}
	defer t.taking.Unlock()
	err := place.Tidy(t.Places, func() map[string]bool {
		needed := map[string]bool{}
		t.Folded(func(s *fleet.State) {
			for _, v := range t.known.open(s) {
				if !v.State.Over() {
					needed[v.Opening.Snapshot] = true
				}
			}
		})
		return needed
	})
	if err != nil {
		t.Log.Warn().Err(err).Msg("what was investigated is left behind")
	}
}

// dir is where the material of an inquiry lies on this host.
func (t *material) dir(ctx context.Context, v inquiries.Inquiry) (string, error) {
	in, mine := v.Opening.In, v.By.Host == t.Host.String()
	if !mine && staysThere(v.Opening) {
		return "", fmt.Errorf("%s is a folder of %s, and only that host can investigate it", in, v.By.Host)
	}
	a := place.Ask{In: in, Home: t.Home}
	if byAgent(v.Opening) {
		by, err := t.reader(v.By.Name)
		if err != nil {
			return "", err
		}
		a.By = by
	}
	dir, err := place.Fetch(ctx, t.Places, a, v.Opening.Snapshot)
	if err != nil && !mine { // the record would tell others what there is here, and there
		t.Log.Warn().Err(err).Str("inquiry", id8(v.Channel)).Msg("what is investigated cannot be had here")
		return "", fmt.Errorf("%s cannot get what is investigated; its log says why", t.Host)
	}
	return dir, err
}

// files returns the names of the files that are investigated. So the coordinator learns where
// perspectives could look, and reads nothing of these files for them.
func (t *material) files(ctx context.Context, v inquiries.Inquiry) (names []string, err error) {
	defer t.hold()() // else what is taken could be removed at the same time
	dir, err := t.dir(ctx, v)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read what is investigated: %w", err)
	}
	return names, nil
}

// staysThere reports whether what is investigated can be investigated only on the host where the
// inquiry began: a folder, or what an agent names. Otherwise another host's question would have this
// host copy a folder of its own that has the same name, or clone for an agent with its operator's
// sign-in.
func staysThere(o protocol.InquiryOpening) bool {
	return o.In != "" && (place.IsFolder(o.In) || byAgent(o))
}

func byAgent(o protocol.InquiryOpening) bool { return len(o.Humans) > 0 }

// reader is how an agent of this host may have something read for it.
func (t *material) reader(agent string) (*place.Reader, error) {
	for _, a := range t.Agents() {
		if a.Name.String() != agent {
			continue
		}
		r := &place.Reader{Dir: a.Dir}
		if a.RunAs == "" {
			return r, nil
		}
		user, err := t.Owner(a)
		r.User = user
		return r, err
	}
	return &place.Reader{}, nil // an agent that is not served has no folder
}

func (t *material) place(ctx context.Context, v inquiries.Inquiry, m *inquiries.Member, agent configs.Agent) (place.Place, error) {
	spec := place.Spec{Base: t.Places, Inquiry: v.Channel, Perspective: m.Perspective, Login: preset(agent).Login}
	if agent.RunAs != "" {
		owner, err := t.Owner(agent)
		if err != nil {
			return place.Place{}, err
		}
		spec.Owner, spec.Base = owner, place.OfOwners(t.Places)
	}
	if v.Opening.In != "" {
		spec.Material = func() (string, error) { return t.dir(ctx, v) }
	}
	defer t.hold()()
	return place.Make(spec)
}

// clear removes what the members of an inquiry worked with. It also removes copies of material that
// no inquiry needs any more.
func (t *material) clear(inquiry protocol.ChannelID) error {
	t.tidy()
	return errors.Join(place.Remove(t.Places, inquiry), place.Remove(place.OfOwners(t.Places), inquiry))
}
