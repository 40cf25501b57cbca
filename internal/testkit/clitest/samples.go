package clitest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// ServedHere are agents with long commands and folders.
func ServedHere() []control.Agent {
	return []control.Agent{
		{
			Name: "claude", Door: "exec", Command: "claude --print --output-format text --permission-mode plan", Input: "prompt", Preset: "claude",
			Dir: "/home/nat/projects/a-project-of-some-length", AgentWork: control.AgentWork{Queued: 2, Running: 1},
		},
		{Name: "mawjs", Door: "inbox", AgentWork: control.AgentWork{Unread: 3, Paused: true}, Dir: "/home/nat"},
	}
}

func channelID(t *testing.T, text string) protocol.ChannelID {
	t.Helper()
	id, err := protocol.ParseChannelID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// SomeBooks gives a run channels and memories, some of them wide or hostile.
func (r *Run) SomeBooks(t *testing.T) {
	t.Helper()
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	sprint := channelID(t, "adfe0356-0f71-49a9-80a0-fb76883cd974")
	notes := channelID(t, "0dfe0356-0f71-49a9-80a0-fb76883cd974")
	direct := channelID(t, "1dfe0356-0f71-49a9-80a0-fb76883cd974")
	channels := []control.Channel{
		{
			ID: sprint, Name: "sprint", CreatedBy: "nat", CreatedAt: at, Parent: notes, About: "What we do\nthis \x1b[2Jweek", Messages: 12345,
			Last: at, Participants: []string{"mawjs", "nat", "volt"}, Children: []protocol.ChannelID{direct},
		},
		{ID: notes, Name: "議事録 and release notes", Messages: 1, Last: at},
		{ID: direct, Participants: []string{"a-reviewer-of-many-things", "nat"}},
	}
	On(r, control.Channels.Verb, channels)
	r.By(control.ShowChannel.By(func(_ context.Context, q control.ChannelRequest) (control.Channel, error) {
		return channels[max(0, slices.IndexFunc(channels, func(c control.Channel) bool { return c.ID.String() == q.Channel }))], nil
	}))
	memories := []control.Memory{
		{
			File: "20260523T190100000Z-b2c3d4e5.md", From: "nat", Via: "parley", Timestamp: at, Subject: "language for tools and for all else that we build here",
			Scope: "global", Tags: []string{"tools", "go"}, Session: "7f3a2b1c", Supersedes: "20260523T190000000Z-a2c3d4e5.md", Body: "Go,\n\x1bnothing else",
		},
		{
			File: "20260523T190200000Z-c2c3d4e5.md", From: "a-reviewer-of-many-things", Timestamp: at, Subject: "dead\x1bline",
			Scope: notes.String(), SupersededBy: "20260523T190300000Z-d2c3d4e5.md",
		},
	}
	On(r, control.Memories, memories)
	On(r, control.ShowMemory, memories[0])
	On(r, control.AddMemory, memories[0])
	On(r, control.NewChannel, channels[0])
	On(r, control.Upgrade, []control.UpgradedFile{{Path: "upstream/CROSSTALK.md", State: "current"}, {Path: "upstream/JITTER.md", State: "changed"}})
}

// MessagePath is the path of [Message].
const MessagePath = "adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/190100000Z-b2c3d4e5.md"

// Message is a message from mawjs on white to nat.
func Message(body string) control.Message {
	path, err := protocol.ParsePath(MessagePath)
	if err != nil {
		panic(err)
	}
	return control.Message{
		Path: path, Channel: path.Channel(), Direct: true, From: "mawjs", To: []string{"nat"}, Timestamp: path.Time(),
		Type: protocol.TypeText, Act: protocol.ActHey, Host: "white", Run: "0badcafe", Seq: 7,
		Stage: protocol.StageStored, Signature: protocol.SignatureValid, Body: body,
	}
}

// ToThree is a message from nat to three participants. One of them answered it, and one read it.
func ToThree() control.Message {
	m := Message("who takes the deadline on friday?\nand the notes?")
	m.From, m.To, m.Stage = "nat", []string{"mawjs", "volt", "critic"}, protocol.StageAnswered
	m.Addressees = []control.Addressee{{Name: "mawjs", Stage: protocol.StageAnswered}, {Name: "volt", Stage: protocol.StageRead}, {Name: "critic"}}
	return m
}

// SomeThread is a conversation that branches.
func SomeThread() []control.ThreadMessage {
	at := func(depth int, from, body string, stage protocol.Stage, act protocol.Act) control.ThreadMessage {
		m := Message(body)
		m.From, m.Stage, m.Act, m.Re = from, stage, act, Message("").Path.Rel()
		return control.ThreadMessage{Message: m, Depth: depth}
	}
	return []control.ThreadMessage{
		{Message: ToThree()},
		at(1, "mawjs", "I do", protocol.StageRead, protocol.ActReply),
		at(2, "nat", "thanks", protocol.StageAnswered, protocol.ActReply),
		at(3, "a-reviewer-of-many-things", "世界 "+strings.Repeat("long ", 20), protocol.StageRecorded, protocol.ActReply),
		at(1, "volt", "e\x1b[2J", protocol.StagePushed, "sync-check"),
	}
}

// SomeHosts are this host, a live one, and one that is away.
func SomeHosts() []control.Host {
	at := Message("").Timestamp
	last := &control.LastMessage{Path: Message("").Path, Timestamp: at, Run: "0badcafe", Seq: 7}
	return []control.Host{{
		Alias: "black", State: control.HostAway, LastSeen: at.Add(-time.Hour), Version: "0.0.9", Key: "UBLACK",
		Fingerprint: "SHA256:" + strings.Repeat("b", 43), LastMessage: last,
	}, {
		Alias: "oracle-world", State: control.HostHere, Since: at, LastSeen: at, Version: "0.1.0", Key: "UORACLE",
		Fingerprint: "SHA256:" + strings.Repeat("o", 43), Humans: []protocol.Name{"nat"}, LastMessage: last,
	}, {
		Alias: "white", State: control.HostLive, Since: at, LastSeen: at, Version: "0.1.\x1b0", Key: "UWHITE", Hostname: "w\x1bhite",
		Fingerprint: "SHA256:" + strings.Repeat("w", 43), Addresses: []string{"192.0.2.7:4223", "white.example:4223"},
		Humans: []protocol.Name{"eve"}, Agents: []protocol.Name{"mawjs", "volt"}, LastMessage: last,
	}}
}

// SomeFinds are messages in which the word deadline was found far from their beginning, and a
// memory about it.
func SomeFinds(messages ...control.Message) control.SearchResult {
	around := []control.Fragment{
		{Text: "… which took longer than we thought, so the "}, {Text: "deadline", Hit: true}, {Text: " is 金曜日 of next week and the "},
		{Text: "deadline", Hit: true}, {Text: " of the tests \x1b[31mis Monday …"},
	}
	r := control.SearchResult{Total: len(messages) + 2, MemoriesTotal: 1}
	for _, m := range messages {
		r.Hits = append(r.Hits, control.MessageHit{Message: m, Excerpt: around})
	}
	r.Memories = []control.MemoryHit{{
		Memory: control.Memory{
			File: "20260523T190100000Z-c2c3d4e5.md", From: "nat", Timestamp: Message("").Timestamp, Subject: "when", Scope: "global", Body: "the deadline is firm",
		},
		Excerpt: []control.Fragment{{Text: "when: the "}, {Text: "deadline", Hit: true}, {Text: " is firm"}},
	}}
	return r
}

// MailOfStrangers are messages that would break a careless table.
func MailOfStrangers() []control.Message {
	first := Message("hello there\nsecond line")
	wide := Message("สวัสดี 世界 " + strings.Repeat("long ", 40))
	wide.From, wide.Host, wide.Act, wide.Signature = "名前", "", "sync-check", protocol.SignatureUnverified
	evil := Message("\x1b[2J\u202egone")
	evil.From = "e\x1bvil"
	return []control.Message{first, wide, evil}
}

// SomeStatus is a node with trouble of many kinds.
func SomeStatus() control.Status {
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	return control.Status{
		Version: "0.1.0", API: 1, Fleet: "lab", Host: "here", Human: "nat", Home: "/home/nat/parley", PID: 42, Since: at,
		Record: control.RecordStatus{ID: "0123456789abcdef", Messages: 1, Remote: "/srv/record.git", RemoteError: "no route\n", Unrecorded: 3, Unpushed: 4, LastPush: at,
			Trouble: &control.Trouble{Kind: "unreachable", Text: "no route\n", Since: at, Next: at.Add(time.Minute), Waiting: 7, Advice: "wait"}},
		Bus: control.BusStatus{Clients: "127.0.0.1:4222", Links: "127.0.0.1:4223", Peers: []control.LinkStatus{
			{Peer: "white", Up: true, RTT: 1234567}, {Peer: "blue", Problem: "refused"},
		}},
		Hosts: []control.HostStatus{
			{Alias: "here", State: control.HostHere, Here: true, Live: true, Since: at, Version: "0.1.0", Agents: []string{"calc"}},
			{Alias: "white", State: control.HostLive, Live: true, Agents: []string{"mawjs", "volt"}},
		},
		Agents:  []control.Agent{{Name: "calc", Door: "exec", Command: "bc -l", Dir: "/work", AgentWork: control.AgentWork{Queued: 2, Running: 1}}},
		Refused: 5, Warned: []string{"a clock is wrong"},
		Flags: []control.Flag{{Kind: "lost-join", Count: 1}, {Kind: "replay", Count: 2}},
	}
}

// SomeFleet has a host of every sort.
func SomeFleet() control.FleetStatus {
	hosts := SomeHosts()
	black, here, white := hosts[0], hosts[1], hosts[2]
	white.Address, white.RTT, white.Version = white.Addresses[0], 312999, "0.1.0"
	silent, old, git := white, white, black
	silent.Alias, old.Alias, git.Alias = "silent", "old", "wanderer"
	silent.RTT, old.Clock, old.Version, git.State = 0, control.Seconds(-36*time.Hour), "0.0.1", control.HostGit
	ahead := control.FleetHost{Host: white, Answered: true, Messages: 9, Behind: 1, Ahead: 2, Remote: "unreachable", Trouble: "no\x1b route", Unpushed: 3,
		Links: []control.LinkStatus{{Peer: "oracle-world", Up: true, RTT: 1}, {Peer: "old-0123", Host: "old", HalfUp: true, Problem: "connected, but deaf"}, {Peer: "black", Out: true}}}
	ahead.Clock = control.Seconds(90 * time.Second)
	return control.FleetStatus{Fleet: "lab", Asked: "oracle-world", Hosts: []control.FleetHost{
		{Host: black},
		{Host: old, Answered: true, Problem: `it says "this host does not know the question"`},
		{Host: here, Answered: true, Messages: 8},
		{Host: silent, Problem: "silent did not answer within 2s"},
		{Host: git},
		ahead,
	}}
}
