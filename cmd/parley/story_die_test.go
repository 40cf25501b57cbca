//go:build failpoint

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/failpoint"
	"github.com/parleyfleet/parley/node/control"
)

// A node dies after it has stored a message and before it has told anybody. Its sender asks again
// with the same request. It prevents: a message that is lost, or sent twice.
func TestDieBeforeTheAnswer(t *testing.T) {
	for _, p := range []failpoint.Point{failpoint.Stored, failpoint.Published} {
		t.Run(strings.TrimPrefix(string(p), "node/"), func(t *testing.T) {
			h := newStoryHost(t, "white")
			h.start()
			h.must("agent", "add", "blob", "--exec", "git hash-object --stdin")
			h.stop()
			t.Setenv(failpoint.Variable, string(p))
			h.start()
			if out, err := h.try("hey", "blob", "--request", "r1", "hello"); err == nil {
				t.Fatalf("the node answered %q", out)
			}
			<-h.ended
			h.up = nil
			t.Setenv(failpoint.Variable, "")
			h.start()
			letters := newSaid()
			out := h.must("hey", "blob", "--request", "r1", "hello")
			letters.addLine(t, out, "hello")
			if again := h.must("hey", "blob", "--request", "r1", "hello"); strings.Fields(again)[0] != strings.Fields(out)[0] {
				t.Errorf("the same request led to %s and %s", out, again)
			}
			h.until("it is answered and recorded", func() bool { return h.unanswered("blob") == 0 && h.status().Record.Unrecorded == 0 })
			letters.check(t, h, "blob", h.home.Record())
		})
	}
}

// A node dies while it writes the cache of its state: before the file has its name, or while the
// file before it is still there. It prevents: answers that differ after such a start.
func TestDieWhileTheCacheIsWritten(t *testing.T) {
	for _, p := range []failpoint.Point{failpoint.CacheWritten, failpoint.CachePlaced} {
		t.Run(strings.TrimPrefix(string(p), "node/"), func(t *testing.T) {
			h := newStoryHost(t, "white")
			h.start()
			h.must("agent", "add", "mawjs", "--inbox")
			for range 5 {
				h.must("hey", "mawjs", "hello", "--as", "nat")
			}
			h.until("all is recorded", func() bool { return h.status().Record.Unrecorded == 0 })
			before := h.must("log", "--json", "--all", "-n", "0")
			h.stop()
			t.Setenv(failpoint.Variable, string(p))
			if out, err := h.try("record", "rebuild"); err == nil {
				t.Fatalf("it did not die: %s", out)
			}
			t.Setenv(failpoint.Variable, "")
			h.start()
			if after := h.must("log", "--json", "--all", "-n", "0"); after != before {
				t.Errorf("after the start: %s\nbefore: %s", after, before)
			}
			h.stop()
			h.must("record", "rebuild")
			h.start()
			if after := h.must("log", "--json", "--all", "-n", "0"); after != before {
				t.Errorf("rebuilt: %s\nbefore: %s", after, before)
			}
		})
	}
}

// A node dies while its host's key changes: before the fleet knows the new key, or before the home
// knows it. It prevents: a host that signs with a key that is not its own.
func TestDieWhileTheKeyChanges(t *testing.T) {
	for _, p := range []failpoint.Point{failpoint.SeedsKept, failpoint.KeyRotated} {
		t.Run(strings.TrimPrefix(string(p), "node/"), func(t *testing.T) {
			h := newStoryHost(t, "white")
			h.start()
			h.must("agent", "add", "mawjs", "--inbox")
			h.stop()
			t.Setenv(failpoint.Variable, string(p))
			h.start()
			rotate := func() error { // the request that the command makes once somebody has typed the phrase
				_, err := control.RotateKey.Ask(t.Context(), control.NewClient(h.home.Socket(), cli.Version), control.RotateRequest{Phrase: "rotate white"})
				return err
			}
			if rotate() == nil {
				t.Fatal("the node answered")
			}
			<-h.ended
			h.up = nil
			t.Setenv(failpoint.Variable, "")
			h.start()
			for range 2 {
				if out := h.must("hey", "mawjs", "hello", "--as", "nat", "--json"); !strings.Contains(out, `"signature":"valid"`) {
					t.Errorf("what it writes: %s", out)
				}
				if err := rotate(); err != nil {
					t.Fatal(err)
				}
			}
			if out := h.must("record", "verify"); !strings.Contains(out, "nothing is wrong") {
				t.Errorf("verify: %s", out)
			}
		})
	}
}

// The making of a home ends at each of its points, as by kill -9, and the same command is run
// again. It prevents: a record whose founder's key nobody has any more, so that nobody can ever
// settle anything for the fleet; and a home that can neither be made nor started.
func TestDieWhileAHomeIsMade(t *testing.T) {
	for _, p := range []failpoint.Point{
		failpoint.HomeKeyed, failpoint.RecordBegun, failpoint.RecordPushed, failpoint.RecordPlaced, failpoint.HomeMade, failpoint.JoinStored, failpoint.JoinPushed,
	} {
		for _, joins := range []bool{false, true} {
			if joins && (p == failpoint.RecordBegun || p == failpoint.RecordPushed) {
				continue // who joins begins nothing
			}
			name := strings.TrimPrefix(string(p), "home/")
			if joins {
				name += ", joining"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				remote := filepath.Join(t.TempDir(), "shared.git")
				gitOut(t, ".", "init", "--quiet", "--bare", remote)
				h := emptyStoryHost(t)
				words := []string{"init", "--fleet", "f", "--alias", "white", "--human", "nat", "--remote", remote}
				if joins {
					first := emptyStoryHost(t)
					first.must("init", "--fleet", "f", "--alias", "first", "--human", "eve", "--remote", remote)
					words = []string{"join", remote, "--alias", "white", "--human", "nat"}
				}
				h.env = []string{failpoint.Variable + "=" + string(p)}
				if out, err := h.try(words...); err == nil {
					t.Fatalf("it did not die: %s", out)
				}
				h.env = nil
				key, err := os.ReadFile(filepath.Join(h.home.Keys(), "host.nk"))
				if err != nil {
					t.Fatal(err)
				}
				made := p == failpoint.HomeMade || p == failpoint.JoinStored || p == failpoint.JoinPushed
				other := slices.Clone(words)
				other[slices.Index(other, "white")] = "other"
				if _, err := h.try(other...); err == nil || !made && !strings.Contains(err.Error(), "is to be the host white of nat") {
					t.Errorf("as another host: %v", err)
				}
				if !made {
					if _, err := h.try("up"); err == nil || !strings.Contains(err.Error(), "half made") || !strings.Contains(err.Error(), "parley init --alias white --human nat --remote") {
						t.Errorf("a start before: %v", err)
					}
				}
				if _, err := h.try(words...); made != (err != nil) || made && !strings.Contains(err.Error(), "parley up") {
					t.Errorf("once more: %v", err)
				}
				if now, err := os.ReadFile(filepath.Join(h.home.Keys(), "host.nk")); err != nil || !bytes.Equal(now, key) {
					t.Errorf("the key is another one: %v", err)
				}
				h.start()
				if !joins {
					h.must("policy", "set", "window-cross-host=3d", "--reason", "x")
				}
				h.must("broadcast", "--as", "nat", "here")
				h.until("all is pushed", func() bool { r := h.status().Record; return r.Unrecorded+r.Unpushed == 0 && r.Trouble == nil })
				if out := h.must("record", "verify"); !strings.Contains(out, "nothing is wrong") {
					t.Errorf("verify: %s", out)
				}
			})
		}
	}
}

// The same for a node that joins with the keys and agents that it has. It prevents: agents that are
// lost, or a home with the record of the one fleet and the configuration of the other.
func TestDieWhileANodeJoinsAnotherFleet(t *testing.T) {
	for _, p := range []failpoint.Point{
		failpoint.HomeAside, failpoint.HomeKeyed, failpoint.RecordPlaced, failpoint.HomeMade, failpoint.JoinStored, failpoint.JoinPushed,
	} {
		t.Run(strings.TrimPrefix(string(p), "home/"), func(t *testing.T) {
			t.Parallel()
			remote := filepath.Join(t.TempDir(), "shared.git")
			gitOut(t, ".", "init", "--quiet", "--bare", remote)
			first := emptyStoryHost(t)
			first.must("init", "--fleet", "f", "--alias", "first", "--human", "eve", "--remote", remote)
			h := newStoryHost(t, "white")
			h.start()
			h.must("agent", "add", "loud", "--exec", "tr a-z A-Z")
			h.stop()
			key, err := os.ReadFile(filepath.Join(h.home.Keys(), "host.nk"))
			if err != nil {
				t.Fatal(err)
			}
			h.env = []string{failpoint.Variable + "=" + string(p)}
			if out, err := h.try("join", remote); err == nil {
				t.Fatalf("it did not die: %s", out)
			}
			h.env = nil
			made := p == failpoint.HomeMade || p == failpoint.JoinStored || p == failpoint.JoinPushed
			if !made {
				if _, err := h.try("up"); err == nil || !strings.Contains(err.Error(), "half made") {
					t.Errorf("a start before: %v", err)
				}
				if _, err := h.try("join", remote+".none"); err == nil {
					t.Error("another remote is taken")
				}
				h.must("join", remote)
			}
			if now, err := os.ReadFile(filepath.Join(h.home.Keys(), "host.nk")); err != nil || !bytes.Equal(now, key) {
				t.Errorf("the key is another one: %v", err)
			}
			h.start()
			if out := h.must("hey", "loud", "--as", "nat", "--wait", "30s", "here"); !strings.Contains(out, "HERE") {
				t.Errorf("the agent: %s", out)
			}
			h.until("all is pushed", func() bool { r := h.status().Record; return r.Unrecorded+r.Unpushed == 0 && r.Trouble == nil })
			if out := h.must("record", "verify"); !strings.Contains(out, "nothing is wrong") {
				t.Errorf("verify: %s", out)
			}
			if _, err := os.Stat(h.home.Aside()); err == nil {
				t.Error("what was put aside is still there")
			}
		})
	}
}

// The same for another remote of a home.
func TestDieWhileTheRemoteIsSet(t *testing.T) {
	for _, p := range []failpoint.Point{failpoint.Fetching, failpoint.Pushing, failpoint.Pushed, failpoint.RemoteUsed} {
		t.Run(filepath.Base(string(p)), func(t *testing.T) {
			t.Parallel()
			remote := filepath.Join(t.TempDir(), "shared.git")
			gitOut(t, ".", "init", "--quiet", "--bare", remote)
			h := newStoryHost(t, "white")
			h.env = []string{failpoint.Variable + "=" + string(p)}
			if out, err := h.try("remote", "set", remote); err == nil {
				t.Fatalf("it did not die: %s", out)
			}
			h.env = nil
			h.must("remote", "set", remote)
			h.start()
			h.must("broadcast", "--as", "nat", "here")
			h.until("all is pushed", func() bool { r := h.status().Record; return r.Unrecorded+r.Unpushed == 0 && r.Trouble == nil })
		})
	}
}

// A machine that joins by an invitation line dies at each step, and the same command is run again. It
// prevents: a person who has said yes is asked again, or a home that nobody can finish; and a line that
// is spent without a word why.
func TestDieWhileAMachineJoinsByALine(t *testing.T) {
	for _, p := range []failpoint.Point{
		failpoint.HomeKeyed, failpoint.Knocking, failpoint.LetIn, failpoint.RecordPlaced, failpoint.HomeMade, failpoint.JoinStored, failpoint.JoinPushed,
	} {
		t.Run(strings.TrimPrefix(string(p), "home/"), func(t *testing.T) {
			t.Parallel()
			a := newStoryHost(t, "white", "--listen", "127.0.0.1:0")
			a.start()
			invited := func(unasked bool) string {
				made, err := control.MakeInvitation.Ask(t.Context(), a.client, control.InvitationRequest{Unasked: unasked})
				if err != nil {
					t.Fatal(err)
				}
				return made.Line
			}
			h := emptyStoryHost(t)
			words := func(line string) []string { return []string{"join", line, "--alias", "black", "--human", "ida"} }
			line := invited(p != failpoint.Knocking)
			h.env = []string{failpoint.Variable + "=" + string(p)}
			if out, err := h.try(words(line)...); err == nil {
				t.Fatalf("it did not die: %s", out)
			}
			h.env = nil
			key, err := os.ReadFile(filepath.Join(h.home.Keys(), "host.nk"))
			if err != nil {
				t.Fatal(err)
			}
			made := p == failpoint.HomeMade || p == failpoint.JoinStored || p == failpoint.JoinPushed
			if !made {
				if _, err := h.try("up"); err == nil || !strings.Contains(err.Error(), "half made") || !strings.Contains(err.Error(), "the same invitation line, or another one: parley join --alias black") {
					t.Errorf("a start before: %v", err)
				}
			}
			_, err = h.try(words(line)...)
			switch {
			case p == failpoint.Knocking:
				if err == nil || !strings.Contains(err.Error(), "has used the line already, and was not let in: ask for another line") {
					t.Errorf("with a line that is used up: %v", err)
				}
				h.must(words(invited(true))...)
			case made && (err == nil || !strings.Contains(err.Error(), "parley up")), !made && err != nil:
				t.Errorf("once more: %v", err)
			}
			if now, err := os.ReadFile(filepath.Join(h.home.Keys(), "host.nk")); p != failpoint.Knocking && (err != nil || !bytes.Equal(now, key)) {
				t.Errorf("the key is another one: %v", err)
			}
			h.start()
			h.until("it is linked and all is pushed", func() bool {
				s := h.status()
				return len(s.Hosts) == 2 && s.Hosts[0].Live && s.Hosts[1].Live && s.Record.Unrecorded+s.Record.Unpushed == 0 && s.Record.Trouble == nil
			})
			if entries, err := os.ReadDir(h.home.Dir); err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
				return strings.HasSuffix(e.Name(), ".new") || e.Name() == filepath.Base(h.home.Draft())
			}) {
				t.Errorf("something half made is left: %v, %v", entries, err)
			}
			for _, host := range []*storyHost{a, h} {
				if out := host.must("record", "verify"); !strings.Contains(out, "nothing is wrong") {
					t.Errorf("verify: %s", out)
				}
			}
		})
	}
}
