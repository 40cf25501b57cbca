package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/homes"
)

// pushedFiles are what somebody who may push can do to files that a start reads, one of each kind
// first. `refused` says what a node answers to it; "" if the record can be used all the same.
var pushedFiles = []struct{ name, script, refused string }{
	{"another version", "echo 5.1 >upstream/CROSSTALK-VERSION", `upstream/CROSSTALK-VERSION says "5.1`},
	{"no version", "git rm -q upstream/CROSSTALK-VERSION", ""},
	{"a name to be configured", "sed -i.bak 's/^name: .*/name: CONFIGURE/' local/CROSSTALK.md", "name or email in its local/CROSSTALK.md is still to be configured"},
	{"an identity without a form", "echo hello >local/CROSSTALK.md", "it has no frontmatter"},
	{"another fleet", "sed -i.bak 's/^fleet: .*/fleet: other/' local/CROSSTALK.md", `belongs to the fleet "other"`},
	{"hosts as a file", "rm -r hosts; echo x >hosts", ""},
	{"other files", "rm .gitattributes upstream/JITTER.md; mkdir .gitattributes; echo x >.gitattributes/x; echo '# base: -1' >upstream/JITTER.md", ""},
	{"the version as a folder", "git rm -q upstream/CROSSTALK-VERSION; mkdir upstream/CROSSTALK-VERSION; echo 5.0 >upstream/CROSSTALK-VERSION/x", ""},
	{"the version as a link", "rm upstream/CROSSTALK-VERSION; ln -s CROSSTALK.md upstream/CROSSTALK-VERSION", ""},
	{"upstream as a file", "rm -r upstream; echo 5.0 >upstream", ""},
	{"an identity that is no YAML", "printf -- '---\\nname: [\\n---\\n' >local/CROSSTALK.md", "its frontmatter is not YAML"},
	{"no fleet, and one that cannot be read", "sed -i.bak '/^fleet: /d' local/CROSSTALK.md; echo hello >local/PARLEY.md", "local/PARLEY.md of the record: it has no frontmatter"},
	{"the identity as a folder", "git rm -q local/CROSSTALK.md; mkdir -p local/CROSSTALK.md; echo x >local/CROSSTALK.md/x", ""},
	{"local as a file", "rm -r local; echo x >local", ""},
	{"a host file as a folder", "rm -r hosts; mkdir -p hosts/oracle-world.md; echo x >hosts/oracle-world.md/x", ""},
	{"a host file without a form", "head -c 3000000 /dev/zero >hosts/oracle-world.md; echo '---' >hosts/other.md", ""},
	{"data as a file", "rm -r data; echo x >data", ""},
	{"channels as a file", "rm -r data/channels; echo x >data/channels", ""},
	{"memories as a file", "rm -r data/memories; echo x >data/memories", ""},
	{"actors that cannot be read", "rm -r upstream/actors local/actors; echo x >upstream/actors; mkdir local/actors; echo '---' >local/actors/a.md", ""},
}

// It prevents: one file that somebody pushes keeps every host of the fleet from starting again, for
// ever; or a host writes into a record of another version or another's.
func TestAPushedFileKeepsNoNodeDown(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	scratch.Unraced(t)
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh")
	}
	for _, test := range pushedFiles[:scratch.Rounds(7, len(pushedFiles))] {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			remote := bareRemote(t)
			home := initHome(t, func(o *homes.Options) { o.Remote = remote })
			clone := cloneOf(t, remote)
			n, stop := runNode(t, home)
			eventually(t, "all is pushed", func() bool { s := n.record.Status(); return s.RemoteTip == s.Tip && s.Unrecorded == 0 })
			byHand := func(script string) {
				t.Helper()
				git(t, clone, "pull", "--quiet", "--rebase")
				cmd := exec.Command("sh", "-c", script+"; find . -name '*.bak' -delete; git add -A && git commit --quiet -m 'by hand'")
				cmd.Dir = clone
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v: %s", script, err, out)
				}
				git(t, clone, "push", "--quiet")
			}
			byHand(test.script)
			tip := shownTip(t, remote)
			err := n.record.Fetch(t.Context())
			if test.refused == "" && err != nil {
				t.Errorf("it is not taken in: %v", err)
			}
			if test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused) || !strings.Contains(err.Error(), "by alice")) {
				t.Errorf("a running node says %v", err)
			}
			stop()
			n, _ = runNode(t, home)
			m := say(t, n, "all", "still here")
			if test.refused != "" {
				eventually(t, "status says why, and what to do", func() bool {
					trouble := troubleView(n.record.Status())
					return trouble != nil && trouble.Kind == string(gitsync.KindUnusable) && strings.Contains(trouble.Text, test.refused) && strings.Contains(trouble.Advice, "git revert")
				})
				if got := shownTip(t, remote); got != tip {
					t.Errorf("something was pushed into it: %s, not %s", got, tip)
				}
				git(t, clone, "revert", "--no-edit", "HEAD")
				git(t, clone, "push", "--quiet")
				if err := n.record.Fetch(t.Context()); err != nil { // a node looks by itself after a pause
					t.Error(err)
				}
			}
			eventually(t, "what was said is on the remote", func() bool { return shown(t, remote, m.Path.RepoPath()) != "" })
			if why := n.record.Status().Trouble.Text; why != "" {
				t.Errorf("there is still trouble: %s", why)
			}
		})
	}
}

func shownTip(t *testing.T, remote string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(remote, "refs", "heads", "main"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}
