package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// vandal is somebody who may push to the shared repository. A vandal has nothing but git and a key
// of no host.
type vandal struct {
	t      *testing.T
	clone  string
	record string
	key    nkeys.KeyPair
}

func newVandal(t *testing.T, remote, record string) *vandal {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	v := &vandal{t: t, clone: filepath.Join(t.TempDir(), "clone"), record: record, key: key}
	gitOut(t, t.TempDir(), "clone", "--quiet", "--no-local", remote, v.clone)
	return v
}

// write writes a file in the clone.
func (v *vandal) write(path string, data []byte) {
	v.t.Helper()
	file := filepath.Join(v.clone, filepath.FromSlash(path))
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		v.t.Fatal(err)
	}
}

// edit changes text in a file of the clone, which must hold that text.
func (v *vandal) edit(path, old, new string) {
	v.t.Helper()
	data, err := os.ReadFile(filepath.Join(v.clone, filepath.FromSlash(path)))
	if err != nil || !strings.Contains(string(data), old) {
		v.t.Fatalf("%s has no %q: %v:\n%s", path, old, err, data)
	}
	v.write(path, []byte(strings.ReplaceAll(string(data), old, new)))
}

// sign writes a message with the vandal's own key.
func (v *vandal) sign(m protocol.Message) {
	v.t.Helper()
	m.Type, m.Timestamp = protocol.TypeText, m.Path.Time()
	data, err := protocol.Sign(&m, v.record, v.key)
	if err != nil {
		v.t.Fatal(err)
	}
	v.write(m.Path.RepoPath(), data)
}

// push commits and pushes. It tries again when nodes push in between.
func (v *vandal) push(h *storyHost) {
	v.t.Helper()
	as := []string{"-c", "user.name=mallory", "-c", "user.email=mallory@example.org"}
	gitOut(v.t, v.clone, append(as, "add", "--all")...)
	gitOut(v.t, v.clone, append(as, "commit", "--quiet", "-m", "vandalism")...)
	h.until("the vandal has pushed", func() bool {
		gitOut(v.t, v.clone, append(as, "pull", "--quiet", "--rebase", "-X", "theirs")...)
		return exec.CommandContext(v.t.Context(), "git", "-C", v.clone, "push", "--quiet").Run() == nil
	})
}

// Somebody with the right to push edits a host's key and its commands, and changes an old message.
// They write as another host's agent with and without a signature, and join as a host that is
// there. Each deed is named and has no effect. It prevents: the right to push being the right to
// speak for everybody.
func TestVandalsAreNamedAndWithoutEffect(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	remote := sharedRepository(t)
	white := newStoryHost(t, "white", "--remote", remote)
	white.quickFetch()
	white.start()
	white.must("agent", "add", "shout", "--exec", "tr a-z A-Z")
	white.must("hey", "shout", "--wait", "20s", "the budget is 100")
	white.until("all is pushed", func() bool { s := white.status().Record; return s.Unrecorded+s.Unpushed == 0 })
	id := white.status().Record.ID
	old := white.messageWith("the budget is 100")
	channel := old.Path.Channel()

	black := newStoryHost(t, "black", "--remote", remote)
	black.quickFetch()
	black.start()
	black.must("agent", "add", "quiet", "--inbox")
	white.until("both know each other", func() bool { return len(white.status().Hosts) == 2 && len(black.status().Hosts) == 2 })

	v := newVandal(t, remote, id)
	public, err := v.key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	white.until("white's file is there", func() bool {
		gitOut(t, v.clone, "pull", "--quiet", "--rebase")
		data, err := os.ReadFile(filepath.Join(v.clone, "hosts", "black.md"))
		return err == nil && strings.Contains(string(data), "quiet")
	})
	ownKey := white.keyInFile(filepath.Join(v.clone, "hosts", "white.md"))
	v.edit("hosts/white.md", ownKey, public)
	pwned := filepath.Join(t.TempDir(), "pwned")
	v.edit("hosts/black.md", "quiet:", "quiet:\n    default:\n      cli: touch "+pwned+"\n      count: 1\n  silent:")
	v.edit(old.Path.RepoPath(), "the budget is 100", "the budget is 900")
	now := time.Now().UTC()
	at := func(i int, suffix uint32) protocol.Path {
		return protocol.NewPath(channel, now.Add(time.Duration(i)*time.Millisecond), suffix)
	}
	to := []protocol.Address{{Name: "nat"}}
	v.sign(protocol.Message{Path: at(1, 0xf0e1), From: "shout", To: to, Host: "white", Run: "0be7c402", Seq: 1, Body: "signed by the wrong key"})
	unsigned := "---\nfrom: quiet@black\nto: nat\ntype: text\ntimestamp: " + at(2, 0xf0e2).Time().Format(protocol.TimestampLayout) + "\n---\n\nsigned by nobody\n"
	v.write(at(2, 0xf0e2).RepoPath(), []byte(unsigned))
	system := protocol.SystemChannel(id)
	early := protocol.NewPath(system, now.Add(-24*time.Hour), 0xf0e3)
	takes := protocol.HostState{Host: "white", Key: public, Humans: []protocol.Name{"nat"}}
	v.sign(protocol.Message{Path: early, From: "nat", To: []protocol.Address{{Name: protocol.All}}, Act: protocol.ActHostJoin, Host: "white",
		Run: "0be7c403", Seq: 1, Body: protocol.FormatHost(protocol.ActHostJoin, takes)})
	v.push(white)

	for _, h := range []*storyHost{white, black} {
		h.until("it has seen what was pushed", func() bool { return strings.Contains(h.must("log", "--all"), "signed by nobody") })
		h.until("the old message is put back", func() bool { return strings.Contains(gitOut(t, remote, "show", "main:"+old.Path.RepoPath()), "100") })
		if m := h.messageWith("the budget is"); !strings.Contains(m.Body, "100") {
			t.Errorf("%s shows the old message as %q", h.status().Host, m.Body)
		}
		for _, m := range h.log() {
			switch {
			case strings.Contains(m.Body, "signed by the wrong key") && m.Signature != protocol.SignatureRefused:
				t.Errorf("%s believes the wrong key: %s", h.status().Host, m.Signature)
			case strings.Contains(m.Body, "signed by nobody") && m.Signature != protocol.SignatureUnverified:
				t.Errorf("%s believes nobody's signature: %s", h.status().Host, m.Signature)
			}
		}
		for _, word := range []string{
			"refused " + at(1, 0xf0e1).String() + ": it is signed with another key than that of the host white",
			"refused " + early.String() + ": it joins as white with the key " + public + ", but white has the key " + ownKey,
		} {
			h.until("status tells: "+word, func() bool { return strings.Contains(h.must("status"), word) })
		}
		if out, err := h.try("record", "verify"); err == nil || !strings.Contains(err.Error(), at(1, 0xf0e1).String()) && !strings.Contains(out, at(1, 0xf0e1).String()) {
			t.Errorf("%s: record verify: %v: %s", h.status().Host, err, out)
		}
		h.until("the host files are put right", func() bool {
			files := gitOut(t, remote, "show", "main:hosts/white.md", "main:hosts/black.md")
			return strings.Contains(files, ownKey) && !strings.Contains(files, public) && !strings.Contains(files, "cli")
		})
	}
	// The first host that sees a change puts it right. Another host may fetch both at once, and
	// then has nothing to tell.
	for _, word := range []string{
		"of mallory changed " + old.Path.RepoPath(),
		"hosts/white.md holds another key than the record gives to white: " + public + " is ignored, " + ownKey + " counts",
		"hosts/black.md states a command for quiet: the node of black has not written it, and no host runs it",
	} {
		white.until("one status tells: "+word, func() bool {
			return strings.Contains(white.must("status"), word) || strings.Contains(black.must("status"), word)
		})
	}
	black.must("hey", "quiet", "touch what you like")
	white.must("hey", "shout", "--wait", "20s", "are you there?")
	if _, err := os.Stat(pwned); err == nil {
		t.Error("a command from the record was run")
	}
}

// quickFetch lets the node look at the remote five times a second.
func (h *storyHost) quickFetch() {
	h.t.Helper()
	text, err := os.ReadFile(h.home.Config())
	if err == nil {
		err = os.WriteFile(h.home.Config(), []byte(strings.Replace(string(text), "fetch_interval: 10s", "fetch_interval: 200ms", 1)), 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// messageWith returns the first message of the record that contains this text.
func (h *storyHost) messageWith(text string) control.Message {
	h.t.Helper()
	for _, m := range h.log() {
		if strings.Contains(m.Body, text) {
			return m
		}
	}
	h.t.Fatalf("no message says %q", text)
	return control.Message{}
}

// keyInFile returns the key that a host file states.
func (h *storyHost) keyInFile(file string) string {
	h.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		h.t.Fatal(err)
	}
	says, err := protocol.ParseHostFile(data)
	if err != nil {
		h.t.Fatal(err)
	}
	return says.Key
}
