package shelf

import (
	"crypto/sha256"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// nobody is a record without messages, of a fleet without people.
type nobody struct{}

func (nobody) InUse() iter.Seq[protocol.ChannelID] { return func(func(protocol.ChannelID) bool) {} }

func (nobody) HasAny(protocol.ChannelID) bool { return false }

func (nobody) Said(protocol.ChannelID) (int, []string, time.Time) { return 0, nil, time.Time{} }

func (nobody) Known(string) bool { return false }

func (nobody) Suggest(string) string { return "" }

func emptyChannels() *Channels { return NewChannels("a record", nobody{}, nobody{}) }

// channelOf returns the channel to which tests give that name.
func channelOf(name string) protocol.ChannelID {
	sum := sha256.Sum256([]byte(name))
	return protocol.NewChannelID([16]byte(sum[:16]))
}

// permutations returns all orders of n things.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// memoryAt makes a memory that was written at `minute`. The name of its file has the digits `hex`.
func memoryAt(minute int, hex, supersedes string) protocol.Memory {
	at := time.Date(2026, 5, 23, 19, minute, 0, 0, time.UTC)
	stamp, _, _ := strings.Cut(protocol.MemoryFileName(at, 0), "-")
	m := protocol.Memory{File: stamp + "-" + hex + ".md", From: "nat", Timestamp: at, Subject: hex, Body: "text"}
	if supersedes != "" {
		m.Supersedes = supersedes
	}
	return m
}

func held(s *Memories, f MemoryFilter) []string {
	names := []string{}
	for _, m := range s.List(f) {
		names = append(names, m.Subject)
	}
	return names
}

// R10, in every order of arrival: a superseded file is dropped. Of two files that supersede the
// same one, the newer one holds, and if they are equally old, the one with the greater name. In a
// chain only the last file holds.
func TestMemoriesThatHold(t *testing.T) {
	first := memoryAt(0, "aaaaaaaa", "")
	older, newer := memoryAt(1, "bbbbbbbb", first.File), memoryAt(2, "cccccccc", first.File)
	tied, greater := memoryAt(3, "dddddddd", newer.File), memoryAt(3, "eeeeeeee", newer.File)
	other := memoryAt(4, "ffffffff", "")
	all := []protocol.Memory{first, older, newer, tied, greater, other}
	for _, order := range permutations(len(all)) {
		s := NewMemories(emptyChannels(), func(protocol.Memory) (string, bool) { return "", false })
		for _, i := range order {
			s.Set(all[i])
		}
		if diff := cmp.Diff([]string{"eeeeeeee", "ffffffff"}, held(s, MemoryFilter{})); diff != "" {
			t.Fatalf("order %v (-want +got):\n%s", order, diff)
		}
		if got := len(s.List(MemoryFilter{All: true})); got != len(all) {
			t.Fatalf("%d memories in all, want %d", got, len(all))
		}
		for loser, winner := range map[string]string{first.File: newer.File, older.File: newer.File, newer.File: greater.File, tied.File: greater.File, other.File: ""} {
			if m, _ := s.In(loser); m.SupersededBy != winner {
				t.Fatalf("%s is superseded by %q, want %q", loser, m.SupersededBy, winner)
			}
		}
	}
}

func TestMemoryFilters(t *testing.T) {
	s := NewMemories(emptyChannels(), func(protocol.Memory) (string, bool) { return "", false })
	s.channels.Set(channelOf("sprint"), protocol.ChannelFile{Name: "sprint"})
	set := func(minute int, hex string, change func(*protocol.Memory)) {
		m := memoryAt(minute, hex, "")
		change(&m)
		s.Set(m)
	}
	set(1, "aaaaaaaa", func(m *protocol.Memory) { m.Tags = []string{"Tools", "go"} })
	set(2, "bbbbbbbb", func(m *protocol.Memory) { m.Scope, m.From = channelOf("sprint"), "mawjs" })
	set(3, "cccccccc", func(m *protocol.Memory) { m.Scope = channelOf("nowhere") })
	for name, test := range map[string]struct {
		filter MemoryFilter
		want   []string
	}{
		"no filter leaves out scopes that do not exist": {MemoryFilter{}, []string{"aaaaaaaa", "bbbbbbbb"}},
		"global":  {MemoryFilter{Scopes: []protocol.ChannelID{""}}, []string{"aaaaaaaa"}},
		"channel": {MemoryFilter{Scopes: []protocol.ChannelID{channelOf("sprint")}}, []string{"bbbbbbbb"}},
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
	s := NewMemories(emptyChannels(), func(protocol.Memory) (string, bool) { return "", false })
	old := memoryAt(1, "aaaaaaaa", "")
	old.Tags, old.Subject = []string{"tools"}, "which tools"
	s.Set(old)
	s.Set(memoryAt(2, "bbbbbbbb", "20200101T000000000Z-cccccccc.md"))
	now := time.Date(2026, 5, 23, 20, 0, 0, 0, time.UTC)
	got, err := s.Remembered(Remember{From: "nat", Supersedes: "aaaaaaaa", Body: "hammer\n"}, now)
	want := protocol.Memory{From: "nat", Timestamp: now, Subject: "which tools", Tags: []string{"tools"}, Supersedes: old.File, Body: "hammer"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	newer := memoryAt(3, "dddddddd", old.File)
	s.Set(newer)
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
		c.From = "nat"
		var no *refusal.Refusal
		if _, err := s.Remembered(c, now); !errors.As(err, &no) || !strings.Contains(no.Reason, reason) {
			t.Errorf("want a refusal with %q, got %v", reason, err)
		}
	}
}

func TestFindChannelAndFound(t *testing.T) {
	s := emptyChannels()
	for _, name := range []string{"sprint", "tests", "Twin", "twin "} {
		s.Set(channelOf(name), protocol.ChannelFile{Name: strings.TrimSpace(name)})
	}
	if id, err := s.Find("SPRINT"); err != nil || id != channelOf("sprint") {
		t.Errorf("SPRINT is %s, %v", id, err)
	}
	if id, err := s.Find(strings.ToUpper(channelOf("tests").String())); err != nil || id != channelOf("tests") {
		t.Errorf("by id: %s, %v", id, err)
	}
	for text, want := range map[string]refusal.Refusal{
		"twin":                        {Kind: refusal.Senseless, Reason: `2 channels are called "twin"`},
		"sprunt":                      {Kind: refusal.Unknown, Reason: "no channel is called", Hint: "did you mean sprint?"},
		channelOf("nowhere").String(): {Kind: refusal.Unknown, Reason: "there is no channel"},
	} {
		var got *refusal.Refusal
		_, err := s.Find(text)
		if !errors.As(err, &got) || got.Kind != want.Kind || !strings.Contains(got.Reason, want.Reason) || !strings.Contains(got.Hint, want.Hint) {
			t.Errorf("%s: %#v, want %#v", text, err, want)
		}
	}
	now := time.Unix(1e9, 0)
	file, err := s.Found(NewChannel{By: "nat", Name: " 週次 ", Parent: channelOf("sprint"), About: "weekly\n"}, now)
	want := protocol.ChannelFile{Name: "週次", CreatedBy: "nat", CreatedAt: now, Parent: channelOf("sprint"), About: "weekly"}
	if diff := cmp.Diff(want, file); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, name := range []string{"", "Sprint", "all", "All", " direct ", "a\nb", channelOf("x").String(), strings.Repeat("x", 256)} {
		if _, err := s.Found(NewChannel{Name: name}, now); err == nil {
			t.Errorf("a channel called %q was let through", name)
		}
	}
}

// Purposes ends even if CHANNEL.md files name each other as parents.
func TestPurposesOfACircle(t *testing.T) {
	s := emptyChannels()
	s.Set(channelOf("a"), protocol.ChannelFile{Name: "a", Parent: channelOf("b")})
	s.Set(channelOf("b"), protocol.ChannelFile{Name: "b", Parent: channelOf("a")})
	var names []string
	for _, f := range s.Purposes(channelOf("a")) {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("purposes of %v", names)
	}
}

// The fleet's own profile stands before the program's. Two of one folder with the same name are both
// found.
func TestProfiles(t *testing.T) {
	s := NewProfiles()
	called := func(want ...string) {
		t.Helper()
		if got := s.Called("guide"); !slices.Equal(got, want) {
			t.Errorf("profiles at %q, want %q", got, want)
		}
	}
	s.Set("upstream/actors/guide.md", protocol.Actor{Name: "guide", Body: "program's"})
	s.Set("local/actors/fool.md", protocol.Actor{Name: "fool"})
	called("upstream/actors/guide.md")
	s.Set("local/actors/guide.md", protocol.Actor{Name: "guide", Body: "fleet's"})
	called("local/actors/guide.md")
	s.Set("local/actors/other.md", protocol.Actor{Name: "guide", Body: "again"})
	called("local/actors/guide.md", "local/actors/other.md")
	s.Set("local/actors/guide.md", protocol.Actor{Name: "leader"})
	called("local/actors/other.md")
	if names := s.Names(); !slices.Equal(names, []string{"fool", "guide", "leader"}) {
		t.Errorf("names %q", names)
	}
	s.Drop("local/actors/guide.md")
	s.Drop("local/actors/other.md")
	called("upstream/actors/guide.md")
	if a, ok := s.At("upstream/actors/guide.md"); !ok || a.Body != "program's" {
		t.Errorf("profile %+v", a)
	}
}
