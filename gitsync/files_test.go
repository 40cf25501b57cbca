package gitsync

import "testing"

// A profile called aux was written, and no clone on Windows could be made any more.
func TestNamesThatWindowsCannotStore(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	a := newHome(t, "a", remote)
	for _, file := range []string{"local/actors/aux.md", "hosts/Nul.md", "local/a:b.md", "local/x./y.md", "readme.MD"} {
		if err := a.WriteFile(t.Context(), file, []byte("x\n")); err == nil {
			t.Errorf("%s was written", file)
		}
	}
	old := gitOut(t, remote, "rev-parse", "main") // what others wrote is read, and may be changed
	tree := gitInput(t, remote, gitOut(t, remote, "ls-tree", "main")+"\n100644 blob "+gitInput(t, remote, "x\n", "hash-object", "-w", "--stdin")+"\taux.md\n", "mktree")
	gitOut(t, remote, "update-ref", "refs/heads/main", gitOut(t, remote, "commit-tree", "-m", "x", "-p", old, tree))
	a.sync(t)
	if err := a.WriteFile(t.Context(), "aux.md", []byte("y\n")); err != nil {
		t.Error(err)
	}
}
