package node

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Plain mail dated 9999 is answered like any other. It prevents: a host that is dragged to the end
// of all times, where all that it writes later stands too.
func TestMailFromTheYear9999DragsNobodyAlong(t *testing.T) {
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	fastFetch(t, home)
	n, stop := runNode(t, home)
	addExec(t, n, "shout", "tr a-z A-Z")
	clone := cloneOf(t, n.cfg.Remote)
	late := plainMail(t, clone, "aaaaaaaa-0000-4000-8000-000000000001", "99991231T235959000", "alice", "shout", "are you there")
	push(t, clone)
	answer := answerTo(t, n, awaitHas(t, n, late))
	stop()

	n, _ = runNode(t, home)
	word := say(t, n, "shout", "now")
	answerTo(t, n, word.Path)
	for _, m := range []control.Message{answer, word} {
		if off := time.Since(m.Timestamp); off.Abs() > time.Hour {
			t.Errorf("%s is dated %s", m.Path, m.Timestamp)
		}
	}
	all := everything(t, n)
	at := func(p string) int {
		return slices.IndexFunc(all, func(m control.Message) bool { return m.Path.String() == p })
	}
	if a, w, last := at(answer.Path.String()), at(word.Path.String()), at(late.String()); a > w || w > last {
		t.Errorf("the answer stands at %d, the next word at %d, the mail of 9999 at %d", a, w, last)
	}
	v, err := n.audits.Verify(t.Context())
	named := slices.ContainsFunc(v.Findings, func(f control.Finding) bool {
		return f.Path == late && f.Kind == control.FindingFuture && !f.Wrong && strings.Contains(f.Text, "9999-12-31")
	})
	if err != nil || !named || v.Wrong > 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// Mail that some key signed and dated 9998 is answered like any other. It prevents: its signature
// exempts it, and a host that has answered it once stands behind it for ever.
func TestSignedMailFromTheYear9998DragsNobodyAlong(t *testing.T) {
	t.Parallel()
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	addExec(t, n, "shout", "tr a-z A-Z")
	g := newGhost(t, n, "eve")
	join := g.join("mallory")
	g.now = time.Date(9998, 12, 31, 23, 59, 59, 0, time.UTC)
	late := g.sign(protocol.Message{From: "mallory", To: []protocol.Address{{Name: "shout"}}, Act: protocol.ActHey, Body: "are you there"},
		protocol.DeriveChannel(n.record.ID(), "mallory", "shout"))
	n.Receive([]gitsync.MessageFile{join, late}, byBus)
	answers := []control.Message{answerTo(t, n, late.Path)}
	for range 2 {
		answers = append(answers, answerTo(t, n, say(t, n, "shout", "now").Path))
		stop()
		n, stop = runNode(t, home)
	}
	all := everything(t, n)
	if last := all[len(all)-1]; last.Path != late.Path {
		t.Errorf("%s stands last, want the mail of 9998", last.Path)
	}
	for _, m := range answers {
		if off := time.Since(m.Timestamp); off.Abs() > time.Hour {
			t.Errorf("%s is dated %s", m.Path, m.Timestamp)
		}
	}
}

// Somebody who has a host's key can date a message at the end of all times. The host goes on
// writing when it is started anew, so that it can change its key. It prevents: a host that can say
// nothing any more, because no path comes after that one.
func TestThiefAtTheEndOfTimesSilencesNobody(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	say(t, n, protocol.All, "first") // of two hosts with one key, the host that wrote first stays
	thief := newGhost(t, n, n.cfg.Alias)
	thief.key, thief.now = n.signsWith.Load().Pair, time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC)
	thief.head.Last, thief.head.Suffix = thief.now, math.MaxUint32-1<<16
	n.Receive([]gitsync.MessageFile{thief.say("nat", "mine")}, byBus)
	stop()

	n, _ = runNode(t, home)
	for range 3 {
		if m := say(t, n, protocol.All, "here still"); time.Since(m.Timestamp).Abs() > time.Hour {
			t.Errorf("%s is dated %s", m.Path, m.Timestamp)
		}
	}
	if _, err := control.RotateKey.Ask(t.Context(), n, control.RotateRequest{Phrase: "rotate " + n.cfg.Alias.String()}); err != nil {
		t.Error(err)
	}
}
