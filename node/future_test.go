package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// Plain mail dated 9999 is answered like any other. It prevents: a host that is
// dragged to the end of all times, where all it writes later stands too.
func TestMailFromTheYear9999DragsNobodyAlong(t *testing.T) {
	home := initHome(t, func(o *InitOptions) { o.Remote = bareRemote(t) })
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
	v, err := n.Verify(t.Context())
	named := slices.ContainsFunc(v.Findings, func(f control.Finding) bool {
		return f.Path == late && f.Kind == control.FindingFuture && !f.Wrong && strings.Contains(f.Text, "9999-12-31")
	})
	if err != nil || !named || v.Wrong > 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}
