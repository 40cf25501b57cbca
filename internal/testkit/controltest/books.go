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
	c, err := control.NewChannel.Ask(s.ctx, s.service, r)
	s.must(err)
	return c
}

func testChannels(s *suite) {
	s.inboxAgent("mawjs")
	sprint := s.newChannel(control.NewChannelRequest{Name: "sprint", About: "what we do\n\nthis week"})
	tests := s.newChannel(control.NewChannelRequest{Name: "週次 tests", Parent: "Sprint"})
	if sprint.About != "what we do\n\nthis week" || sprint.CreatedBy != s.human || sprint.CreatedAt.IsZero() || tests.Parent != sprint.ID {
		s.Errorf("made %+v and %+v", sprint, tests)
	}
	m, err := control.Send.Ask(s.ctx, s.service, control.SendRequest{As: s.human, To: []string{"mawjs"}, Channel: "sprint", Body: "begin"})
	s.must(err)
	if m.Channel != sprint.ID || m.ChannelName != "sprint" || m.Direct {
		s.Errorf("sent to %s %q, want %s", m.Channel, m.ChannelName, sprint.ID)
	}
	s.equal("log by name", []string{"begin"}, s.logBodies(control.LogRequest{Channel: "sprint"}))
	shown, err := control.Show.Ask(s.ctx, s.service, control.ShowRequest{Path: "sprint/" + m.Path.Rel()})
	s.must(err)
	s.equal("found below the channel's name", m.Path, shown.Path)
	c, err := control.ShowChannel.Ask(s.ctx, s.service, control.ChannelRequest{Channel: sprint.ID.String()})
	s.must(err)
	if c.Messages != 1 || !c.Last.Equal(m.Timestamp) || len(c.Participants) != 2 || len(c.Children) != 1 || c.Children[0] != tests.ID {
		s.Errorf("described as %+v", c)
	}
	if aside := s.hey("mawjs", "aside"); !aside.Direct || aside.ChannelName != "" {
		s.Errorf("sent to %q, want the channel of the two", aside.ChannelName)
	}
	short, err := control.ShowChannel.Ask(s.ctx, s.service, control.ChannelRequest{Channel: strings.ToUpper(sprint.ID.String()[:8]) + "…"})
	s.must(err)
	s.equal("found as lists show it", sprint.ID, short.ID)
	all, err := control.Channels.Ask(s.ctx, s.service)
	s.must(err)
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
		m, err := control.Send.Ask(s.ctx, s.service, control.SendRequest{As: s.human, To: []string{protocol.All}, Channel: "sprint", Body: "begin"})
		s.must(err)
		return m.To
	}
	s.equal("to all", []string{"mawjs", "volt"}, toAll())
	changed, err := control.ChangeMembers.Ask(s.ctx, s.service, control.MembersRequest{As: s.human, Channel: "sprint", Add: []string{"neo"}, Remove: []string{"mawjs"}})
	s.must(err)
	s.equal("changed", []string{"volt", "neo"}, changed.Members)
	s.equal("to all who are members now", []string{"volt", "neo"}, toAll())
	_, err = control.ChangeMembers.Ask(s.ctx, s.service, control.MembersRequest{As: s.human, Channel: "sprint", Add: []string{"neoo"}})
	s.wantKind("nobody is called that", err, control.KindNotFound)
	_, err = control.ChangeMembers.Ask(s.ctx, s.service, control.MembersRequest{As: s.human, Channel: "sprint", Remove: []string{"mawjs"}})
	s.wantKind("no member any more", err, control.KindNotFound)
	_, err = control.ChangeMembers.Ask(s.ctx, s.service, control.MembersRequest{As: s.human, Channel: "sprint", Add: []string{protocol.All}})
	s.wantKind("all", err, control.KindUsage)
	_, err = control.ChangeMembers.Ask(s.ctx, s.service, control.MembersRequest{As: "stranger", Channel: "sprint", Add: []string{"mawjs"}})
	s.wantKind("by a stranger", err, control.KindRefused)
	direct := s.hey("mawjs", "aside").Channel.String()
	_, err = control.ChangeMembers.Ask(s.ctx, s.service, control.MembersRequest{As: s.human, Channel: direct, Add: []string{"neo"}})
	s.wantKind("of a channel that nobody made", err, control.KindRefused)
	_, err = control.ChangeMembers.Ask(s.ctx, s.service, control.MembersRequest{As: s.human, Channel: "sprint", Remove: []string{"volt", "neo"}})
	s.must(err)
	s.equal("to all without members", []string{protocol.All}, toAll())
}

func testChannelRefusals(s *suite) {
	s.newChannel(control.NewChannelRequest{Name: "sprint"})
	for name, kind := range map[string]control.Kind{
		"": control.KindUsage, "a\x1bb": control.KindUsage, strings.Repeat("x", 300): control.KindUsage, "SPRINT": control.KindRefused,
	} {
		_, err := control.NewChannel.Ask(s.ctx, s.service, control.NewChannelRequest{As: s.human, Name: name})
		s.wantKind("channel "+name, err, kind)
	}
	_, err := control.NewChannel.Ask(s.ctx, s.service, control.NewChannelRequest{As: s.human, Name: "x", Parent: "nowhere"})
	s.wantKind("without its parent", err, control.KindNotFound)
	_, err = control.ShowChannel.Ask(s.ctx, s.service, control.ChannelRequest{Channel: "sprunt"})
	s.wantKind("misspelt", err, control.KindNotFound)
	_, err = control.Send.Ask(s.ctx, s.service, control.SendRequest{As: s.human, To: []string{protocol.All}, Channel: "sprunt", Body: "x"})
	s.wantKind("sent to a misspelt one", err, control.KindNotFound)
}

// subjects are the subjects of the memories that are listed.
func (s *suite) subjects(r control.MemoriesRequest) []string {
	s.Helper()
	all, err := control.Memories.Ask(s.ctx, s.service, r)
	s.must(err)
	return each.Of(all, func(m control.Memory) string { return m.Subject })
}

func testMemories(s *suite) {
	sprint := s.newChannel(control.NewChannelRequest{Name: "sprint"})
	add := func(r control.AddMemoryRequest) control.Memory {
		r.As = s.human
		m, err := control.AddMemory.Ask(s.ctx, s.service, r)
		s.must(err)
		return m
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
	old, err := control.ShowMemory.Ask(s.ctx, s.service, control.MemoryRequest{File: first.File})
	s.must(err)
	s.equal("superseded by", second.File, old.SupersededBy)
	_, err = control.AddMemory.Ask(s.ctx, s.service, control.AddMemoryRequest{As: s.human, Supersedes: first.File, Body: "again"})
	s.wantKind("superseded twice", err, control.KindRefused)
}

func testMemoryRefusals(s *suite) {
	for name, r := range map[string]control.AddMemoryRequest{
		"without a text": {Subject: "x"}, "without a subject": {Body: "x"}, "subject of two lines": {Subject: "a\nb", Body: "x"},
	} {
		r.As = s.human
		_, err := control.AddMemory.Ask(s.ctx, s.service, r)
		s.wantKind(name, err, control.KindUsage)
	}
	_, err := control.AddMemory.Ask(s.ctx, s.service, control.AddMemoryRequest{As: s.human, Subject: "x", Scope: "nowhere", Body: "x"})
	s.wantKind("for no channel", err, control.KindNotFound)
	_, err = control.ShowMemory.Ask(s.ctx, s.service, control.MemoryRequest{File: "../../config.yaml"})
	s.wantKind("no memory", err, control.KindNotFound)
	s.equal("none", []string{}, s.subjects(control.MemoriesRequest{All: true}))
}

func testProfile(s *suite) {
	const file = "---\nname: sage\ndescription: \"Knows.\"\nmetadata:\n  alias: Sage\n---\n\nYou know.\n"
	_, err := control.ActorProfile.Ask(s.ctx, s.service, control.ProfileRequest{Name: "sage"})
	s.wantKind("none yet", err, control.KindNotFound)
	p, err := control.ActorProfile.Ask(s.ctx, s.service, control.ProfileRequest{Name: "sage", File: file})
	s.must(err)
	want := control.Profile{Name: "sage", Path: "local/actors/sage.md", Description: "Knows.", Alias: "Sage", Body: "You know.", Hash: protocol.Hash([]byte(file)), State: control.ProfileAccepted}
	s.equal("written", want, p)
	p, err = control.ActorProfile.Ask(s.ctx, s.service, control.ProfileRequest{Name: "sage"})
	s.must(err)
	s.equal("found", want, p)
	for name, bad := range map[string]string{"no file": "hello", "another name": strings.Replace(file, "sage", "fool", 1)} {
		_, err := control.ActorProfile.Ask(s.ctx, s.service, control.ProfileRequest{Name: "sage", File: bad})
		s.wantKind(name, err, control.KindUsage)
	}
	_, err = control.ActorProfile.Ask(s.ctx, s.service, control.ProfileRequest{Name: "../x", File: file})
	s.wantKind("bad name", err, control.KindUsage)
}

func testUpgrade(s *suite) {
	for _, check := range []bool{true, false} {
		files, err := control.Upgrade.Ask(s.ctx, s.service, control.UpgradeRequest{Check: check})
		s.must(err)
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
