package bench

import (
	"fmt"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/protocol"
)

// crowd is what agents write that meet in parties. Each party is organized and its members are
// invited, a human decides with their own key, and each member answers a sync-check.
type crowd struct {
	parties, members, agents int // members of each party, agents of all parties
	began                    time.Time
	human                    nkeys.KeyPair
	written                  []func(a *author, at time.Time) (gitsync.MessageFile, error) // in the order of time
}

// crowdHuman is the human of the host, who leads all parties and decides at all gates.
const crowdHuman = "nat"

func crowdAgent(i int) string { return fmt.Sprintf("agent%d", i) }

func crowdParty(i int) string { return fmt.Sprintf("party %d", i) }

// newCrowd is the crowd of that many parties. Its messages end now, and are one second apart.
func newCrowd(parties, members, agents int) (*crowd, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("cannot make a key: %w", err)
	}
	c := &crowd{parties: parties, members: members, agents: agents, human: key}
	c.add(func(a *author, at time.Time) (gitsync.MessageFile, error) {
		says := protocol.HumanKey{Host: a.host, Human: crowdHuman, Open: true}
		if err := says.Prove(a.record, key, nil); err != nil {
			return gitsync.MessageFile{}, err
		}
		return a.sign(protocol.Message{
			From: a.host.String(), To: []protocol.Address{{Name: a.host.String()}}, Human: crowdHuman, Act: protocol.ActHumanKey,
			Body: protocol.FormatHostWord(protocol.ActHumanKey, says),
		}, protocol.SystemChannel(a.record), at)
	})
	for i := range parties {
		c.party(i)
	}
	c.began = time.Now().UTC().Truncate(time.Second).Add(-time.Duration(len(c.written)+60) * time.Second)
	return c, nil
}

func (c *crowd) add(say func(a *author, at time.Time) (gitsync.MessageFile, error)) {
	c.written = append(c.written, say)
}

// write is the i-th message of the crowd.
func (c *crowd) write(a *author, i int) (gitsync.MessageFile, error) {
	return c.written[i](a, c.began.Add(time.Duration(i+1)*time.Second))
}

// decided is a message with the human's signature, of a gate or of what they had an agent do.
func (c *crowd) decided(a *author, m protocol.Message, channel protocol.ChannelID, at time.Time, gate protocol.Path, hash, reason string) (gitsync.MessageFile, error) {
	about := protocol.HumanDecision{RecordID: a.record, Human: crowdHuman, Host: a.host, Gate: gate, GateHash: hash, Act: m.Act, Reason: reason}
	var err error
	if m.Hsig, err = about.Sign(c.human); err != nil {
		return gitsync.MessageFile{}, err
	}
	m.Human, m.Body = crowdHuman, protocol.NormalBody(m.Body)
	return a.sign(m, channel, at)
}

// party adds one party. Its first member organizes it, and the others are invited, accepted and
// asked how far they are in sync.
func (c *crowd) party(i int) {
	lead := crowdAgent(i * c.members % c.agents)
	var channel protocol.ChannelID
	var organized protocol.Path
	c.add(func(a *author, at time.Time) (l gitsync.MessageFile, err error) {
		o := protocol.Organizing{
			FormHead: protocol.FormHead{From: lead, Topic: crowdParty(i), At: at}, Leader: crowdHuman, Team: fmt.Sprintf("team %d", i%10), Rules: protocol.DefaultPartyRules(),
		}
		slug, err := protocol.SlugOf(o.Topic)
		if err != nil {
			return l, err
		}
		channel = protocol.PartyChannel(a.record, a.host, slug, at)
		m := protocol.Message{From: lead, To: c.at(a, lead), Act: protocol.ActOrganize, Body: protocol.Organize.Format(o)}
		l, err = c.decided(a, m, channel, at, protocol.Path{}, "", o.Decides())
		organized = l.Path
		return l, err
	})
	for n := 1; n < c.members; n++ {
		member := crowdAgent((i*c.members + n) % c.agents)
		var invite gitsync.MessageFile
		c.add(func(a *author, at time.Time) (_ gitsync.MessageFile, err error) {
			asks := protocol.Invitation{FormHead: protocol.FormHead{From: lead, Topic: crowdParty(i), At: at}, Human: crowdHuman, Whom: c.at(a, member)[0], Rules: protocol.DefaultPartyRules()}
			m := protocol.Message{From: lead, To: c.at(a, member), Act: protocol.ActInvite, Body: protocol.Invite.Format(asks)}
			invite, err = c.decided(a, m, channel, at, protocol.Path{}, "", protocol.InviteDecides(organized, asks.Whom))
			return invite, err
		})
		c.add(func(a *author, at time.Time) (gitsync.MessageFile, error) {
			says := protocol.GateAnswer{FormHead: protocol.FormHead{From: crowdHuman, Topic: crowdParty(i), At: at}, Gate: "invite of " + member}
			m := protocol.Message{
				From: crowdHuman, To: c.at(a, lead), Act: protocol.ActPartyAccept, Re: protocol.Refer(channel, invite.Path), Body: protocol.AcceptGate.Format(says),
			}
			return c.decided(a, m, channel, at, invite.Path, protocol.Hash(invite.Data), "")
		})
		c.sync(i, lead, member)
	}
}

// sync adds a sync-check of `asked` by `asker` on a party's topic, and its answer.
func (c *crowd) sync(i int, asker, asked string) {
	claim, score := protocol.ItemRef{Label: "C1", Text: "The port is 4222"}, float64(i%11)/10
	var check protocol.Path
	deed := func(from, to string, act protocol.Act, body func(protocol.FormHead) string) {
		c.add(func(a *author, at time.Time) (gitsync.MessageFile, error) {
			slug, err := protocol.SlugOf(crowdParty(i))
			if err != nil {
				return gitsync.MessageFile{}, err
			}
			m := protocol.Message{From: from, To: []protocol.Address{{Name: to}}, Act: act, Body: protocol.NormalBody(body(protocol.FormHead{From: from, At: at}))}
			channel := protocol.TopicChannel(a.record, asker, asked, slug)
			if act == protocol.ActSyncResult {
				m.Re = protocol.Refer(channel, check)
			}
			l, err := a.sign(m, channel, at)
			if act == protocol.ActSyncCheck {
				check = l.Path
			}
			return l, err
		})
	}
	deed(asker, asked, protocol.ActTopic, func(h protocol.FormHead) string {
		h.With, h.Topic = asked, crowdParty(i)
		return protocol.OpenTopic.Format(protocol.Opening{FormHead: h})
	})
	deed(asker, asked, protocol.ActSyncCheck, func(h protocol.FormHead) string {
		return protocol.CheckSync.Format(protocol.SyncCheck{FormHead: h, Claims: []protocol.Claim{{ItemRef: claim}}})
	})
	deed(asked, asker, protocol.ActSyncResult, func(h protocol.FormHead) string {
		row := protocol.SyncRow{Claim: claim, Score: protocol.NewScore(score), Decision: protocol.DecisionAccept, Evidence: "notes.md:3"}
		return protocol.AnswerSync.Format(protocol.SyncResult{FormHead: h, Rows: []protocol.SyncRow{row}})
	})
}

// at is an agent of the author's host.
func (c *crowd) at(a *author, agent string) []protocol.Address {
	return []protocol.Address{{Name: agent, Host: a.host.String()}}
}
