package fleet

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/protocol"
)

// memoryAt makes a memory that was written at a minute, with the hex digits of
// its file's name.
func memoryAt(minute int, hex, supersedes string) protocol.Memory {
	at := time.Date(2026, 5, 23, 19, minute, 0, 0, time.UTC)
	stamp, _, _ := strings.Cut(protocol.MemoryFileName(at, 0), "-")
	m := protocol.Memory{File: stamp + "-" + hex + ".md", From: "nat", Timestamp: at, Subject: hex, Body: "text"}
	if supersedes != "" {
		m.Supersedes = supersedes
	}
	return m
}

func held(s *State, f MemoryFilter) []string {
	names := []string{}
	for _, m := range s.Memories(f) {
		names = append(names, m.Subject)
	}
	return names
}

// R10, in every order of arrival: a file that is superseded is dropped, of two
// that supersede the same the newer holds, then the greater name; chains drop all
// but the last.
func TestMemoriesThatHold(t *testing.T) {
	first := memoryAt(0, "aaaaaaaa", "")
	older, newer := memoryAt(1, "bbbbbbbb", first.File), memoryAt(2, "cccccccc", first.File)
	tied, greater := memoryAt(3, "dddddddd", newer.File), memoryAt(3, "eeeeeeee", newer.File)
	other := memoryAt(4, "ffffffff", "")
	all := []protocol.Memory{first, older, newer, tied, greater, other}
	for _, order := range permutations(len(all)) {
		s := New(Anchor{RecordID: testRecord})
		for _, i := range order {
			s.SetMemory(all[i])
		}
		if diff := cmp.Diff([]string{"eeeeeeee", "ffffffff"}, held(s, MemoryFilter{})); diff != "" {
			t.Fatalf("order %v (-want +got):\n%s", order, diff)
		}
		if got := len(s.Memories(MemoryFilter{All: true})); got != len(all) {
			t.Fatalf("%d memories in all, want %d", got, len(all))
		}
		for loser, winner := range map[string]string{first.File: newer.File, older.File: newer.File, newer.File: greater.File, tied.File: greater.File, other.File: ""} {
			if m, _ := s.Memory(loser); m.SupersededBy != winner {
				t.Fatalf("%s is superseded by %q, want %q", loser, m.SupersededBy, winner)
			}
		}
	}
}

func TestMemoryFilters(t *testing.T) {
	s := New(Anchor{RecordID: testRecord})
	s.SetChannelFile(storyChannel("sprint"), protocol.ChannelFile{Name: "sprint"})
	set := func(minute int, hex string, change func(*protocol.Memory)) {
		m := memoryAt(minute, hex, "")
		change(&m)
		s.SetMemory(m)
	}
	set(1, "aaaaaaaa", func(m *protocol.Memory) { m.Tags = []string{"Tools", "go"} })
	set(2, "bbbbbbbb", func(m *protocol.Memory) { m.Scope, m.From = storyChannel("sprint"), "mawjs" })
	set(3, "cccccccc", func(m *protocol.Memory) { m.Scope = storyChannel("nowhere") })
	for name, test := range map[string]struct {
		filter MemoryFilter
		want   []string
	}{
		"no filter leaves out scopes that do not exist": {MemoryFilter{}, []string{"aaaaaaaa", "bbbbbbbb"}},
		"global":  {MemoryFilter{Scopes: []protocol.ChannelID{""}}, []string{"aaaaaaaa"}},
		"channel": {MemoryFilter{Scopes: []protocol.ChannelID{storyChannel("sprint")}}, []string{"bbbbbbbb"}},
		"tags":    {MemoryFilter{Tags: []string{"tools", "GO"}}, []string{"aaaaaaaa"}},
		"no tag":  {MemoryFilter{Tags: []string{"tools", "rust"}}, []string{}},
		"subject": {MemoryFilter{Subject: "BBB"}, []string{"bbbbbbbb"}},
		"from":    {MemoryFilter{From: "mawjs"}, []string{"bbbbbbbb"}},
	} {
		if diff := cmp.Diff(test.want, held(s, test.filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestRemembered(t *testing.T) {
	s := New(Anchor{RecordID: testRecord})
	old := memoryAt(1, "aaaaaaaa", "")
	old.Tags, old.Subject = []string{"tools"}, "which tools"
	s.SetMemory(old)
	s.SetMemory(memoryAt(2, "bbbbbbbb", "20200101T000000000Z-cccccccc.md"))
	me, now := Who{Name: "nat", Host: "a"}, time.Date(2026, 5, 23, 20, 0, 0, 0, time.UTC)
	got, err := s.Remembered(Remember{As: me, Supersedes: "aaaaaaaa", Body: "hammer\n"}, now)
	want := protocol.Memory{From: "nat", Timestamp: now, Subject: "which tools", Tags: []string{"tools"}, Supersedes: old.File, Body: "hammer"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	newer := memoryAt(3, "dddddddd", old.File)
	s.SetMemory(newer)
	for reason, c := range map[string]Remember{
		"is empty":                         {Subject: "x", Body: " \n"},
		"its subject: it is empty":         {Body: "x"},
		"no channel is called":             {Subject: "x", Body: "x", Scope: "sprint"},
		"there is no channel":              {Subject: "x", Body: "x", Scope: "7f3a2b1c-9e4d-4f8a-b6c2-1d5e8f0a3c7b"}, // such as a session's id
		"there is no memory":               {Subject: "x", Body: "x", Supersedes: "0badcafe"},
		"superseded by " + newer.File:      {Subject: "x", Body: "x", Supersedes: old.File},
		"tag \"a\\nb\"":                    {Subject: "x", Body: "x", Tags: []string{"a\nb"}},
		"its subject: it contains a contr": {Subject: "a\x1bb", Body: "x"},
	} {
		c.As = me
		var refusal *Refusal
		if _, err := s.Remembered(c, now); !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, reason) {
			t.Errorf("want a refusal with %q, got %v", reason, err)
		}
	}
}

func TestFindChannelAndFound(t *testing.T) {
	s := New(Anchor{RecordID: testRecord})
	for _, name := range []string{"sprint", "tests", "Twin", "twin "} {
		s.SetChannelFile(storyChannel(name), protocol.ChannelFile{Name: strings.TrimSpace(name)})
	}
	if id, err := s.FindChannel("SPRINT"); err != nil || id != storyChannel("sprint") {
		t.Errorf("SPRINT is %s, %v", id, err)
	}
	if id, err := s.FindChannel(strings.ToUpper(storyChannel("tests").String())); err != nil || id != storyChannel("tests") {
		t.Errorf("by id: %s, %v", id, err)
	}
	for text, want := range map[string]Refusal{
		"twin":                           {Kind: Senseless, Reason: `2 channels are called "twin"`},
		"sprunt":                         {Kind: Unknown, Reason: "no channel is called", Hint: "did you mean sprint?"},
		storyChannel("nowhere").String(): {Kind: Unknown, Reason: "there is no channel"},
	} {
		var got *Refusal
		_, err := s.FindChannel(text)
		if !errors.As(err, &got) || got.Kind != want.Kind || !strings.Contains(got.Reason, want.Reason) || !strings.Contains(got.Hint, want.Hint) {
			t.Errorf("%s: %#v, want %#v", text, err, want)
		}
	}
	now := time.Unix(1e9, 0)
	file, err := s.Found(NewChannel{As: Who{Name: "nat"}, Name: " 週次 ", Parent: storyChannel("sprint"), About: "weekly\n"}, now)
	want := protocol.ChannelFile{Name: "週次", CreatedBy: "nat", CreatedAt: now, Parent: storyChannel("sprint"), About: "weekly"}
	if diff := cmp.Diff(want, file); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, name := range []string{"", "Sprint", "a\nb", storyChannel("x").String(), strings.Repeat("x", 256)} {
		if _, err := s.Found(NewChannel{Name: name}, now); err == nil {
			t.Errorf("a channel called %q was let through", name)
		}
	}
}

// Purposes end where CHANNEL.md files name each other as parents.
func TestPurposesOfACircle(t *testing.T) {
	s := New(Anchor{RecordID: testRecord})
	s.SetChannelFile(storyChannel("a"), protocol.ChannelFile{Name: "a", Parent: storyChannel("b")})
	s.SetChannelFile(storyChannel("b"), protocol.ChannelFile{Name: "b", Parent: storyChannel("a")})
	var names []string
	for _, f := range s.Purposes(storyChannel("a")) {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("purposes of %v", names)
	}
}

// The fleet's own profile stands before the program's; two of one folder with the
// same name are a clash that names both.
func TestProfiles(t *testing.T) {
	s := New(Anchor{RecordID: testRecord})
	s.SetActor("upstream/actors/guide.md", protocol.Actor{Name: "guide", Body: "program's"})
	s.SetActor("local/actors/guide.md", protocol.Actor{Name: "guide", Body: "fleet's"})
	if a, path, ok := s.Profile("guide"); !ok || a.Body != "fleet's" || path != "local/actors/guide.md" {
		t.Errorf("profile %+v at %s", a, path)
	}
	if err := s.ProfileClash(); err != nil {
		t.Error(err)
	}
	s.SetActor("local/actors/other.md", protocol.Actor{Name: "guide", Body: "again"})
	err := s.ProfileClash()
	if err == nil || !strings.Contains(err.Error(), "local/actors/guide.md") || !strings.Contains(err.Error(), "local/actors/other.md") {
		t.Errorf("clash: %v", err)
	}
	s.DropActor("local/actors/guide.md")
	s.DropActor("local/actors/other.md")
	if a, _, _ := s.Profile("guide"); a.Body != "program's" || s.ProfileClash() != nil {
		t.Errorf("profile %+v", a)
	}
}
