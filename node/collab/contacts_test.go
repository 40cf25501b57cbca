package collab

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

const testRecord = "0198f2ab-0000-7000-8000-0000000000ff"

// letters writes unsigned messages into a state.
type letters struct {
	*testing.T
	state *fleet.State
	n     uint32
}

func (l *letters) write(channel protocol.ChannelID, from string, at time.Time, to ...string) {
	l.Helper()
	l.n++
	m := protocol.Message{From: from, Type: protocol.TypeText, Act: protocol.ActHey, Timestamp: at, Body: fmt.Sprint("letter ", l.n), Path: protocol.NewPath(channel, at, l.n)}
	for _, name := range to {
		m.To = append(m.To, protocol.Address{Name: name})
	}
	data, err := protocol.Encode(&m)
	if err == nil {
		_, err = l.state.Apply(m.Path, data)
	}
	if err != nil {
		l.Fatal(err)
	}
}

// A session is a day of UTC on which both wrote, in whatever channels (R21). A message that comes
// is added, wherever it stands. Counting in pieces gives the same as counting in one go. It
// prevents: a message that comes late is counted twice, or never.
func TestContacts(t *testing.T) {
	day := func(d, h int) time.Time { return time.Date(2026, 4, d, h, 0, 0, 0, time.UTC) }
	one, two := protocol.DeriveChannel(testRecord, "a", "b"), protocol.DeriveChannel(testRecord, "a", "b", "c")
	l := &letters{T: t, state: fleet.New(keys.Anchor{RecordID: testRecord})}
	c := newContacts()
	want := func(what string, messages int, want ...time.Time) {
		t.Helper()
		fresh := newContacts()
		for done := false; !done; {
			done = fresh.ahead(l.state, 1)
		}
		for how, c := range map[string]*contacts{"as it came": c, "anew, one by one": fresh} {
			for _, of := range [][2]string{{"a", "b"}, {"b", "a"}} {
				sessions, n := c.between(l.state, of[0], of[1])
				if diff := cmp.Diff(topic.Sessions(want), sessions); diff != "" || n != messages {
					t.Errorf("%s, %s: %d messages, want %d; sessions (-want +got):\n%s", what, how, n, messages, diff)
				}
			}
		}
	}
	want("nothing", 0)
	l.write(one, "a", day(1, 9), "b")
	l.write(one, "a", day(2, 9), "b")
	l.write(one, "a", day(2, 23), "b")
	want("one has written", 3)
	l.write(one, "b", day(3, 0), "a")
	want("the other one has, on another day", 4)
	l.write(two, "a", day(3, 1), "b", "c")
	want("in another channel, to others too", 5, day(3, 1))
	l.write(one, "b", day(1, 10), "a")
	want("what came late", 6, day(1, 10), day(3, 1))
	l.write(one, "a", day(3, 2), "b")
	l.write(one, "b", day(1, 9), "a")
	want("late ones and a new one", 8, day(1, 9), day(3, 1))
	l.write(one, "b", time.Date(2026, 4, 5, 1, 0, 0, 0, time.FixedZone("", 2*3600)), "a")
	l.write(one, "a", day(4, 9), "b")
	l.write(one, "a", day(4, 10), protocol.All)
	l.write(one, "c", day(2, 10), "a")
	want("days are those of UTC, and what is to all or of another is no contact", 10, day(1, 9), day(3, 1), day(4, 23))
	l.state = fleet.New(keys.Anchor{RecordID: testRecord})
	want("another state", 0)
	l.write(one, "a", day(1, 9), "b")
	want("which goes on", 1)
	l.state.People.SetHostFile("hosts/x.yaml", protocol.HostState{Host: "x", Agents: []protocol.HostedAgent{{Name: "a"}}})
	want("what nobody signed counts while nobody serves its author", 0)
	l.state.People.DropHostFile("hosts/x.yaml")
	want("and again when nobody does", 1)
}

// A message whose host's key is revoked later is no contact any more, although nothing came to its
// channel. It prevents: trust in what a thief wrote stays until the node starts anew.
func TestContactsOfARevokedKey(t *testing.T) {
	at := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	pair := map[protocol.Name]nkeys.KeyPair{}
	public := map[protocol.Name]string{}
	for _, host := range []protocol.Name{"a", "b"} {
		var err error
		if pair[host], err = nkeys.CreateUser(); err != nil {
			t.Fatal(err)
		}
		if public[host], err = pair[host].PublicKey(); err != nil {
			t.Fatal(err)
		}
	}
	s := fleet.New(keys.Anchor{RecordID: testRecord, Founder: protocol.HostState{Host: "a", Key: public["a"], Humans: []protocol.Name{"nat"}}})
	seq, prev := map[protocol.Name]uint64{}, map[protocol.Name]string{}
	write := func(host protocol.Name, channel protocol.ChannelID, m protocol.Message) {
		t.Helper()
		at = at.Add(time.Second)
		seq[host]++
		m.Type, m.Timestamp, m.Path = protocol.TypeText, at, protocol.NewPath(channel, at, uint32(at.Unix()))
		m.Host, m.Run, m.Seq, m.Prev = host, "0badcafe", seq[host], prev[host]
		data, err := protocol.Sign(&m, testRecord, pair[host])
		if err == nil {
			prev[host] = protocol.Hash(data)
			_, err = s.Apply(m.Path, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for host, human := range map[protocol.Name]protocol.Name{"a": "nat", "b": "eve"} {
		write(host, protocol.SystemChannel(testRecord), protocol.Message{
			From: host.String(), To: []protocol.Address{{Name: host.String()}}, Act: protocol.ActHostJoin,
			Body: protocol.FormatHostWord(protocol.ActHostJoin, protocol.HostState{Host: host, Key: public[host], Humans: []protocol.Name{human}}),
		})
	}
	two := protocol.DeriveChannel(testRecord, "nat", "eve")
	write("a", two, protocol.Message{From: "nat", To: []protocol.Address{{Name: "eve"}}, Act: protocol.ActHey, Body: "Are you there?"})
	write("b", two, protocol.Message{From: "eve", To: []protocol.Address{{Name: "nat"}}, Act: protocol.ActHey, Body: "I am."})
	c := newContacts()
	if sessions, messages := c.between(s, "nat", "eve"); len(sessions) != 1 || messages != 2 {
		t.Fatalf("%d sessions, %d messages", len(sessions), messages)
	}
	drafts, err := s.Decide(fleet.Revoke{By: "a", Human: "nat", Of: protocol.HostKey{Host: "b", Key: public["b"]}}, at)
	if err != nil {
		t.Fatal(err)
	}
	write("a", drafts[0].Channel, drafts[0].Message)
	if sessions, messages := c.between(s, "nat", "eve"); len(sessions) != 0 || messages != 1 {
		t.Errorf("after the revocation there are %d sessions, %d messages", len(sessions), messages)
	}
}
