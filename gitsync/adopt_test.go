package gitsync

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// older makes a repository with the record of another program, and a work tree of it.
func older(t *testing.T) (remote, work string) {
	t.Helper()
	remote, work = bareRemote(t), t.TempDir()
	gitOut(t, work, "init", "--quiet", "--initial-branch=main")
	writeFile(t, filepath.Join(work, "README"), "theirs\n")
	writeFile(t, filepath.Join(work, "data", "channels", "x"), "theirs\n")
	writeFile(t, filepath.Join(work, testPath(1, 1).RepoPath()), "a message\n")
	if err := os.Symlink("README", filepath.Join(work, "link")); err != nil {
		t.Fatal(err)
	}
	gitOut(t, work, "add", "-A")
	gitOut(t, work, "commit", "--quiet", "-m", "theirs")
	gitOut(t, work, "push", "--quiet", remote, "main")
	return remote, work
}

// What a record lacks is added in one commit. What is there stays as it is. A push of somebody else
// in that moment is not lost.
func TestInitAddsWhatAnAdoptedRecordLacks(t *testing.T) {
	t.Parallel()
	t.Run("git", testAdopt)
	t.Run("builtin", testAdopt)
}

func testAdopt(t *testing.T) {
	remote, work := older(t)
	root := gitOut(t, work, "rev-parse", "HEAD")
	asked := 0
	found, err := Init(t.Context(), Options{
		Dir: t.TempDir(), Remote: remote, Author: Author{Name: "a"}, Builtin: isBuiltin(t),
		Adopt: func(tree Tree) (map[string][]byte, error) {
			if asked++; asked == 1 {
				gitOut(t, work, "commit", "--quiet", "--allow-empty", "-m", "meanwhile")
				gitOut(t, work, "push", "--quiet", remote, "main")
			}
			var seen []string
			err := tree.Each(func(f TreeFile) error {
				data, err := f.Read()
				if f.Message.IsZero() != (f.Path != testPath(1, 1).RepoPath()) || len(data) == 0 {
					t.Errorf("%s is the message %s, %d bytes", f.Path, f.Message, len(data))
				}
				if f.Plain == (f.Path == "link") {
					t.Errorf("%s is plain: %v", f.Path, f.Plain)
				}
				seen = append(seen, f.Path)
				return err
			})
			slices.Sort(seen)
			wantSame(t, "files", seen, []string{"README", testPath(1, 1).RepoPath(), "data/channels/x", "link"})
			return map[string][]byte{versionFile: []byte("5.0\n"), "hosts/.gitkeep": nil}, err
		},
	}, nil)
	if err != nil || !found.Adopted || found.ID != root || asked != 2 {
		t.Fatalf("Init = %+v, %v; asked %d times", found, err, asked)
	}
	if got := strings.Fields(gitOut(t, remote, "log", "--format=%s", "main")); strings.Join(got, " ") != "add what a record needs: 2 files meanwhile theirs" {
		t.Errorf("the remote has %q", got)
	}
	if got := gitOut(t, remote, "diff", "--name-status", root, "main"); got != "A\thosts/.gitkeep\nA\t"+versionFile {
		t.Errorf("the remote differs by %q", got)
	}
	wantClean(t, remote)
}

// Nothing that is there can be replaced, not even by a file below a path that is a file. What is
// refused leaves the remote alone.
func TestInitAddsNothingInThePlaceOfSomething(t *testing.T) {
	t.Parallel()
	remote, work := older(t)
	root := gitOut(t, work, "rev-parse", "HEAD")
	refusal := errors.New("no")
	for name, c := range map[string]struct {
		add   string
		adopt error
		check error
		want  error
	}{
		"a file":                {add: "README", want: ErrForeign},
		"below a file":          {add: "README/x", want: ErrForeign},
		"a folder":              {add: "data", want: ErrForeign},
		"a link":                {add: "link", want: ErrForeign},
		"below a link":          {add: "link/x", want: ErrForeign},
		"refused":               {add: "x", adopt: refusal, want: refusal},
		"refused in the end":    {add: "x", check: refusal, want: refusal},
		"without its version":   {add: "x", want: ErrForeign},
		"a folder below others": {add: protocol.ChannelsDir, want: ErrForeign},
	} {
		dir := filepath.Join(t.TempDir(), "home")
		_, err := Init(t.Context(), Options{
			Dir: dir, Remote: remote, Author: Author{Name: "a"},
			Adopt: func(Tree) (map[string][]byte, error) {
				add := map[string][]byte{c.add: nil}
				if name != "without its version" {
					add[versionFile] = []byte("5.0\n")
				}
				return add, c.adopt
			},
			Check: func(func(string) ([]byte, bool, error)) error { return c.check },
		}, nil)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if got := gitOut(t, remote, "rev-parse", "main"); got != root {
			t.Errorf("%s: the remote is at %s", name, got)
		}
	}
}
