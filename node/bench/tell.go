package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// The measure of telling has tellHosts with tellAgents each, in a quick run quickFleet.
const (
	tellHosts  = 10
	tellAgents = 5
	tellLead   = "agent0"
	tellTopic  = "the bench"

	// betweenAnswers is how long nothing happens before a human answers an invite. Otherwise the
	// work of all hosts for the answer before it, such as commits, would be measured too.
	betweenAnswers = 50 * time.Millisecond
)

func tellMeasure() Measure {
	const (
		what   = "from the request at a node's socket until all of 50 members on 10 hosts were told, which their hosts have fsynced: "
		beside = "the least it takes: append and fsync, bare NATS to 9 others across such links, append and fsync at each, and their replies"
	)
	return Measure{
		Name: "tell", What: "a party of agents of many hosts is told something", take: takeTell,
		Figures: []Spec{
			{Name: "tell_p50", Unit: "ms", What: what + "median", Better: Lower, Beside: beside},
			{
				Name: "accept_p50", Unit: "ms", Better: Lower, Beside: beside, Aim: 10, AimOn: OnValue, Full: true,
				What: "from a human's signed answer to an invite, at another host, until the inviter's host shows the member; 50 ms after the answer before: median",
			},
			{Name: "tell_p99", Unit: "ms", What: what + "99 of 100 take no longer", Better: Lower, Beside: beside},
		},
	}
}

// telling is the measure under way.
type telling struct {
	*stand
	*hosts
	keys   []nkeys.KeyPair // of the human of each host
	client control.Service // of the first host, over its socket
	link   *natsLinks
	disks  []bareFile // of each host
	inbox  *nats.Subscription
	random *rand.Rand

	told, bare, joined []time.Duration
}

func takeTell(ctx context.Context, s *stand) (_ readings, err error) {
	t := &telling{stand: s, random: rand.New(rand.NewPCG(7, 0))}
	size := s.count(tellHosts, quickFleet)
	if t.hosts, err = s.startHosts(ctx, wantedHosts{size: size, noGit: true}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.hosts.stop()) }()
	t.client = control.NewClient(t.nodes[0].home.Socket(), version)
	if err := t.gather(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.closeBare()) }()
	if err := t.openBare(ctx); err != nil {
		return nil, err
	}
	like, err := s.lettersOfADay(ctx, "bench", 1)
	if err != nil {
		return nil, err
	}
	for many := s.count(200, 20); len(t.told) < many; {
		s.progress("telling", len(t.told), many)
		if err := t.tell(ctx); err != nil {
			return nil, err
		}
		if err := t.least(ctx, like[0].Data); err != nil {
			return nil, err
		}
	}
	note := ""
	if s.options.Quick {
		note = fmt.Sprintf("%d members on %d hosts only", size*tellAgents, size)
	}
	read := func(p int) reading {
		return reading{value: milliseconds(percentile(t.told, p)), yardstick: milliseconds(percentile(t.bare, p)), note: note}
	}
	accepted := read(50)
	accepted.value = milliseconds(percentile(t.joined, 50))
	return readings{"tell_p50": read(50), "tell_p99": read(99), "accept_p50": accepted}, nil
}

// gather has agents of all hosts meet in a party that the human of the first host leads.
func (t *telling) gather(ctx context.Context) error {
	var with []string
	for i, n := range t.nodes {
		t.progress("gathering a party", i, len(t.nodes))
		key, err := giveKey(ctx, n)
		if err != nil {
			return err
		}
		t.keys = append(t.keys, key)
		for a := range tellAgents {
			name := crowdAgent(i*tellAgents + a)
			if _, err := control.AddAgent.Ask(ctx, n, control.AddAgentRequest{Name: name, Inbox: true}); err != nil {
				return err
			}
			if name != tellLead {
				with = append(with, name+"@"+hostName(i).String())
			}
		}
	}
	var planned control.PartyDeed
	r := control.OrganizeRequest{Acting: control.Acting{As: tellLead}, Topic: tellTopic, With: with, Try: true}
	err := until(ctx, "the first host knows all agents and their humans' keys", 20*time.Millisecond, func() (_ bool, err error) {
		humans, err := control.Humans.Ask(ctx, t.nodes[0], control.HumansRequest{})
		if err != nil || slices.ContainsFunc(humans.Humans, func(h control.Human) bool { return h.Key == "" }) {
			return false, err
		}
		planned, err = control.Organize.Ask(ctx, t.nodes[0], r)
		return err == nil, nil // an agent that is not known yet is refused
	})
	if err != nil {
		return err
	}
	r.Try, r.At = false, planned.Plan.At
	if r.Hsig, err = t.decide(ctx, 0, protocol.HumanDecision{Act: planned.Plan.Act, Reason: planned.Plan.Decides}); err != nil {
		return err
	}
	if _, err := control.Organize.Ask(ctx, t.nodes[0], r); err != nil {
		return err
	}
	return until(ctx, "all have joined the party", 20*time.Millisecond, func() (bool, error) {
		for i := range t.nodes {
			if err := t.accept(ctx, i); err != nil {
				return false, err
			}
		}
		p, err := control.ShowParty.Ask(ctx, t.nodes[0], control.PartyRequest{Viewing: control.Viewing{For: tellLead}, Party: tellTopic})
		return err == nil && len(p.Members) == len(with)+1 && !slices.ContainsFunc(p.Members, func(m control.PartyMember) bool { return !m.Connected }), err
	})
}

// giveKey gives the human of a host a key of their own, without a passphrase.
func giveKey(ctx context.Context, n *runningNode) (nkeys.KeyPair, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("cannot make a key: %w", err)
	}
	all, err := control.Humans.Ask(ctx, n, control.HumansRequest{})
	if err != nil {
		return nil, err
	}
	says := protocol.HumanKey{Host: all.Host, Human: all.Here, Open: true}
	if err := says.Prove(all.Record, key, nil); err != nil {
		return nil, err
	}
	_, err = control.GiveHumanKey.Ask(ctx, n, control.HumanKeyRequest{Key: says.Key, Open: true, Proof: says.Proof})
	return key, err
}

// decide is the signature of the human of a host.
func (t *telling) decide(ctx context.Context, host int, d protocol.HumanDecision) (string, error) {
	return signedAt(ctx, t.nodes[host], t.keys[host], d)
}

// signedAt is the signature of the human of a host.
func signedAt(ctx context.Context, n *runningNode, key nkeys.KeyPair, d protocol.HumanDecision) (string, error) {
	all, err := control.Humans.Ask(ctx, n, control.HumansRequest{})
	if err != nil {
		return "", err
	}
	d.RecordID, d.Human, d.Host = all.Record, all.Here, all.Host
	return d.Sign(key)
}

// accept accepts all invites about which the human of a host is asked.
func (t *telling) accept(ctx context.Context, host int) error {
	gates, err := control.Gates.Ask(ctx, t.nodes[host], control.GatesRequest{})
	if err != nil {
		return err
	}
	for _, g := range gates.Gates {
		path, err := protocol.ParsePath(g.Path)
		if err != nil {
			return err
		}
		r := control.AnswerGateRequest{Path: g.Path, Act: protocol.ActPartyAccept}
		if r.Hsig, err = t.decide(ctx, host, protocol.HumanDecision{Gate: path, GateHash: g.Hash, Act: r.Act}); err != nil {
			return err
		}
		if err := pause(ctx, betweenAnswers); err != nil {
			return err
		}
		began := time.Now()
		if _, err := control.AnswerGate.Ask(ctx, t.nodes[host], r); err != nil {
			return err
		}
		if host == 0 {
			continue // what is seen on that host is seen at once
		}
		err = until(ctx, "the inviter's host shows the member", time.Millisecond, func() (bool, error) {
			p, err := control.ShowParty.Ask(ctx, t.nodes[0], control.PartyRequest{Viewing: control.Viewing{For: tellLead}, Party: tellTopic})
			return slices.ContainsFunc(p.Members, func(m control.PartyMember) bool { return m.ID+"@"+m.Node.String() == g.Whom }), err
		})
		if err != nil {
			return err
		}
		t.joined = append(t.joined, time.Since(began))
	}
	return nil
}

// tell tells the party something, and waits until all hosts have it.
func (t *telling) tell(ctx context.Context) error {
	body, began := text(t.random), time.Now()
	told, err := control.TellParty.Ask(ctx, t.client, control.TellPartyRequest{Acting: control.Acting{As: tellLead}, Party: tellTopic, Text: body})
	if err != nil {
		return err
	}
	late := func(one control.ToldOne) bool { return one.Outcome != control.ToldDelivered }
	if len(told.To) != len(t.nodes)*tellAgents-1 {
		return fmt.Errorf("the party has %d others", len(told.To))
	}
	if slices.ContainsFunc(told.To, late) { // it took longer than `tell` waits
		err := until(ctx, "all hosts heard what the party was told", time.Millisecond, func() (bool, error) {
			m, err := control.Show.Ask(ctx, t.client, control.ShowRequest{Path: told.Message})
			return len(m.Heard) == len(t.nodes)-1, err
		})
		if err != nil {
			return err
		}
	}
	t.told = append(t.told, time.Since(began))
	return nil
}

// openBare prepares the yardsticks of the nodes.
func (t *telling) openBare(ctx context.Context) (err error) {
	for i := range t.nodes {
		disk, err := openBare(t.path(fmt.Sprintf("bare%d", i)))
		if err != nil {
			return err
		}
		t.disks = append(t.disks, disk)
	}
	t.link, err = openLinks(ctx, len(t.nodes)-1, func(spoke int, m *nats.Msg) {
		if t.disks[spoke+1].append(m.Data) == nil { // otherwise the one who asks waits in vain, and says so
			_ = m.Respond(nil)
		}
	})
	if err != nil {
		return err
	}
	if t.inbox, err = t.link.hub.SubscribeSync(nats.NewInbox()); err != nil {
		return fmt.Errorf("cannot subscribe: %w", err)
	}
	return nil
}

func (t *telling) closeBare() error {
	if t.link != nil {
		t.link.close()
	}
	var errs []error
	for _, d := range t.disks {
		errs = append(errs, d.close())
	}
	return errors.Join(errs...)
}

// least does what telling needs, only with the disk and NATS.
func (t *telling) least(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, natsWait)
	defer cancel()
	began := time.Now()
	if err := t.disks[0].append(data); err != nil {
		return err
	}
	if err := t.link.hub.PublishRequest(natsSubject, t.inbox.Subject, data); err != nil {
		return fmt.Errorf("cannot publish over bare NATS: %w", err)
	}
	for range len(t.nodes) - 1 {
		if _, err := t.inbox.NextMsgWithContext(ctx); err != nil {
			return fmt.Errorf("cannot ask over bare NATS: %w", err)
		}
	}
	t.bare = append(t.bare, time.Since(began))
	return nil
}
