package controltest

import (
	"strings"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func (s *suite) newChannel(r control.NewChannelRequest) control.Channel {
	s.Helper()
	r.As = s.human
	return ask(s, control.NewChannel, r)
}

func testChannels(s *suite) {
	s.inboxAgent("mawjs")
	sprint := s.newChannel(control.NewChannelRequest{Name: "sprint", About: "what we do\n\nthis week"})
	tests := s.newChannel(control.NewChannelRequest{Name: "週次 tests", Parent: "Sprint"})
	if sprint.About != "what we do\n\nthis week" || sprint.CreatedBy != s.human || sprint.CreatedAt.IsZero() || tests.Parent != sprint.ID {
		s.Errorf("made %+v and %+v", sprint, tests)
	}
	m := ask(s, control.Send, control.SendRequest{As: s.human, To: []string{"mawjs"}, Channel: "sprint", Body: "begin"})
	if m.Channel != sprint.ID || m.ChannelName != "sprint" || m.Direct {
		s.Errorf("sent to %s %q, want %s", m.Channel, m.ChannelName, sprint.ID)
	}
	s.equal("log by name", []string{"begin"}, s.logBodies(control.LogRequest{Channel: "sprint"}))
	shown := ask(s, control.Show, control.ShowRequest{Path: "sprint/" + m.Path.Rel()})
	s.equal("found below the channel's name", m.Path, shown.Path)
	c := ask(s, control.ShowChannel, control.ChannelRequest{Channel: sprint.ID.String()})
	if c.Messages != 1 || !c.Last.Equal(m.Timestamp) || len(c.Participants) != 2 || len(c.Children) != 1 || c.Children[0] != tests.ID {
		s.Errorf("described as %+v", c)
	}
	if aside := s.hey("mawjs", "aside"); !aside.Direct || aside.ChannelName != "" {
		s.Errorf("sent to %q, want the channel of the two", aside.ChannelName)
	}
	short := ask(s, control.ShowChannel, control.ChannelRequest{Channel: strings.ToUpper(sprint.ID.String()[:8]) + "…"})
	s.equal("found as lists show it", sprint.ID, short.ID)
	all := ask(s, control.Channels.Verb, control.None{})
	names := each.Of(all, func(c control.Channel) string { return c.Name })
	s.equal("channels: named ones by name, then the others", []string{"sprint", "週次 tests", ""}, names)
}

// testMembers: if a channel has members, a message to all in it names each of them. If it has none,
// the message goes to everybody again.
func testMembers(s *suite) {
	s.inboxAgent("mawjs")
	s.inboxAgent("volt")
	s.inboxAgent("neo")
	sprint := s.newChannel(control.NewChannelRequest{Name: "sprint", Members: []string{"mawjs", "volt", "mawjs"}})
	s.equal("made with members", []string{"mawjs", "volt"}, sprint.Members)
	toAll := func() []string {
		m := ask(s, control.Send, control.SendRequest{As: s.human, To: []string{protocol.All}, Channel: "sprint", Body: "begin"})
		return m.To
	}
	s.equal("to all", []string{"mawjs", "volt"}, toAll())
	changed := ask(s, control.ChangeMembers, control.MembersRequest{As: s.human, Channel: "sprint", Add: []string{"neo"}, Remove: []string{"mawjs"}})
	s.equal("changed", []string{"volt", "neo"}, changed.Members)
	s.equal("to all who are members now", []string{"volt", "neo"}, toAll())
	refused(s, "nobody is called that", control.KindNotFound, control.ChangeMembers, control.MembersRequest{As: s.human, Channel: "sprint", Add: []string{"neoo"}})
	refused(s, "no member any more", control.KindNotFound, control.ChangeMembers, control.MembersRequest{As: s.human, Channel: "sprint", Remove: []string{"mawjs"}})
	refused(s, "all", control.KindUsage, control.ChangeMembers, control.MembersRequest{As: s.human, Channel: "sprint", Add: []string{protocol.All}})
	refused(s, "by a stranger", control.KindRefused, control.ChangeMembers, control.MembersRequest{As: "stranger", Channel: "sprint", Add: []string{"mawjs"}})
	direct := s.hey("mawjs", "aside").Channel.String()
	refused(s, "of a channel that nobody made", control.KindRefused, control.ChangeMembers, control.MembersRequest{As: s.human, Channel: direct, Add: []string{"neo"}})
	ask(s, control.ChangeMembers, control.MembersRequest{As: s.human, Channel: "sprint", Remove: []string{"volt", "neo"}})
	s.equal("to all without members", []string{protocol.All}, toAll())
}

func testChannelRefusals(s *suite) {
	s.newChannel(control.NewChannelRequest{Name: "sprint"})
	for name, kind := range map[string]control.Kind{
		"": control.KindUsage, "a\x1bb": control.KindUsage, strings.Repeat("x", 300): control.KindUsage, "SPRINT": control.KindRefused,
	} {
		refused(s, "channel "+name, kind, control.NewChannel, control.NewChannelRequest{As: s.human, Name: name})
	}
	refused(s, "without its parent", control.KindNotFound, control.NewChannel, control.NewChannelRequest{As: s.human, Name: "x", Parent: "nowhere"})
	refused(s, "misspelt", control.KindNotFound, control.ShowChannel, control.ChannelRequest{Channel: "sprunt"})
	refused(s, "sent to a misspelt one", control.KindNotFound, control.Send, control.SendRequest{As: s.human, To: []string{protocol.All}, Channel: "sprunt", Body: "x"})
}

// subjects are the subjects of the memories that are listed.
func (s *suite) subjects(r control.MemoriesRequest) []string {
	s.Helper()
	all := ask(s, control.Memories, r)
	return each.Of(all, func(m control.Memory) string { return m.Subject })
}

func testMemories(s *suite) {
	sprint := s.newChannel(control.NewChannelRequest{Name: "sprint"})
	add := func(r control.AddMemoryRequest) control.Memory {
		r.As = s.human
		return ask(s, control.AddMemory, r)
	}
	first := add(control.AddMemoryRequest{Subject: "language", Tags: []string{"tools"}, Body: "Go\n---\nand nothing else"})
	add(control.AddMemoryRequest{Subject: "deadline", Scope: "sprint", Body: "Friday"})
	if first.Scope != "global" || first.From != s.human || first.Body != "Go\n---\nand nothing else" {
		s.Errorf("wrote %+v", first)
	}
	s.equal("all", []string{"language", "deadline"}, s.subjects(control.MemoriesRequest{}))
	s.equal("global", []string{"language"}, s.subjects(control.MemoriesRequest{Scope: "global"}))
	s.equal("sprint", []string{"deadline"}, s.subjects(control.MemoriesRequest{Scope: sprint.ID.String()}))
	s.equal("tag", []string{"language"}, s.subjects(control.MemoriesRequest{Tags: []string{"tools"}}))
	second := add(control.AddMemoryRequest{Supersedes: first.File, Body: "Go and SQL"})
	s.equal("inherited", []string{"language", "tools", "global"}, []string{second.Subject, second.Tags[0], second.Scope})
	s.equal("what holds", []string{"deadline", "language"}, s.subjects(control.MemoriesRequest{}))
	s.equal("with what held", []string{"language", "deadline", "language"}, s.subjects(control.MemoriesRequest{All: true}))
	old := ask(s, control.ShowMemory, control.MemoryRequest{File: first.File})
	s.equal("superseded by", second.File, old.SupersededBy)
	refused(s, "superseded twice", control.KindRefused, control.AddMemory, control.AddMemoryRequest{As: s.human, Supersedes: first.File, Body: "again"})
}

func testMemoryRefusals(s *suite) {
	for name, r := range map[string]control.AddMemoryRequest{
		"without a text": {Subject: "x"}, "without a subject": {Body: "x"}, "subject of two lines": {Subject: "a\nb", Body: "x"},
	} {
		r.As = s.human
		refused(s, name, control.KindUsage, control.AddMemory, r)
	}
	refused(s, "for no channel", control.KindNotFound, control.AddMemory, control.AddMemoryRequest{As: s.human, Subject: "x", Scope: "nowhere", Body: "x"})
	refused(s, "no memory", control.KindNotFound, control.ShowMemory, control.MemoryRequest{File: "../../config.yaml"})
	s.equal("none", []string{}, s.subjects(control.MemoriesRequest{All: true}))
}

func testProfile(s *suite) {
	const file = "---\nname: sage\ndescription: \"Knows.\"\nmetadata:\n  alias: Sage\n---\n\nYou know.\n"
	refused(s, "none yet", control.KindNotFound, control.ActorProfile, control.ProfileRequest{Name: "sage"})
	p := ask(s, control.ActorProfile, control.ProfileRequest{Name: "sage", File: file})
	want := control.Profile{Name: "sage", Path: "local/actors/sage.md", Description: "Knows.", Alias: "Sage", Body: "You know.", Hash: protocol.Hash([]byte(file)), State: control.ProfileAccepted}
	s.equal("written", want, p)
	p = ask(s, control.ActorProfile, control.ProfileRequest{Name: "sage"})
	s.equal("found", want, p)
	for name, bad := range map[string]string{"no file": "hello", "another name": strings.Replace(file, "sage", "fool", 1)} {
		refused(s, name, control.KindUsage, control.ActorProfile, control.ProfileRequest{Name: "sage", File: bad})
	}
	refused(s, "bad name", control.KindUsage, control.ActorProfile, control.ProfileRequest{Name: "../x", File: file})
}

func testUpgrade(s *suite) {
	for _, check := range []bool{true, false} {
		files := ask(s, control.Upgrade, control.UpgradeRequest{Check: check})
		if len(files) < 3 {
			s.Errorf("only %d files come with the program", len(files))
		}
		for _, f := range files {
			if f.State != "current" {
				s.Errorf("%s is %s in a new record", f.Path, f.State)
			}
		}
	}
}
