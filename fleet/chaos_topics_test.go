package fleet

import (
	"fmt"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/protocol"
)

// Whatever two say in a topic, and humans and others settle for the fleet, by keys that come late, by thieves' keys or by none, with
// clocks that are off: the order in which it arrives, repeated, in groups and with
// archives in between, makes no difference to what the topic is, nor to
// what is settled.
func TestTopicsDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	held, acts := map[protocol.Act]int{}, append(topics.Kind(testRecord).Deeds(), protocol.ActPolicy)
	for seed := range casesUntil(30, held, acts) {
		c := newChaos(t, uint64(seed))
		for i, human := range []protocol.Name{0: "nat", 2: "eve"} {
			if human == "" { // a thief's
				continue
			}
			says := protocol.HostState{Host: c.hosts[i].alias, Key: c.hosts[i].public(t), Humans: []protocol.Name{human}}
			c.files = append(c.files, c.hosts[i].write(t, New(c.anchor).hostDraft(protocol.ActHostJoin, says), c.now.Add(c.skew[i]), c.Uint32()))
		}
		for range 30 + c.IntN(60) {
			c.topicStep()
		}
		state := foldedOf(t, c.anchor, c.files)
		want := snapshot(state)
		for it := range state.Ledger.All() {
			if it.affair.Kind != "ballot" && it.affair != (affair.ID{}) && state.Void(it) == nil {
				held[it.Act]++
			}
		}
		c.sameInAnyOrder(seed, want, 3, true)
	}
	for _, act := range acts { // else this would show nothing
		if held[act] == 0 && !fewCases {
			t.Errorf("no %s held in any case", act)
		}
	}
}

// topicStep writes one more file: mostly a deed of the topic, signed by the host of its
// author.
func (c *chaos) topicStep() {
	switch c.IntN(20) {
	case 0:
		c.step()
		return
	case 1, 2:
		c.policyStep()
		return
	}
	c.now = c.now.Add(time.Duration(c.IntN(3)) * time.Second)
	m := c.topicDeed()
	i := map[string]int{"nat": 0, "eve": 2}[m.From]
	if c.IntN(12) == 0 {
		i = c.IntN(len(c.hosts))
	}
	d := Draft{Message: m, Channel: protocol.TopicChannel(testRecord, "nat", "eve", "x")}
	at := c.now.Add(c.skew[i])
	if c.IntN(12) == 0 || m.Act == protocol.ActJoinRequest {
		m.Timestamp, m.Path = at, protocol.NewPath(d.Channel, at, c.Uint32())
		c.plain(m)
	} else {
		c.files = append(c.files, c.hosts[i].write(c.t, d, at, c.Uint32()))
	}
	c.opened = append(c.opened, c.files[len(c.files)-1].path)
}

// policyStep writes one more word about what holds for the fleet: mostly of a human of the
// host that began the record, of few keys and values, now and then by anybody, unsigned or
// without sense.
func (c *chaos) policyStep() {
	c.now = c.now.Add(time.Duration(c.IntN(3)) * time.Second)
	key := []string{policy.KeyReprompt, policy.KeyWindowIssue, "later"}[c.IntN(3)]
	value := []string{"", "yes", "no", "2d"}[c.IntN(4)]
	m := protocol.Message{
		From: "nat", To: []protocol.Address{{Name: "nat"}}, Type: protocol.TypeText, Act: protocol.ActPolicy,
		Body: protocol.NormalBody(protocol.SetPolicy.Format(protocol.Ruling{Key: key, Value: value, Reason: "so"})),
	}
	i := 0
	switch c.IntN(8) {
	case 0:
		i = c.IntN(len(c.hosts))
	case 1:
		m.From = "eve"
	case 2:
		m.Body = "nonsense"
	}
	at, channel := c.now.Add(c.skew[i]), protocol.PolicyChannel(testRecord)
	if c.IntN(12) == 0 {
		m.Timestamp, m.Path = at, protocol.NewPath(channel, at, c.Uint32())
		c.plain(m)
		return
	}
	c.files = append(c.files, c.hosts[i].write(c.t, Draft{Message: m, Channel: channel}, at, c.Uint32()))
}

// topicDeed makes a message a deed of one topic of nat and eve: any act about any item,
// check or checkpoint, by anybody, now and then with words that make no sense.
func (c *chaos) topicDeed() protocol.Message {
	m := protocol.Message{From: []string{"nat", "eve"}[c.IntN(2)], To: []protocol.Address{{Name: "eve"}}, Type: protocol.TypeText}
	if m.From == "eve" {
		m.To[0].Name = "nat"
	}
	acts := topics.Kind(testRecord).Deeds()
	m.Act = acts[c.IntN(len(acts))]
	switch {
	case len(c.opened) == 0 || m.Act == protocol.ActClose && c.IntN(3) > 0:
		m.Act = protocol.ActTopic
	case c.IntN(4) == 0:
		m.Act = protocol.ActAgree
	case m.Act == protocol.ActJoinRequest, c.IntN(12) == 0:
		m.From = "words"
	}
	if len(c.opened) > 0 && m.Act != protocol.ActSyncResult && c.IntN(4) == 0 {
		m.Re = c.opened[c.IntN(len(c.opened))].Rel()
	}
	letters := "AAAAPTD"
	if m.Act == protocol.ActResolve {
		letters = "PPD"
	}
	label := protocol.Label(fmt.Sprintf("%c%d", letters[c.IntN(len(letters))], 1+c.IntN(2)))
	item := protocol.ItemRef{Label: label}
	if c.IntN(3) == 0 {
		item.Label, item.Text = "", []string{"Keys are four", "Titles have none"}[c.IntN(2)]
	}
	text := []string{"Keys are four", "Titles have none", "Panes are three"}[c.IntN(3)]
	says := map[protocol.Act]string{
		protocol.ActTopic:       protocol.OpenTopic.Format(protocol.Opening{FormHead: protocol.FormHead{Topic: []string{"x", "X"}[c.IntN(2)]}}),
		protocol.ActAgree:       protocol.Agree.Format(protocol.Proposal{Item: protocol.ItemRef{Label: label, Text: text}, AnswerBy: c.now.Add(time.Duration(c.IntN(20)) * time.Second)}),
		protocol.ActAccept:      protocol.Accept.Format(protocol.Acceptance{Item: item}),
		protocol.ActReject:      protocol.Reject.Format(protocol.Rejection{Item: item, Reason: text}),
		protocol.ActDefer:       protocol.Defer.Format(protocol.Deferral{Item: item, Until: c.now.Add(time.Duration(c.IntN(20)-5) * time.Second)}),
		protocol.ActRevoke:      protocol.Revoke.Format(protocol.Withdrawal{Item: item, Reason: text}),
		protocol.ActReAccept:    protocol.ReAccept.Format(protocol.Renewal{Item: protocol.ItemRef{Label: label, Text: text}}),
		protocol.ActValidate:    protocol.Validate.Format(protocol.Validation{Item: item}),
		protocol.ActOpen:        protocol.Ask.Format(protocol.OpenQuestion{Item: protocol.ItemRef{Label: label, Text: text}}),
		protocol.ActResolve:     protocol.Resolve.Format(protocol.Resolution{Item: item}),
		protocol.ActTeachBack:   protocol.TeachBack.Format(protocol.Lesson{Label: label, Learned: text}),
		protocol.ActDisagree:    protocol.Disagree.Format(protocol.Dissent{Label: label, Position: text}),
		protocol.ActSyncCheck:   protocol.CheckSync.Format(protocol.SyncCheck{Claims: []protocol.Claim{{ItemRef: item}, {ItemRef: protocol.ItemRef{Label: "A1", Text: text}}}}),
		protocol.ActSyncResult:  protocol.AnswerSync.Format(protocol.SyncResult{Rows: []protocol.SyncRow{{Claim: protocol.ItemRef{Label: "A1"}, Score: protocol.NewScore(float64(c.IntN(5)) / 4), Evidence: text}}}),
		protocol.ActCheckpoint:  protocol.Sum.Format(protocol.Checkpoint{Summary: text}),
		protocol.ActRatified:    protocol.Ratify.Format(protocol.Verdict{}),
		protocol.ActAmendment:   protocol.Amend.Format(protocol.Verdict{Text: text}),
		protocol.ActRejected:    protocol.RejectSum.Format(protocol.Verdict{Text: text}),
		protocol.ActClose:       protocol.CloseTopic.Format(protocol.Closing{}),
		protocol.ActJoinRequest: protocol.RequestJoin.Format(protocol.JoinRequest{}),
	}
	if m.Body = says[m.Act]; c.IntN(24) == 0 {
		m.Body = "nonsense"
	}
	return m
}
