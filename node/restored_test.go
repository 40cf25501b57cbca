package node

import (
	"os"
	"testing"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// A home is put back from a backup, in its own folder. It prevents: what the host writes first
// follows a message that another one follows already, so that its chain forks and its decisions are
// contested.
func TestARestoredHomeDoesNotForkItsChain(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	home := initHome(t, func(o *homes.Options) { o.Remote = remote })
	n, stop := runNode(t, home)
	addExec(t, n, "mawjs", "cat")
	say(t, n, "mawjs", "before the backup")
	stop()
	backup := t.TempDir()
	if err := os.CopyFS(backup, os.DirFS(home.Dir)); err != nil {
		t.Fatal(err)
	}
	n, stop = runNode(t, home)
	answerTo(t, n, say(t, n, "mawjs", "after the backup").Path)
	eventually(t, "all is pushed", func() bool { s := n.record.Status(); return s.Unrecorded+s.Unpushed == 0 })
	stop()
	emptyFolder(t, home.Dir)
	if err := os.CopyFS(home.Dir, os.DirFS(backup)); err != nil {
		t.Fatal(err)
	}
	n, stop = runNode(t, home)
	defer stop()
	say(t, n, "mawjs", "after the restore")
	eventually(t, "all is pushed", func() bool { s := n.record.Status(); return s.Unrecorded+s.Unpushed == 0 && s.Tip == s.RemoteTip })
	v, err := n.audits.Verify(t.Context())
	for _, f := range v.Findings {
		if f.Kind == control.FindingChain || err != nil {
			t.Errorf("verify finds %+v, %v", f, err)
		}
	}
}
