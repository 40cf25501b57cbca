package protocol_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/protocol"
)

// seedHostFile is the example of the seed, with its indentation.
const seedHostFile = `---
alias: cachy
hostname: steve-cachyos
actors:
  junior-developer:
    haiku:
      cli: claude --model claude-haiku-4-5 --print
      count: 5
    flash: gemini --model gemini-2.5-flash -p --yolo
  senior-developer:
    opus: claude --model claude-opus-4-7 --print
---
`

func TestParseHostFileOfTheSeed(t *testing.T) {
	want := protocol.HostState{
		Host: "cachy", Hostname: "steve-cachyos",
		Agents: []protocol.HostedAgent{
			{Name: "junior-developer", Tiers: []protocol.Tier{{Name: "haiku", Count: 5}, {Name: "flash", Count: 1}}},
			{Name: "senior-developer", Tiers: []protocol.Tier{{Name: "opus", Count: 1}}},
		},
	}
	for _, file := range []string{seedHostFile, strings.ReplaceAll(seedHostFile, "\n", "\r\n"), strings.TrimSuffix(seedHostFile, "\n")} {
		got, err := protocol.ParseHostFile([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		if diff := sameHost(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

func update(t *testing.T, old string, h protocol.HostState) string {
	t.Helper()
	file, err := protocol.UpdateHostFile([]byte(old), h)
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

func TestHostFileRoundTrip(t *testing.T) {
	h := hostState()
	h.Host, h.Humans = "12345678", []protocol.Name{"null", "yes", "1e5", "1e345678", "0x1f", "nat"}
	h.Agents = append(h.Agents, protocol.HostedAgent{Name: "on", Tiers: []protocol.Tier{{Name: "1", Count: 2}}})
	h.Hostname = "1.5"
	for _, old := range []string{"", "no host file", "---\n[\n---\n", seedHostFile} {
		file := update(t, old, h)
		got, err := protocol.ParseHostFile([]byte(file))
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		if diff := sameHost(h, got); diff != "" {
			t.Errorf("(-want +got)\n%s\n%s", diff, file)
		}
		if again := update(t, file, h); again != file {
			t.Errorf("written twice, the file changes\n%s\n%s", file, again)
		}
		checkHostYAML(t, file)
	}
}

// checkHostYAML reads the file as any YAML program would.
func checkHostYAML(t *testing.T, file string) {
	t.Helper()
	front, _, _ := strings.Cut(strings.TrimPrefix(file, "---\n"), "\n---\n")
	var read struct {
		Alias, Hostname any
		Humans          []any
		Actors          map[any]any
	}
	if err := yaml.Unmarshal([]byte(front), &read); err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	if read.Alias != "12345678" || read.Hostname != "1.5" {
		t.Errorf("alias %#v, hostname %#v\n%s", read.Alias, read.Hostname, file)
	}
	if diff := cmp.Diff([]any{"null", "yes", "1e5", "1e345678", "0x1f", "nat"}, read.Humans); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, ok := read.Actors["on"]; !ok {
		t.Errorf("the agent on is %v", read.Actors)
	}
	if strings.Contains(front, ": 1e345678") || strings.Contains(front, "[1e345678") || strings.Contains(front, " 1e345678") {
		t.Errorf("1e345678 stands plain\n%s", front)
	}
}

// R12: what a person wrote stays. Commands are never written.
func TestHostFileKeepsWhatAPersonWrote(t *testing.T) {
	old := strings.Replace(seedHostFile, "alias: cachy", "# mine\nlocation: Berlin # the flat\nalias: cachy\nmeta:\n  rack: [1, {a: b}]", 1) + "\nAsk Steve.\n\nTwice.\n"
	h := hostState()
	file := update(t, old, h)
	for _, want := range []string{"# mine\n", "location: Berlin # the flat\n", "rack: [1, {a: b}]\n", "\n---\n\nAsk Steve.\n\nTwice.\n"} {
		if !strings.Contains(file, want) {
			t.Errorf("%q is gone\n%s", want, file)
		}
	}
	for _, bad := range []string{"claude", "gemini", "junior-developer", "steve-cachyos"} {
		if strings.Contains(file, bad) {
			t.Errorf("%q still stands\n%s", bad, file)
		}
	}
	got, err := protocol.ParseHostFile([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if diff := sameHost(h, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// If a comment stood beside the replaced map, the YAML encoder puts it between a key and its value.
// Nobody can read that.
func TestHostFileWithACommentBesideAMapStaysReadable(t *testing.T) {
	old := strings.Replace(seedHostFile, "actors:", "actors: # who works here", 1)
	h := hostState()
	for _, h.Agents = range [][]protocol.HostedAgent{nil, hostState().Agents} {
		file := update(t, old, h)
		got, err := protocol.ParseHostFile([]byte(file))
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		if diff := sameHost(h, got); diff != "" {
			t.Errorf("(-want +got)\n%s\n%s", diff, file)
		}
	}
}

func TestParseHostFileRefuses(t *testing.T) {
	for name, file := range map[string]string{
		"empty":       "",
		"no alias":    strings.Replace(seedHostFile, "alias: cachy\n", "", 1),
		"bad alias":   strings.Replace(seedHostFile, "cachy", "a@b", 1),
		"alias twice": strings.Replace(seedHostFile, "hostname:", "alias: other\nhostname:", 1),
		"alias":       strings.Replace(seedHostFile, "flash: gemini", "flash: &a gemini", 1),
		"too long":    strings.Replace(seedHostFile, "alias:", strings.Repeat("#\n", protocol.MaxFrontmatter)+"alias:", 1),
	} {
		if h, err := protocol.ParseHostFile([]byte(file)); err == nil {
			t.Errorf("%s: was read as %+v", name, h)
		}
	}
}

// What cannot be read of a host file is left out alone. Other programs call hosts, actors and tiers
// as they like. A capital or a dot made the whole file unreadable.
func TestForeignHostFile(t *testing.T) {
	const file = "---\nalias: MacBook-Pro.local\nhostname: MacBook-Pro.local\nactors:\n  Architect:\n    gpt-4.1: codex exec\n  qa.bot:\n    Opus: {count: 2}\n" +
		"  a@b:\n    x: y\n  all:\n    x: y\n  dev:\n    o pus: x\n    fine: {count: 0}\n    ok: x\nhumans: [Nat W., \"\"]\n---\n"
	want := protocol.HostState{
		Host: "MacBook-Pro.local", Hostname: "MacBook-Pro.local", Humans: []protocol.Name{"Nat W."},
		Agents: []protocol.HostedAgent{
			{Name: "Architect", Tiers: []protocol.Tier{{Name: "gpt-4.1", Count: 1}}},
			{Name: "qa.bot", Tiers: []protocol.Tier{{Name: "Opus", Count: 2}}},
			{Name: "dev", Tiers: []protocol.Tier{{Name: "ok", Count: 1}}},
		},
		Unread: []string{"actor: a@b", "actor: all", "actor dev, tier: o pus", "actor dev, tier: fine", "human: "},
	}
	got, err := protocol.ParseHostFile([]byte(file))
	if diff := sameHost(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// A host that listens no longer must not be dialled because of an old file. An address that nobody
// could dial is passed over.
func TestHostFileAddresses(t *testing.T) {
	h := hostState()
	file := update(t, "", h)
	if want := `addresses: ["192.0.2.7:4223", "[2001:db8::7]:4223", "white.example:4223"]`; !strings.Contains(file, want+"\n") {
		t.Errorf("%q is missing\n%s", want, file)
	}
	h.Addresses = nil
	if file = update(t, file, h); strings.Contains(file, "addresses") {
		t.Errorf("the old addresses still stand\n%s", file)
	}
	got, err := protocol.ParseHostFile([]byte(`---
alias: a
addresses: ["b:1", b, "0.0.0.0:1", [c], "::1:1", "d:1\n"]
---
`))
	if err != nil || !slices.Equal(got.Addresses, []string{"b:1"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestHostFilePath(t *testing.T) {
	if got := protocol.HostFilePath("white"); got != "hosts/white.md" {
		t.Errorf("got %s", got)
	}
}

func FuzzParseHostFile(f *testing.F) {
	f.Add([]byte(seedHostFile))
	f.Add([]byte("---\nalias: a\nactors: {b: {c: {count: 1024}}}\naddresses: ['[::1]:1', a:2, {b: c}]\nhumans: [a, [b], {c: d}]\nkey: [x]\n---\n\nbody"))
	f.Add([]byte("---\n? [a]\n: b\nalias: c\n# end\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := protocol.ParseHostFile(data)
		if err != nil {
			return
		}
		file, err := protocol.UpdateHostFile(data, h)
		if err != nil || len(file) > protocol.MaxFrontmatter {
			return
		}
		if found := protocol.HostFileCommands(file); len(found) > 0 {
			t.Fatalf("a command of %q is written\n%s", found, file)
		}
		back, err := protocol.ParseHostFile(file)
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		h.Unread = nil // it is not written again
		if diff := sameHost(h, back); diff != "" {
			t.Fatalf("(-first +again)\n%s\n%s", diff, file)
		}
	})
}
