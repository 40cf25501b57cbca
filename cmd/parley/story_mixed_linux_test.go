package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// olderVariable names a program of parley 0.1.0, which .ci/run builds. The tests below run it
// beside this program.
const olderVariable = "PARLEY_OLD"

// older returns that program.
func older(t *testing.T) string {
	t.Helper()
	program := os.Getenv(olderVariable)
	if program == "" {
		t.Skip("set " + olderVariable + " to a program of parley 0.1.0: bash .ci/run builds it")
	}
	return program
}

// mixedHost is a host of a fleet in which programs of two versions run.
type mixedHost struct {
	*storyHost
	alias, human, agent string
}

// newMixedHost makes a host with a program, "" for this one. It starts the host and adds an agent
// that speaks loudly.
func newMixedHost(t *testing.T, program, alias string, words ...string) mixedHost {
	t.Helper()
	h := mixedHost{emptyStoryHost(t), alias, "human-" + alias, "loud-" + alias}
	h.program = program
	h.must(append(words, "--alias", h.alias, "--human", h.human)...)
	h.start()
	h.must("agent", "add", h.agent, "--exec", "tr a-z A-Z")
	return h
}

// json reads what a command prints as JSON.
func (h *storyHost) json(into any, words ...string) {
	h.t.Helper()
	if err := json.Unmarshal([]byte(h.must(append(words, "--json")...)), into); err != nil {
		h.t.Fatalf("parley %v --json: %v", words, err)
	}
}

// message returns the message that a command prints.
func (h *storyHost) message(words ...string) control.Message {
	h.t.Helper()
	var m control.Message
	h.json(&m, words...)
	return m
}

func (h *storyHost) stage(path string) protocol.Stage {
	h.t.Helper()
	return h.message("show", path).Stage
}

// waits reports whether a message is in the inbox.
func (h *storyHost) waits(path string) bool {
	h.t.Helper()
	return strings.Contains(h.must("inbox", "--json"), `"`+path+`"`)
}

// untilLive waits until both hosts are linked and know each other's agents.
func (h mixedHost) untilLive(other mixedHost) {
	h.t.Helper()
	for _, way := range [][2]mixedHost{{h, other}, {other, h}} {
		live := regexp.MustCompile(way[1].agent + ` .*` + way[1].alias + ` +live`)
		way[0].until(way[1].agent+" is live", func() bool { return live.MatchString(way[0].must("ls")) })
	}
}

// talk has the human at h talk with the agent and the human at other, while both hosts are live.
func (h mixedHost) talk(other mixedHost) {
	h.t.Helper()
	for _, words := range [][]string{{"hey", other.agent}, {"wormhole", other.alias + ":" + other.agent}} {
		if got := strings.TrimSpace(h.must(append(words, "--wait", "20s", "over there")...)); got != "OVER THERE" {
			h.t.Errorf("%v from %s: answered with %q", words, h.alias, got)
		}
	}
	asked := h.message("send", "--to", other.human+"@"+other.alias, "do you hear me?").Path.String()
	other.until("the question has come", func() bool { return other.waits(asked) })
	h.until("it is heard", func() bool {
		return slices.Contains(h.message("show", asked).Heard, protocol.Name(other.alias))
	})
	other.must("read", asked)
	h.until("the question is read", func() bool { return h.stage(asked) == protocol.StageRead })
	answer := other.message("reply", asked, "I do").Path.String()
	h.until("the question is answered", func() bool { return h.stage(asked) == protocol.StageAnswered })
	h.until("the answer has come", func() bool { return h.waits(answer) })
	h.must("read", answer)
	other.until("the answer is read", func() bool { return other.stage(answer) == protocol.StageRead })
	if h.program == "" { // to 0.1.0 an act that it does not know is mail
		note := h.message("send", "--fyi", "--to", other.human+"@"+other.alias, "no need to answer").Path.String()
		other.until("the note has come", func() bool { return other.waits(note) })
		other.must("read", note)
		h.until("the note is read", func() bool { return h.stage(note) == protocol.StageRead })
	}

	toAll := h.message("broadcast", "to everyone").Path.String()
	other.until("the broadcast has come", func() bool { return other.waits(toAll) })
	other.must("read", toAll)
	h.until("the broadcast is read and answered", func() bool {
		all := h.message("show", toAll).Addressees
		return slices.Contains(all, control.Addressee{Name: other.human, Stage: protocol.StageRead}) &&
			slices.Contains(all, control.Addressee{Name: other.agent, Stage: protocol.StageAnswered})
	})
}

// rotate gives the host a new key as a human does: at a terminal, but without one for 0.1.0, which
// did not ask there.
func (h mixedHost) rotate() {
	h.t.Helper()
	words := []string{"host", "rotate"}
	var out string
	if h.program == "" {
		out = h.typing("rotate "+h.alias, words...)
	} else {
		out = h.must(words...)
	}
	if !strings.Contains(out, "has a new key") {
		h.t.Errorf("the rotation says %q", out)
	}
}

// account returns all that a host says of each message, see accountOf.
func (h *storyHost) account() []string {
	h.t.Helper()
	return accountOf(h.t, h.log())
}

// accountOf returns a line of JSON for each message. It leaves out what 0.1.0 does not tell, and
// who heard the message on the bus. 0.1.0 refers to a message of the same channel without the
// channel.
func accountOf(t testing.TB, messages []control.Message) []string {
	t.Helper()
	var lines []string
	for _, m := range messages {
		m.ChannelName, m.Direct, m.Because, m.Unattended, m.Heard, m.Hops = "", false, "", false, nil, 0
		m.Ref, m.Re = strings.TrimPrefix(m.Ref, m.Channel.String()+"/"), strings.TrimPrefix(m.Re, m.Channel.String()+"/")
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

// untilAgreed waits until all hosts have pushed everything and say the same of each message. It
// returns what they say.
func untilAgreed(t *testing.T, hosts ...mixedHost) []string {
	t.Helper()
	var account []string
	var diff string
	defer func() {
		if diff != "" {
			t.Log(diff)
		}
	}()
	hosts[0].until("all hosts say the same of each message", func() bool {
		for _, h := range hosts {
			h.must("wake")
			if s := h.status().Record; s.Unpushed != 0 || s.Unrecorded != 0 {
				diff = h.alias + " has not pushed all"
				return false
			}
		}
		account = hosts[0].account()
		for _, h := range hosts[1:] {
			if diff = cmp.Diff(account, h.account()); diff != "" {
				diff = hosts[0].alias + " and " + h.alias + ":\n" + diff
				return false
			}
		}
		return true
	})
	return account
}

// sound checks the record of a host, with the host's own program and with git.
func (h *storyHost) sound() {
	h.t.Helper()
	if out := h.must("record", "verify"); !strings.Contains(out, "nothing is wrong") {
		h.t.Errorf("the record: %s", out)
	}
	gitOut(h.t, h.home.Record(), "fsck", "--strict")
}

// Hosts of parley 0.1.0 and of this version are one fleet, whichever of them began it and is
// dialled by the others. It prevents: a host that has to wait until all are upgraded.
func TestMixedFleet(t *testing.T) {
	old := older(t)
	for name, programs := range map[string][2]string{"the old one began": {old, ""}, "the new one began": {"", old}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := sharedRepository(t)
			a := newMixedHost(t, programs[0], "alpha", "init", "--fleet", "demo", "--remote", remote, "--listen", "127.0.0.1:0")
			a.until("its address is in the record", func() bool { return a.status().Record.Unpushed == 0 })
			b := newMixedHost(t, programs[1], "bravo", "join", remote)
			a.untilLive(b)
			a.talk(b)
			b.talk(a)
			a.rotate()
			b.rotate()
			a.talk(b)
			b.talk(a)
			c := newMixedHost(t, programs[0], "cairo", "join", remote)
			c.untilLive(b)
			c.untilLive(a)
			c.talk(b)
			b.talk(c)
			for _, line := range untilAgreed(t, a, b, c) {
				if !strings.Contains(line, `"signature":"valid"`) {
					t.Errorf("not signed well: %s", line)
				}
			}
			for _, h := range []mixedHost{a, b, c} {
				h.sound()
				h.stop()
			}
		})
	}
}

// This version opens a home of parley 0.1.0 with a cache of its state and a journal. A host of
// 0.1.0 then reads from git what this version writes there. It prevents: an upgrade that loses mail
// or receipts, and an upgrade that hosts of 0.1.0 cannot follow.
func TestHomeOfAnOlder(t *testing.T) {
	old := older(t)
	remote := sharedRepository(t)
	h := newMixedHost(t, old, "alpha", "init", "--fleet", "demo", "--remote", remote)
	h.must("agent", "add", "mawjs", "--inbox")
	say := func(n string) {
		t.Helper()
		me := []string{"--as", h.human}
		if got := h.must(append([]string{"hey", h.agent, "--wait", "20s", n}, me...)...); strings.TrimSpace(got) != strings.ToUpper(n) {
			t.Errorf("answered with %q", got)
		}
		h.message(append([]string{"hey", "mawjs", "waits " + n}, me...)...)
		read := h.message(append([]string{"hey", "mawjs", "is read " + n}, me...)...).Path.String()
		h.must("read", "--as", "mawjs", read)
		h.must("reply", "--as", "mawjs", h.message(append([]string{"hey", "mawjs", "is answered " + n}, me...)...).Path.String(), "yes")
		h.must(append([]string{"broadcast", "to all " + n}, me...)...)
		h.must(append([]string{"channel", "new", "sprint-" + n, "--about", "what we do"}, me...)...)
		h.must(append([]string{"send", "--channel", "sprint-" + n, "--to", "mawjs", "in a channel " + n}, me...)...)
		h.must(append([]string{"memory", "add", "--subject", "about " + n, "Go, nothing else"}, me...)...)
	}
	say("one")
	h.rotate()
	h.until("all is pushed", func() bool { return h.status().Record.Unpushed == 0 })
	h.stop()
	h.must("record", "rebuild") // writes the cache
	if found, _ := filepath.Glob(filepath.Join(h.home.StateCache(), "*.archive")); len(found) == 0 {
		t.Error("there is no cache")
	}
	h.start()
	say("two")
	h.until("all is pushed", func() bool { return h.status().Record.Unpushed == 0 })
	away := remote + ".away"
	if err := os.Rename(remote, away); err != nil {
		t.Fatal(err)
	}
	say("three") // this stays in the journal
	h.until("its agent has answered", func() bool {
		return slices.ContainsFunc(strings.Split(h.must("log", "-n", "30", "--json"), "\n"), func(line string) bool {
			return strings.Contains(line, `"body":"to all three"`) && strings.Contains(line, `"stage":"answered"`)
		})
	})
	h.until("all is recorded", func() bool { return h.status().Record.Unrecorded == 0 })

	look := func() map[string]any {
		t.Helper()
		seen := map[string]any{"account": h.account(), "unpushed": h.status().Record.Unpushed}
		for _, words := range []string{"inbox --as mawjs", "inbox --as mawjs --all", "inbox --as " + h.human} {
			var mail []control.Message
			h.json(&mail, strings.Fields(words)...)
			seen[words] = accountOf(t, mail)
		}
		for words, into := range map[string]any{
			"record verify --all": new(control.Verification), "memory list": new([]control.Memory), "channel list": new([]control.Channel),
		} {
			h.json(into, strings.Fields(words)...)
			seen[words] = fmt.Sprintf("%+v", into)
		}
		var agents []control.Agent
		h.json(&agents, "agent", "list")
		for _, a := range agents { // what 0.1.0 knows of an agent
			seen["agent "+a.Name.String()] = fmt.Sprint(a.Door, a.Command, a.Dir, a.Paused, a.Queued, a.Running, a.Unread)
		}
		return seen
	}
	before := look()
	if before["unpushed"] == 0 {
		t.Error("the journal is empty")
	}
	h.kill()
	h.program = ""
	h.start()
	if diff := cmp.Diff(before, look()); diff != "" {
		t.Errorf("what 0.1.0 says and what this one says:\n%s", diff)
	}
	if err := os.Rename(away, remote); err != nil {
		t.Fatal(err)
	}
	say("four")
	h.rotate()
	reader := newMixedHost(t, old, "bravo", "join", remote)
	account := untilAgreed(t, h, reader)
	if n := len(slices.DeleteFunc(account, func(line string) bool { return !strings.Contains(line, "four") })); n < 5 {
		t.Errorf("%d messages of this one are in the record", n)
	}
	for _, h := range []mixedHost{h, reader} {
		h.sound()
		h.stop()
	}
}
