package fleet

import (
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/protocol"
)

// redacts has a human of a host redact a file, signed by a key where there is one. `with` changes the
// message before its host signs it.
func (d *decisions) redacts(h *testHost, human, file, signed string, key nkeys.KeyPair, with func(*protocol.Message)) protocol.Path {
	d.Helper()
	r := protocol.Redaction{File: file, Reason: "a token"}
	m := protocol.Message{
		From: human, To: []protocol.Address{{Name: human, Host: h.alias.String()}}, Type: protocol.TypeText, Act: protocol.ActRedact, Human: human, Body: protocol.Redact.Format(r),
	}
	if key != nil {
		var err error
		about := protocol.HumanDecision{RecordID: testRecord, Human: protocol.Name(human), Host: h.alias, Act: protocol.ActRedact, Reason: protocol.Redaction{File: signed, Reason: r.Reason}.Decides()}
		if m.Hsig, err = about.Sign(key); err != nil {
			d.Fatal(err)
		}
	}
	if with != nil {
		with(&m)
	}
	return d.say(h, Draft{Channel: d.state.system, Message: m})
}

func (d *decisions) talks(h *testHost, act protocol.Act, body string) string {
	return d.say(h, Draft{Channel: protocol.DeriveChannel(testRecord, "k", "m"), Message: protocol.Message{
		From: "zoe", To: []protocol.Address{{Name: "m", Host: "a"}}, Type: protocol.TypeText, Act: act, Body: body,
	}}).RepoPath()
}

func (d *decisions) hidden(what, file string, want string) {
	d.Helper()
	r, _ := d.state.Redactions.OfFile(file)
	by := ""
	if r.By != "" {
		by = r.By + "@" + r.Host.String()
	}
	if by != want {
		d.Errorf("%s: it is redacted by %q, want %q", what, by, want)
	}
}

// It prevents: whoever can write into the record hides what others said, or a text that is redacted
// is shown on hosts that heard of it in another order. R75.
func TestWhoMayRedactWhat(t *testing.T) {
	d := newDecisions(t)
	ours, theirs := d.key("nat's key"), d.key("somebody's key")
	said := func() string { return d.talks(d.b, protocol.ActHey, "the token is …") }

	one := said()
	d.redacts(d.a, "nat", one, one, nil, nil)
	d.hidden("by the founder without a key", one, "")
	if err := d.give(d.a, "nat", ours, nil); err != nil {
		t.Fatal(err)
	}
	d.redacts(d.a, "nat", one, one, nil, nil)
	d.hidden("by the founder, unsigned", one, "")
	d.redacts(d.a, "nat", one, one, theirs, nil)
	d.hidden("by the founder, signed by another key", one, "")
	d.redacts(d.a, "nat", one, said(), ours, nil)
	d.hidden("by the founder, signed for another message", one, "")
	d.redacts(d.a, "m", one, one, nil, nil)
	d.hidden("by an agent of the founder", one, "")
	d.redacts(d.b, "k", one, one, nil, nil)
	d.hidden("by an agent of the host that wrote it", one, "")
	d.redacts(d.b, "zoe", one, one, nil, func(m *protocol.Message) { m.Unattended = true })
	d.hidden("by nobody knows whom", one, "")
	d.redacts(d.b, "zoe", one, one, nil, func(m *protocol.Message) { m.Human = "" })
	d.hidden("by somebody who names no human", one, "")
	d.redacts(d.b, "zoe", one, one, nil, nil)
	d.hidden("by the host that wrote it", one, "zoe@b")
	d.redacts(d.a, "nat", one, one, ours, nil)
	d.hidden("the first one stays", one, "zoe@b")

	two := said()
	d.redacts(d.a, "nat", two, two, ours, nil)
	d.hidden("by the founder, signed", two, "nat@a")

	for _, act := range []protocol.Act{protocol.ActPolicy, protocol.ActAgree, protocol.ActFailed, protocol.ActRedact, "unknown"} {
		deed := d.talks(d.b, act, "the token is …")
		d.redacts(d.b, "zoe", deed, deed, nil, nil)
		d.redacts(d.a, "nat", deed, deed, ours, nil)
		d.hidden("words of "+string(act), deed, "")
	}

	memory := protocol.Memory{File: "20260523T190000000Z-b2c3d4e5.md", From: "k", Subject: "the token", Tags: []string{"token"}, Timestamp: d.at, Body: "it is …"}
	file := protocol.MemoryPath(memory.File)
	d.redacts(d.b, "zoe", file, file, nil, nil)
	d.state.Memories.Set(memory) // it comes later
	d.hidden("a memory of an agent of that host", file, "zoe@b")
	if m, _ := d.state.Memories.In(memory.File); m.Body != "[redacted by zoe@b on 2026-05-23: a token]" || m.Subject == memory.Subject || m.Tags != nil {
		t.Errorf("the memory is shown as %+v", m)
	}
	shown := d.state.Redactions.Shown(file, []byte("the token"))
	if strings.Contains(string(shown), "token is") || !strings.Contains(string(shown), "[redacted by zoe@b") {
		t.Errorf("its file is shown as %s", shown)
	}
	memory.File, memory.From = "20260523T190000001Z-b2c3d4e5.md", "m"
	file = protocol.MemoryPath(memory.File)
	d.state.Memories.Set(memory)
	d.redacts(d.b, "zoe", file, file, nil, nil)
	d.hidden("a memory of an agent of another host", file, "")
}

// The message, two redactions of it and the key of one of them come in any order: all hosts hide the
// same for the same reason.
func TestRedactionsInAnyOrder(t *testing.T) {
	d := newDecisions(t)
	ours := d.key("nat's key")
	known := len(d.files)
	file := d.talks(d.b, protocol.ActHey, "the token is …")
	if err := d.give(d.a, "nat", ours, nil); err != nil {
		t.Fatal(err)
	}
	d.redacts(d.a, "nat", file, file, ours, nil)
	d.redacts(d.b, "zoe", file, file, nil, nil)
	want, _ := d.state.Redactions.OfFile(file)
	if want.By != "nat" {
		t.Fatalf("it is redacted by %+v", want)
	}
	for _, order := range permutations(len(d.files) - known) {
		s := d.empty()
		fold(t, s, d.files[:known])
		for _, i := range order {
			fold(t, s, d.files[known+i:known+i+1])
			s.Redactions.OfFile(file) // what was found then must not stay
		}
		if got, _ := s.Redactions.OfFile(file); got != want {
			t.Errorf("in the order %v: %+v, want %+v", order, got, want)
		}
	}
}
