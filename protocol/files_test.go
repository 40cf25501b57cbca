package protocol

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const fileChannel = ChannelID("adfe0356-0f71-49a9-80a0-fb76883cd974")

// The examples are the seed's.
const (
	seedChannel = "---\nname: pi-estimation\nparent: adfe0356-0f71-49a9-80a0-fb76883cd974\ncreated_by: concierge\n" +
		"created_at: 2026-05-24T17:00:00.000Z\n---\n\nSubchannel for the Monte Carlo pi estimation fan-out.\n"
	seedMemory = "---\nfrom: concierge\ntimestamp: 2026-05-23T19:00:00.000Z\nsubject: Steve prefers TypeScript for all new tooling\n" +
		"scope: global\ntags: [preferences, tooling]\nsession: 7f3a2b1c-9e4d-4f8a-b6c2-1d5e8f0a3c7b\n---\n\nStrong durable preference.\n"
	seedActor = "---\nname: precise-generalist\ndescription: \"Precise, curious, direct\"\nmetadata:\n  author: someone\n  domain: general\n" +
		"  type: actor\n  alias: Apex\n---\n\n## System Prompt\nYou are Apex.\n"
	seedMemoryFile = "20260523T190000000Z-b2c3d4e5.md"
)

func TestChannelFile(t *testing.T) {
	c, err := ParseChannelFile([]byte(seedChannel))
	if err != nil {
		t.Fatal(err)
	}
	want := ChannelFile{Name: "pi-estimation", Parent: fileChannel, CreatedBy: "concierge",
		CreatedAt: time.Date(2026, 5, 24, 17, 0, 0, 0, time.UTC), About: "Subchannel for the Monte Carlo pi estimation fan-out."}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if data, err := EncodeChannelFile(c); err != nil || string(data) != seedChannel {
		t.Errorf("written again: %v\n%s", err, data)
	}
	lenient := strings.ReplaceAll("---\nname: yes\ncreated_at: soon\nparent: nobody\nmood: good\n---", "\n", "\r\n")
	if c, err := ParseChannelFile([]byte(lenient)); err != nil || !cmp.Equal(c, ChannelFile{Name: "yes"}) {
		t.Errorf("%+v, %v", c, err)
	}
	for _, bad := range []string{"", "no frontmatter", "---\ncreated_by: x\n---\n", "---\nname: \"a\\nb\"\n---\n", "---\nname: &a x\n---\n"} {
		if c, err := ParseChannelFile([]byte(bad)); err == nil {
			t.Errorf("%q was read as %+v", bad, c)
		}
	}
	for _, c := range fileChannel.Spellings() {
		if id, ok := ParseChannelFilePath(ChannelFilePath(c)); !ok || id != c {
			t.Errorf("path of the file: %s", id)
		}
	}
	for _, path := range []string{"data/channels/CHANNEL.md", "data/channels/x/CHANNEL.md", "hosts/CHANNEL.md",
		ChannelFilePath(fileChannel) + "/x"} {
		if _, ok := ParseChannelFilePath(path); ok {
			t.Errorf("%s is no CHANNEL.md", path)
		}
	}
}

// Members are names, one a line. What is no name is passed over, as a program that does not know
// the field passes over all of it.
func TestChannelMembers(t *testing.T) {
	c := ChannelFile{Name: "sprint", Members: []string{"mawjs", "on", "Dr. No", "李"}}
	data, err := EncodeChannelFile(c)
	want := "---\nname: sprint\nmembers:\n  - mawjs\n  - \"on\"\n  - Dr. No\n  - 李\n---\n"
	if err != nil || string(data) != want {
		t.Errorf("%v\n%s", err, data)
	}
	if got, err := ParseChannelFile(data); err != nil || !cmp.Equal(got, c) {
		t.Errorf("read again: %+v, %v", got, err)
	}
	lenient := "---\nname: x\nmembers: [a, a, all, b@white, white:c, \"\", d]\n---\n"
	if got, err := ParseChannelFile([]byte(lenient)); err != nil || !cmp.Equal(got.Members, []string{"a", "d"}) {
		t.Errorf("%q, %v", got.Members, err)
	}
	for field, want := range map[string][]string{"mawjs": {"mawjs"}, "{a: b}": nil, "[[a]]": nil, "": nil} {
		got, err := ParseChannelFile([]byte("---\nname: x\nmembers: " + field + "\n---\n"))
		if err != nil || !cmp.Equal(got.Members, want) {
			t.Errorf("%s: %q, %v", field, got.Members, err)
		}
	}
	for _, bad := range [][]string{{All}, {"a", "a"}, {"a@b"}, {"a\nb"}, {""}} {
		if data, err := EncodeChannelFile(ChannelFile{Name: "x", Members: bad}); err == nil {
			t.Errorf("%q was written: %s", bad, data)
		}
	}
}

// If members are set, everything else in a CHANNEL.md stays as others wrote it. A peer's own fields
// were lost when the file was written anew.
func TestSetChannelMembersKeepsTheRest(t *testing.T) {
	old := "---\n# by hand\nname: sprint\nmood: [good, \"007\"]\nnested:\n  a: b\ncreated_at: 2026-05-24T17:00:00.000Z\n---\n\nWhat we do.\n\n---\n\nMore.\n"
	with, err := SetChannelMembers([]byte(old), []string{"mawjs", "volt"})
	if want := strings.Replace(old, ".000Z\n---\n", ".000Z\nmembers:\n  - mawjs\n  - volt\n---\n", 1); err != nil || string(with) != want {
		t.Errorf("%v\n%s", err, with)
	}
	if without, err := SetChannelMembers(with, nil); err != nil || string(without) != old {
		t.Errorf("taken out again: %v\n%s", err, without)
	}
	if file, err := SetChannelMembers([]byte("no channel"), nil); err == nil {
		t.Errorf("written into what is none: %s", file)
	}
}

// Members that make a CHANNEL.md too long to be read are refused. Such a file was written, and the
// channel had no name any more.
func TestSetChannelMembersRefusesWhatCannotBeRead(t *testing.T) {
	var members []string
	for i := range maxMembers {
		members = append(members, fmt.Sprintf("%064d", i))
	}
	file, err := SetChannelMembers([]byte("---\nname: sprint\n---\n"), members)
	if err == nil {
		_, err := ParseChannelFile(file)
		t.Errorf("%d bytes are written, and read: %v", len(file), err)
	}
}

func TestMemoryFile(t *testing.T) {
	m, err := ParseMemory(seedMemoryFile, []byte(seedMemory))
	if err != nil {
		t.Fatal(err)
	}
	want := Memory{File: seedMemoryFile, From: "concierge", Timestamp: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC),
		Subject: "Steve prefers TypeScript for all new tooling", Tags: []string{"preferences", "tooling"},
		Session: "7f3a2b1c-9e4d-4f8a-b6c2-1d5e8f0a3c7b", Body: "Strong durable preference."}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if data, err := EncodeMemory(m); err != nil || string(data) != seedMemory {
		t.Errorf("written again: %v\n%s", err, data)
	}
	m.Tags, m.Scope, m.Supersedes = []string{"one"}, fileChannel, seedMemoryFile
	data, err := EncodeMemory(m)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseMemory(seedMemoryFile, data)
	if diff := cmp.Diff(m, again); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{
		"from: a\nsubject: s\ntimestamp: 2026-05-23T19:00:00Z\nscope: 12", // a session or a name is no scope (R10)
		"from: a\nsubject: s\ntimestamp: soon", "from: a\ntimestamp: 2026-05-23T19:00:00Z", "subject: s\ntimestamp: 2026-05-23T19:00:00Z",
	} {
		if m, err := ParseMemory(seedMemoryFile, []byte("---\n"+bad+"\n---\n\ntext\n")); err == nil {
			t.Errorf("%q was read as %+v", bad, m)
		}
	}
}

func TestMemoryFileName(t *testing.T) {
	at := time.Date(2026, 5, 23, 19, 0, 0, 7e6, time.UTC)
	if got := MemoryFileName(at, 0xb2c3d4e5); got != "20260523T190000007Z-b2c3d4e5.md" {
		t.Errorf("name %s", got)
	}
	if file, err := ParseMemoryFileName(strings.TrimSuffix(seedMemoryFile, ".md")); err != nil || file != seedMemoryFile {
		t.Errorf("%s, %v", file, err)
	}
	for _, bad := range []string{"", "x.md", "../" + seedMemoryFile, "20260523T190000000Z-b2c3.md", "20260523T190000000Z-B2C3D4E5.md"} {
		if file, err := ParseMemoryFileName(bad); err == nil {
			t.Errorf("%q was read as %q", bad, file)
		}
	}
}

func TestActorFile(t *testing.T) {
	want := Actor{Name: "precise-generalist", Description: "Precise, curious, direct", Author: "someone", Domain: "general",
		Type: "actor", Alias: "Apex", Body: "## System Prompt\nYou are Apex."}
	// The seed's text lost its indentation: both forms are read.
	for _, text := range []string{seedActor, strings.ReplaceAll(seedActor, "\n  ", "\n")} {
		a, err := ParseActor([]byte(text))
		want.Hash = Hash([]byte(text))
		if diff := cmp.Diff(want, a); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for _, bad := range []string{"", "---\nname: x\n---\n", "---\ndescription: x\n---\n\ntext\n", "---\nname: a@b\n---\n\ntext\n"} {
		if a, err := ParseActor([]byte(bad)); err == nil {
			t.Errorf("%q was read as %+v", bad, a)
		}
	}
	for path, want := range map[string][2]bool{
		"local/actors/a.md": {true, true}, "upstream/actors/a.md": {false, true},
		"local/actors/.gitkeep": {true, false}, "local/actors/x/a.md": {true, false}, "hosts/a.md": {false, false},
	} {
		if local, ok := IsActorPath(path); local != want[0] || ok != want[1] {
			t.Errorf("%s: local %v, actor %v", path, local, ok)
		}
	}
}

// Files that agents are given whole have a bound, for readers and writers alike.
func TestFilesAreBounded(t *testing.T) {
	long := strings.Repeat("x", maxBookBytes)
	if _, err := ParseActor([]byte(seedActor + long)); err == nil {
		t.Error("an actor profile of any length was read")
	}
	if _, err := ParseChannelFile([]byte(seedChannel + long)); err == nil {
		t.Error("a CHANNEL.md of any length was read")
	}
	if _, err := EncodeChannelFile(ChannelFile{Name: "x", About: long}); err == nil || !strings.HasPrefix(err.Error(), "cannot write the channel: it has ") {
		t.Errorf("a CHANNEL.md of any length was written: %v", err)
	}
	m := Memory{From: "nat", Subject: "x", Timestamp: time.Unix(1e9, 0), Body: strings.Repeat("x", maxMemoryBytes)}
	if _, err := EncodeMemory(m); err == nil {
		t.Error("a memory of any length was written")
	}
	if _, err := ParseMemory(seedMemoryFile, []byte(seedMemory+m.Body)); err == nil {
		t.Error("a memory of any length was read")
	}
}

// FuzzFiles checks that whatever stands in a file of the record is read or refused. What was read
// of a channel or memory can be written and read again.
func FuzzFiles(f *testing.F) {
	for _, seed := range []string{seedChannel, seedMemory, seedActor} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = ParseActor(data)
		if c, err := ParseChannelFile(data); err == nil {
			if again, err := EncodeChannelFile(c); err == nil {
				written := c
				written.CreatedAt = c.CreatedAt.Truncate(time.Millisecond)
				if d, err := ParseChannelFile(again); err != nil || !cmp.Equal(written, d) {
					t.Errorf("%+v became %+v, %v", written, d, err)
				}
			}
			c.Members = []string{"mawjs", "volt"}
			if with, err := SetChannelMembers(data, c.Members); err == nil {
				if d, err := ParseChannelFile(with); err != nil || !cmp.Equal(c, d) {
					t.Errorf("with members %+v became %+v, %v\n%s", c, d, err, with)
				}
			}
		}
		if m, err := ParseMemory(seedMemoryFile, data); err == nil {
			if again, err := EncodeMemory(m); err == nil {
				m.Timestamp = m.Timestamp.Truncate(time.Millisecond)
				if n, err := ParseMemory(seedMemoryFile, again); err != nil || !cmp.Equal(m, n) {
					t.Errorf("%+v became %+v, %v", m, n, err)
				}
			}
		}
	})
}
