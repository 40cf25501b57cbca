package bench

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

func crowdTrial() trial {
	const of, status = ", of 200 parties with 1,000 members, all of them scored", "the shortest question to the same node, its status: median"
	figures := []Figure{
		{Name: "crowd_first", Unit: "ms", What: "the first graph after a start, when all is folded" + of, Better: Lower, Beside: status},
		{Name: "crowd_who", Unit: "ms", What: "one party (who): median" + of, Better: Lower, Beside: status, Aim: new(50.0), AimOn: OnValue},
		{Name: "crowd_mesh", Unit: "ms", What: "the graph of all of them (mesh --json): median" + of, Better: Lower, Beside: status, Aim: new(50.0), AimOn: OnValue},
		{Name: "crowd_team", Unit: "ms", What: "a team of 20 of them (team): median" + of, Better: Lower, Beside: status, Aim: new(50.0), AimOn: OnValue},
	}
	return trial{measure{name: "crowd", what: "who is in parties is asked where there are many", figures: figures}, func(r *rig) readings {
		c := &crowd{parties: r.count(200, 20), members: 5, agents: r.count(100, 20), human: must(nkeys.CreateUser())(r)}
		c.write()
		home := must(r.newHome(r.Context(), 0, func(o *homes.Options) { o.Now = func() time.Time { return c.began } }))(r)
		r.fill(home, len(c.written), func(a *author, i int) gitsync.MessageFile {
			return c.written[i](a, c.began.Add(time.Duration(i+1)*time.Second))
		})
		var agents []string
		for i := range c.agents {
			agents = append(agents, crowdAgent(i))
		}
		r.serveOnce(home, agents)
		p := r.serving(home)
		mesh := func() error {
			return control.ShowMesh.Ask(r.Context(), p, control.MeshRequest{}, func(m control.Mesh) error {
				scored := 0
				for _, e := range m.Edges {
					if e.Data.Synced {
						scored++
					}
				}
				if len(m.Edges) != c.parties*c.members || scored != c.parties*(c.members-1) {
					return fmt.Errorf("the graph has %d edges and %d scores", len(m.Edges), scored)
				}
				return nil
			})
		}
		first := r.timesOf(1, mesh)
		shortest := r.timesOf(30, func() error {
			_, err := control.ShowStatus.Ask(r.Context(), p)
			return err
		})
		taken := readings{
			"crowd_first": beside(first, shortest, 50),
			"crowd_mesh":  beside(r.timesOf(r.count(30, 5), mesh), shortest, 50),
			"crowd_who": beside(r.timesOf(r.count(30, 5), func() error {
				p, err := control.ShowParty.Ask(r.Context(), p, control.PartyRequest{Viewing: control.Viewing{For: crowdAgent(0)}, Party: crowdParty(0)})
				if err == nil && (len(p.Members) != c.members || p.Synced != c.members-1) {
					err = fmt.Errorf("the party has %d members and %d scores", len(p.Members), p.Synced)
				}
				return err
			}), shortest, 50),
			"crowd_team": beside(r.timesOf(r.count(30, 5), func() error {
				_, err := control.Parties.Ask(r.Context(), p, control.PartiesRequest{Fleet: true, Closed: true, Team: "team 0"})
				return err
			}), shortest, 50),
		}
		return taken.in(r.less("of %d parties with %d members only", c.parties, c.parties*c.members))
	}}
}

// crowd is what agents write that meet in parties. Each party is organized and its members are
// invited, a human decides with their own key, and each member answers a sync-check.
type crowd struct {
	parties, members, agents int // members of each party, agents of all parties
	began                    time.Time
	human                    nkeys.KeyPair
	written                  []func(a *author, at time.Time) gitsync.MessageFile // in the order of time
}

// crowdHuman is the human of the host, who leads all parties and decides at all gates.
const crowdHuman = "human0"

func crowdAgent(i int) string { return fmt.Sprintf("agent%d", i) }

func crowdParty(i int) string { return fmt.Sprintf("party %d", i) }

// write fills the crowd. Its messages end now, and are one second apart.
func (c *crowd) write() {
	c.add(func(a *author, at time.Time) gitsync.MessageFile {
		says := protocol.HumanKey{Host: a.host, Human: crowdHuman, Open: true}
		a.check(says.Prove(a.record, c.human, nil))
		host := a.host.String()
		return a.sign(protocol.Message{
			From: host, To: []protocol.Address{{Name: host}}, Human: crowdHuman, Act: protocol.ActHumanKey, Body: protocol.FormatHostWord(protocol.ActHumanKey, says),
		}, protocol.SystemChannel(a.record), at)
	})
	for i := range c.parties {
		c.party(i)
	}
	c.began = time.Now().UTC().Truncate(time.Second).Add(-time.Duration(len(c.written)+60) * time.Second)
}

func (c *crowd) add(say func(a *author, at time.Time) gitsync.MessageFile) {
	c.written = append(c.written, say)
}

// decided is a message with the human's signature, of a gate or of what they had an agent do.
func (c *crowd) decided(a *author, m protocol.Message, channel protocol.ChannelID, at time.Time, about protocol.HumanDecision) gitsync.MessageFile {
	about.RecordID, about.Human, about.Host, about.Act = a.record, crowdHuman, a.host, m.Act
	m.Hsig, m.Human = must(about.Sign(c.human))(a.rig), crowdHuman
	return a.sign(m, channel, at)
}

// party adds one party. Its first member organizes it, and the others are invited, accepted and
// asked how far they are in sync.
func (c *crowd) party(i int) {
	lead, topic := crowdAgent(i*c.members%c.agents), crowdParty(i)
	here := func(a *author, agent string) []protocol.Address {
		return []protocol.Address{{Name: agent, Host: a.host.String()}}
	}
	var channel protocol.ChannelID
	var organized protocol.Path
	c.add(func(a *author, at time.Time) gitsync.MessageFile {
		o := protocol.Organizing{
			FormHead: protocol.FormHead{From: lead, Topic: topic, At: at}, Leader: crowdHuman, Team: fmt.Sprintf("team %d", i%10), Rules: protocol.DefaultPartyRules(),
		}
		channel = protocol.PartyChannel(a.record, a.host, must(protocol.SlugOf(topic))(a.rig), at)
		m := protocol.Message{From: lead, To: here(a, lead), Act: protocol.ActOrganize, Body: protocol.Organize.Format(o)}
		l := c.decided(a, m, channel, at, protocol.HumanDecision{Reason: o.Decides()})
		organized = l.Path
		return l
	})
	for n := 1; n < c.members; n++ {
		member := crowdAgent((i*c.members + n) % c.agents)
		var invite gitsync.MessageFile
		c.add(func(a *author, at time.Time) gitsync.MessageFile {
			head := protocol.FormHead{From: lead, Topic: topic, At: at}
			asks := protocol.Invitation{FormHead: head, Human: crowdHuman, Whom: here(a, member)[0], Rules: protocol.DefaultPartyRules()}
			m := protocol.Message{From: lead, To: here(a, member), Act: protocol.ActInvite, Body: protocol.Invite.Format(asks)}
			invite = c.decided(a, m, channel, at, protocol.HumanDecision{Reason: protocol.InviteDecides(organized, asks.Whom)})
			return invite
		})
		c.add(func(a *author, at time.Time) gitsync.MessageFile {
			says := protocol.GateAnswer{FormHead: protocol.FormHead{From: crowdHuman, Topic: topic, At: at}, Gate: "invite of " + member}
			m := protocol.Message{
				From: crowdHuman, To: here(a, lead), Act: protocol.ActPartyAccept, Re: protocol.Refer(channel, invite.Path), Body: protocol.AcceptGate.Format(says),
			}
			return c.decided(a, m, channel, at, protocol.HumanDecision{Gate: invite.Path, GateHash: protocol.Hash(invite.Data)})
		})
		c.sync(topic, lead, member, float64(i%11)/10)
	}
}

// sync adds a sync-check of `asked` by `asker` on a party's topic, and its answer.
func (c *crowd) sync(topic, asker, asked string, score float64) {
	claim, check := protocol.ItemRef{Label: "C1", Text: "The port is 4222"}, new(protocol.Path)
	deed := func(from, to string, act protocol.Act, re, path *protocol.Path, body func(protocol.FormHead) string) {
		c.add(func(a *author, at time.Time) gitsync.MessageFile {
			m := protocol.Message{From: from, To: []protocol.Address{{Name: to}}, Act: act, Body: body(protocol.FormHead{From: from, At: at})}
			return a.deed(topic, asker, asked, m, re, path, at)
		})
	}
	deed(asker, asked, protocol.ActTopic, nil, nil, func(h protocol.FormHead) string {
		h.With, h.Topic = asked, topic
		return protocol.OpenTopic.Format(protocol.Opening{FormHead: h})
	})
	deed(asker, asked, protocol.ActSyncCheck, nil, check, func(h protocol.FormHead) string {
		return protocol.CheckSync.Format(protocol.SyncCheck{FormHead: h, Claims: []protocol.Claim{{ItemRef: claim}}})
	})
	deed(asked, asker, protocol.ActSyncResult, check, nil, func(h protocol.FormHead) string {
		return protocol.AnswerSync.Format(protocol.SyncResult{FormHead: h, Rows: []protocol.SyncRow{scored(claim, score)}})
	})
}

// The measure of telling has tellHosts with tellAgents each, in a quick run quickFleet.
const (
	tellHosts, tellAgents = 10, 5
	tellLead, tellTopic   = "agent0", "the bench"
)

func tellTrial() trial {
	const (
		what = "from the request at a node's socket until all of 50 members on 10 hosts were told, which their hosts have fsynced: "
		bare = "the least it takes: append and fsync, bare NATS to 9 others across such links, append and fsync at each, and their replies"
	)
	return trial{measure{name: "tell", what: "a party of agents of many hosts is told something", figures: []Figure{
		{Name: "tell_p50", Unit: "ms", What: what + "median", Better: Lower, Beside: bare},
		{
			Name: "accept_p50", Unit: "ms", Better: Lower, Beside: bare, Aim: new(10.0), AimOn: OnValue,
			What: "from a human's signed answer to an invite, at another host, until the inviter's host shows the member; 50 ms after the answer before: median",
		},
		{Name: "tell_p99", Unit: "ms", What: what + "99 of 100 take no longer", Better: Lower, Beside: bare},
	}}, func(r *rig) readings {
		size := r.count(tellHosts, quickFleet)
		t := &telling{fleet: r.fleet(wantedFleet{size: size, noGit: true})}
		t.gather()
		t.openBare()
		told, least, err := inTurn(r.count(200, 20), 1, t.tell, t.least)
		r.check(err)
		taken := both("tell", told, least)
		taken["accept_p50"] = beside(t.joined, least, 50)
		return taken.in(r.less("%d members on %d hosts only", size*tellAgents, size))
	}}
}

// telling is the measure under way.
type telling struct {
	*fleet
	keys   []nkeys.KeyPair // of the human of each host
	link   *natsLinks
	here   func() error // appends to the bare file of the first host
	inbox  *nats.Subscription
	joined []time.Duration
}

// gather has agents of all hosts meet in a party that the human of the first host leads.
func (t *telling) gather() {
	var with []string
	for i, h := range t.nodes {
		t.keys = append(t.keys, t.giveKey(h))
		for a := range tellAgents {
			name := crowdAgent(i*tellAgents + a)
			must(control.AddAgent.Ask(t.Context(), h, control.AddAgentRequest{Name: name, Inbox: true}))(t.rig)
			if name != tellLead {
				with = append(with, name+"@"+hostName(i))
			}
		}
	}
	var planned control.PartyDeed
	asked := control.OrganizeRequest{Acting: control.Acting{As: tellLead}, Topic: tellTopic, With: with, Try: true}
	t.until("the first host knows all agents and their humans' keys", 20*time.Millisecond, func() bool {
		humans := must(control.Humans.Ask(t.Context(), t.nodes[0], control.HumansRequest{}))(t.rig)
		if slices.ContainsFunc(humans.Humans, func(h control.Human) bool { return h.Key == "" }) {
			return false
		}
		var err error
		planned, err = control.Organize.Ask(t.Context(), t.nodes[0], asked)
		return err == nil // an agent that is not known yet is refused
	})
	asked.Try, asked.At = false, planned.Plan.At
	asked.Hsig = t.signed(t.nodes[0], t.keys[0], protocol.HumanDecision{Act: planned.Plan.Act, Reason: planned.Plan.Decides})
	must(control.Organize.Ask(t.Context(), t.nodes[0], asked))(t.rig)
	t.until("all have joined the party", 20*time.Millisecond, func() bool {
		for i := range t.nodes {
			t.accept(i)
		}
		p := t.party()
		return len(p.Members) == len(with)+1 && !slices.ContainsFunc(p.Members, func(m control.PartyMember) bool { return !m.Connected })
	})
}

func (t *telling) party() control.Party {
	return must(control.ShowParty.Ask(t.Context(), t.nodes[0], control.PartyRequest{Viewing: control.Viewing{For: tellLead}, Party: tellTopic}))(t.rig)
}

// giveKey gives the human of a host a key of their own, without a passphrase.
func (r *rig) giveKey(h *host) nkeys.KeyPair {
	key, all := must(nkeys.CreateUser())(r), must(control.Humans.Ask(r.Context(), h, control.HumansRequest{}))(r)
	says := protocol.HumanKey{Host: all.Host, Human: all.Here, Open: true}
	r.check(says.Prove(all.Record, key, nil))
	must(control.GiveHumanKey.Ask(r.Context(), h, control.HumanKeyRequest{Key: says.Key, Open: true, Proof: says.Proof}))(r)
	return key
}

// signed is the signature of the human of a host.
func (r *rig) signed(h *host, key nkeys.KeyPair, d protocol.HumanDecision) string {
	all := must(control.Humans.Ask(r.Context(), h, control.HumansRequest{}))(r)
	d.RecordID, d.Human, d.Host = all.Record, all.Here, all.Host
	return must(d.Sign(key))(r)
}

// accept accepts all invites about which the human of a host is asked.
func (t *telling) accept(i int) {
	h := t.nodes[i]
	for _, g := range must(control.Gates.Ask(t.Context(), h, control.GatesRequest{}))(t.rig).Gates {
		answer := control.AnswerGateRequest{Path: g.Path, Act: protocol.ActPartyAccept}
		answer.Hsig = t.signed(h, t.keys[i], protocol.HumanDecision{Gate: must(protocol.ParsePath(g.Path))(t.rig), GateHash: g.Hash, Act: answer.Act})
		time.Sleep(50 * time.Millisecond) // else the work of all hosts for the answer before it would be measured too
		began := time.Now()
		must(control.AnswerGate.Ask(t.Context(), h, answer))(t.rig)
		if i == 0 {
			continue // what is seen on that host is seen at once
		}
		t.until("the inviter's host shows the member", time.Millisecond, func() bool {
			return slices.ContainsFunc(t.party().Members, func(m control.PartyMember) bool { return m.Address().String() == g.Whom })
		})
		t.joined = append(t.joined, time.Since(began))
	}
}

// tell tells the party something, and waits until all hosts have it.
func (t *telling) tell() error {
	client := t.nodes[0].client
	told, err := control.TellParty.Ask(t.Context(), client, control.TellPartyRequest{Acting: control.Acting{As: tellLead}, Party: tellTopic, Text: body})
	if err == nil && len(told.To) != len(t.nodes)*tellAgents-1 {
		err = fmt.Errorf("the party has %d others", len(told.To))
	}
	late := func(one control.ToldOne) bool { return one.Outcome != control.ToldDelivered }
	if err != nil || !slices.ContainsFunc(told.To, late) {
		return err
	}
	return until(t.Context(), "all hosts heard what the party was told", time.Millisecond, func() (bool, error) { // it took longer than `tell` waits
		m, err := control.Show.Ask(t.Context(), client, control.ShowRequest{Path: told.Message})
		return len(m.Heard) == len(t.nodes)-1, err
	})
}

// openBare prepares the yardsticks of the nodes.
func (t *telling) openBare() {
	var disks []func() error
	for i := range t.nodes {
		bare := must(t.stand.openBare(fmt.Sprintf("bare%d", i)))(t.rig)
		disks = append(disks, func() error { return appendTo(bare) })
	}
	t.here = disks[0]
	t.link = must(t.openLinks(t.Context(), len(t.nodes)-1, func(spoke int, m *nats.Msg) {
		if disks[spoke+1]() == nil { // otherwise the one who asks waits in vain, and says so
			_ = m.Respond(nil)
		}
	}))(t.rig)
	t.inbox = must(t.link.conns[0].SubscribeSync(nats.NewInbox()))(t.rig)
}

// least does what telling needs, only with the disk and NATS.
func (t *telling) least() error {
	err := errors.Join(t.here(), t.link.conns[0].PublishRequest("message", t.inbox.Subject, letter))
	for range len(t.nodes) - 1 {
		if err == nil {
			_, err = t.inbox.NextMsg(natsWait)
		}
	}
	return err
}
