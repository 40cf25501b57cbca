package notebook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/internal/schemas"
	"github.com/parleyfleet/parley/protocol"
)

// gathered returns a party of so many members that began at an hour.
func gathered(stem string, hour, members int) Party {
	begun := noon.Add(time.Duration(hour) * time.Hour).Format(protocol.TimestampLayout)
	p := Party{Stem: stem, File: parties.File{
		Topic: "tmux design", Rules: protocol.DefaultPartyRules(), Leader: parties.FileLeader{Human: "nat", ActingVia: "skills"}, Members: []parties.FileMember{},
		PendingInvites: []parties.FileInvite{}, Created: begun, LastActivity: begun,
	}}
	for n := range members {
		p.Members = append(p.Members, parties.FileMember{
			ID: "agent" + strings.Repeat("x", n), Status: protocol.PresenceActive, Role: party.RoleMember, LastSync: begun, Trust: "initial", JoinedAt: begun,
		})
	}
	return p
}

// over returns the party as it is when the last member has left.
func (p Party) over() Party {
	p.Members, p.Over = []parties.FileMember{}, noon.Add(8*time.Hour)
	return p
}

// partyDesk returns a desk with one agent, and the folder of its files.
func partyDesk(t *testing.T) (d *desk, files string) {
	a := agentIn(t, "skills")
	return newDesk(a), filepath.Join(a.Dir, "ψ", "memory", "collaborations")
}

// with writes the files of an agent that is in these parties.
func (d *desk) with(t *testing.T, all ...Party) []string {
	t.Helper()
	d.books["skills"] = Book{Me: "skills", Parties: all}
	return d.write(t, "skills").Files
}

func valid(t *testing.T, data []byte) {
	t.Helper()
	schema, err := schemas.Find("party")
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := schema.Problems(data); err != nil || len(problems) > 0 {
		t.Fatalf("%q is not valid: %v, %v", data, problems, err)
	}
}

// Work-with W143: a program that reads a party's file while it changes sees all of the file, as it
// was or as it is now. A file in which nothing changed stays the same file.
func TestReadersOfAPartysFile(t *testing.T) {
	t.Parallel()
	d, files := partyDesk(t)
	name := filepath.Join(files, "parties", "tmux-design.json")
	if got := d.with(t, gathered("tmux-design", 0, 0)); !slices.Equal(got, []string{"parties/tmux-design.json"}) {
		t.Fatalf("written are %v", got)
	}
	const changes = 20
	var reading sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		reading.Go(func() {
			for {
				data, err := os.ReadFile(name)
				if err != nil || !json.Valid(data) {
					t.Errorf("a reader has %q, %v", data, err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := range changes {
		d.with(t, gathered("tmux-design", 0, n+1))
	}
	close(done)
	reading.Wait()
	data, err := os.ReadFile(name)
	if err != nil || !strings.Contains(string(data), `"agent`+strings.Repeat("x", changes-1)+`"`) {
		t.Errorf("the file has %s, %v", data, err)
	}
	valid(t, data)
	before, _ := os.Stat(name)
	if got := d.with(t, gathered("tmux-design", 0, changes)); len(got) > 0 {
		t.Errorf("written again are %v", got)
	}
	if after, err := os.Stat(name); err != nil || !os.SameFile(before, after) {
		t.Errorf("another file is there though nothing changed: %v", err)
	}
}

// Work-with W152, W153: a party has its file as long as somebody is in it. When the last member is
// out, the file goes to the archive, where two parties of one day are two files (R30).
func TestAPartyThatIsOver(t *testing.T) {
	d, files := partyDesk(t)
	first, second := gathered("tmux-design", 0, 2), gathered("tmux-design", 1, 1)
	d.with(t, first)
	first.Members = first.Members[:1]
	if got := d.with(t, first); !slices.Equal(got, []string{"parties/tmux-design.json"}) {
		t.Errorf("when one left, written were %v", got)
	}
	d.with(t, first.over())
	if got := d.with(t, first.over(), second); !slices.Equal(got, []string{"parties/tmux-design.json"}) {
		t.Errorf("of the second one, written were %v", got)
	}
	d.with(t, first.over(), second.over())
	for range 2 {
		if got := d.with(t, first.over(), second.over()); len(got) > 0 {
			t.Errorf("written again are %v", got)
		}
	}
	all := everything(t, files)
	for name, p := range map[string]Party{"archive/tmux-design_20260413.json": first, "archive/tmux-design_20260413-2.json": second} {
		if valid(t, []byte(all[name])); !p.is([]byte(all[name])) || !strings.Contains(all[name], `"members": []`) {
			t.Errorf("%s has %s", name, all[name])
		}
	}
	if _, there := all["parties/tmux-design.json"]; there {
		t.Error("a party that is over has a file among those that go on")
	}
	// Somebody removes one file from the archive. It is put there again, and the other file stays.
	if err := os.Remove(filepath.Join(files, "archive", "tmux-design_20260413-2.json")); err != nil {
		t.Fatal(err)
	}
	if got := d.with(t, first.over(), second.over()); !slices.Equal(got, []string{"archive/tmux-design_20260413-2.json"}) {
		t.Errorf("put there again are %v", got)
	}
}

// A party that ended before a node of this host wrote it goes to the archive. It leaves the file of
// a later party with its name alone.
func TestAPartyThatEndedUnseen(t *testing.T) {
	d, files := partyDesk(t)
	first, second := gathered("tmux-design", 0, 1), gathered("tmux-design", 10, 1)
	d.with(t, second)
	if got := d.with(t, first.over(), second); !slices.Equal(got, []string{"archive/tmux-design_20260413.json"}) {
		t.Errorf("written are %v", got)
	}
	if data, err := os.ReadFile(filepath.Join(files, "parties", "tmux-design.json")); err != nil || !second.is(data) {
		t.Errorf("the later one's file has %s, %v", data, err)
	}
}

// If an earlier party of the same name takes the name of a file, each party has its own file.
func TestAPartysFileGetsAnotherName(t *testing.T) {
	d, files := partyDesk(t)
	later := gathered("tmux-design", 1, 1)
	d.with(t, later)
	later.Stem = "tmux-design-bbbbbbbb"
	earlier := gathered("tmux-design", 0, 2)
	d.with(t, earlier, later)
	all := everything(t, files)
	if !earlier.is([]byte(all["parties/tmux-design.json"])) || !later.is([]byte(all["parties/tmux-design-bbbbbbbb.json"])) {
		t.Errorf("the files are %v", all)
	}
	if kept := find(all, "tmux design"); len(kept) != 2 {
		t.Errorf("parties stand in %v", kept)
	}
}

// A party's file that was kept by hand says what the record does not. It prevents: it is
// overwritten.
func TestAPartysFileKeptByHand(t *testing.T) {
	for name, hand := range map[string]string{"another's": string(gathered("", 5, 1).text()), "no JSON": "members: me\n", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			d, files := partyDesk(t)
			if err := os.MkdirAll(filepath.Join(files, "parties"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(files, "parties", "tmux-design.json"), []byte(hand), 0o644); err != nil {
				t.Fatal(err)
			}
			p := gathered("tmux-design", 0, 1)
			d.with(t, p)
			d.with(t, p)
			all := everything(t, files)
			if kept, there := all["archive/tmux-design.by-hand-1.json"]; !there || kept != hand {
				t.Errorf("kept is %q, %v", kept, there)
			}
			if !p.is([]byte(all["parties/tmux-design.json"])) {
				t.Errorf("the party's file has %s", all["parties/tmux-design.json"])
			}
		})
	}
}

// The parts of a party's file that a kill left are nobody's words, and are removed.
func TestWhatAKillLeftOfAParty(t *testing.T) {
	d, files := partyDesk(t)
	p := gathered("tmux-design", 0, 1)
	for _, folder := range []string{"parties", "archive"} {
		if err := os.MkdirAll(filepath.Join(files, folder), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(files, folder, ".parley-tmp-tmux-design.json-77-0"), p.text()[:40], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.with(t, p); !slices.Equal(got, []string{"parties/tmux-design.json"}) {
		t.Errorf("written are %v", got)
	}
	if all := everything(t, files); len(all) != 2 { // the other file says whose folder it is
		t.Errorf("the folder has %v", all)
	}
}

// A file that cannot be written is told, and keeps no other party from its own file.
func TestAPartysFileThatCannotBeWritten(t *testing.T) {
	d, files := partyDesk(t)
	if err := os.MkdirAll(filepath.Join(files, "parties", "ports.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.books["skills"] = Book{Me: "skills", Parties: []Party{gathered("ports", 0, 1), gathered("tmux-design", 1, 1)}}
	w, err := d.Write("skills")
	if err == nil || !strings.Contains(err.Error(), "cannot write parties/ports.json") {
		t.Errorf("told is %v", err)
	}
	if !slices.Equal(w.Files, []string{"parties/tmux-design.json"}) {
		t.Errorf("written are %v", w.Files)
	}
}

// An agent that is in no party and opened nothing gets no folder.
func TestWithoutPartiesThereIsNoFolder(t *testing.T) {
	d, files := partyDesk(t)
	d.with(t)
	if _, err := os.Stat(files); !os.IsNotExist(err) {
		t.Errorf("there is a folder: %v", err)
	}
}

func FuzzWhoseFileAPartysIs(f *testing.F) {
	p := gathered("tmux-design", 0, 1)
	f.Add(p.text())
	f.Add([]byte(`{"topic": 1, "leader": []}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		if p.is(file) && !json.Valid(file) {
			t.Fatalf("%q is a party's file", file)
		}
	})
}
