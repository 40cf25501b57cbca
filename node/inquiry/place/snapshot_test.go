package place

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// gitIn runs git in a folder and returns what it prints.
func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=n@h", "-c", "init.defaultBranch=main", "-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes a work tree of git with one commit of these files.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	gitIn(t, dir, "init", "--quiet")
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	gitIn(t, dir, "add", "--all", "--force")
	gitIn(t, dir, "commit", "--quiet", "--message", "first")
	return dir
}

// listing returns the files of a folder, sorted, each with its text.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		text, err := os.ReadFile(path)
		all = append(all, filepath.ToSlash(name)+"="+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// named is what somebody asks for who may name all but the node's home.
func named(t *testing.T, in string) Ask {
	t.Helper()
	return Ask{In: in, Home: t.TempDir()}
}

// taken makes a snapshot below a base of its own, and returns it with what is in it.
func taken(t *testing.T, in string) (Source, string) {
	t.Helper()
	base := t.TempDir()
	s, err := Snapshot(context.Background(), base, named(t, in))
	if err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(snapshots(base)); err != nil || len(entries) != 1 {
		t.Errorf("beside the snapshot there is something left: %v, %v", entries, err)
	}
	return s, listing(t, s.Dir)
}

// For each file, the hash covers its bytes, whether it is a program, and where it is.
func TestHash(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "b.txt"), "b")
	write(t, filepath.Join(dir, "a", "run"), "#!")
	write(t, filepath.Join(dir, "a.txt"), "")
	mark := "-"
	if err := os.Chmod(filepath.Join(dir, "a", "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		mark = "x"
	}
	want := fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%x - a.txt\n%x %s a/run\n%x - b.txt\n",
		sha256.Sum256(nil), sha256.Sum256([]byte("#!")), mark, sha256.Sum256([]byte("b")))))
	s, _ := taken(t, dir)
	if s.Hash != want || s.In != dir || filepath.Base(s.Dir) != want {
		t.Errorf("%+v, want %s", s, want)
	}
	if again, _ := taken(t, dir); again.Hash != want {
		t.Errorf("a second time it is %s", again.Hash)
	}
	write(t, filepath.Join(dir, "b.txt"), "B")
	if changed, _ := taken(t, dir); changed.Hash == want {
		t.Error("another file has the same hash")
	}
}

// A snapshot of a folder takes its plain files. It takes nothing that leads out of the folder, and
// no repository, whose settings could have a member's git start programs.
func TestSnapshotOfFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "sub/b.txt", ".hidden", "sub/.git/config", "other/.GIT"} {
		write(t, filepath.Join(dir, name), name)
	}
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "s")
	_ = os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link"))
	_ = os.Symlink(outside, filepath.Join(dir, "folder"))
	special(t, filepath.Join(dir, "pipe"))
	if _, got := taken(t, dir); got != ".hidden=.hidden a.txt=a.txt sub/b.txt=sub/b.txt" {
		t.Errorf("taken: %s", got)
	}
}

// In a work tree of git, what git ignores stays out, as keys mostly are. What was changed or added
// since the last commit is in.
func TestSnapshotOfWorkTree(t *testing.T) {
	dir := repository(t, map[string]string{".gitignore": ".env\n", "a.txt": "old", "gone.txt": "x", "sub/c.txt": "c"})
	write(t, filepath.Join(dir, ".env"), "KEY=1")
	write(t, filepath.Join(dir, "a.txt"), "new")
	write(t, filepath.Join(dir, "sub", "new.txt"), "n")
	write(t, filepath.Join(dir, "nested", "file"), "n")
	gitIn(t, filepath.Join(dir, "nested"), "init", "--quiet")
	if err := os.Remove(filepath.Join(dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	if _, got := taken(t, dir); got != ".gitignore=.env\n a.txt=new sub/c.txt=c sub/new.txt=n" {
		t.Errorf("taken: %s", got)
	}
	if _, got := taken(t, filepath.Join(dir, "sub")); got != "c.txt=c new.txt=n" {
		t.Errorf("taken of a folder in it: %s", got)
	}
}

// It prevents: if git cannot say what it ignores, everything is taken, also keys.
func TestSnapshotWhereGitFails(t *testing.T) {
	dir := repository(t, map[string]string{".gitignore": ".env\n"})
	write(t, filepath.Join(dir, ".env"), "KEY=1")
	write(t, filepath.Join(dir, ".git", "HEAD"), "broken")
	if _, err := Snapshot(context.Background(), t.TempDir(), named(t, dir)); err == nil || !strings.Contains(err.Error(), "git cannot say which files of "+dir+" count") {
		t.Errorf("it was taken: %v", err)
	}
}

// The settings of a folder's repository name programs that git starts. None of these programs is
// started.
func TestSnapshotStartsNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its programs are shell scripts")
	}
	started := filepath.Join(t.TempDir(), "started")
	script := filepath.Join(t.TempDir(), "evil")
	write(t, script, "#!/bin/sh\necho $0 >>"+started+"\ncat\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	// The filter stands in the settings of the user, so that a clone has it too.
	global := filepath.Join(t.TempDir(), "gitconfig")
	write(t, global, "[filter \"evil\"]\n\tsmudge = "+script+"\n\tclean = "+script+"\n\tprocess = "+script+"\n")
	t.Setenv("GIT_CONFIG_GLOBAL", global)
	dir := repository(t, map[string]string{".gitattributes": "* filter=evil text eol=crlf ident\n", "a.txt": "$Id$\nb\n"})
	for key, value := range map[string]string{"core.fsmonitor": script, "core.hooksPath": filepath.Dir(script), "protocol.ext.allow": "always", "core.sshCommand": script} {
		gitIn(t, dir, "config", key, value)
	}
	for _, hook := range []string{"post-index-change", "post-checkout", "reference-transaction"} {
		write(t, filepath.Join(dir, ".git", "hooks", hook), "#!/bin/sh\necho hook >>"+started+"\n")
		if err := os.Chmod(filepath.Join(dir, ".git", "hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Remove(started) // preparing the repository has started something
	const want = ".gitattributes=* filter=evil text eol=crlf ident\n a.txt=$Id$\nb\n"
	if _, got := taken(t, dir); got != want {
		t.Errorf("taken of the folder: %q", got)
	}
	if _, got := taken(t, "file://"+dir+"@main"); got != want {
		t.Errorf("taken of the commit: %q", got)
	}
	if text, err := os.ReadFile(started); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("programs were started: %s, %v", text, err)
	}
}

// A commit is the same however it is named. The record names the whole commit.
func TestSnapshotOfCommit(t *testing.T) {
	dir := repository(t, map[string]string{"a.txt": "1", "bin/run": "#!"})
	first := gitIn(t, dir, "rev-parse", "HEAD")
	gitIn(t, dir, "tag", "--annotate", "--message", "one", "v1")
	gitIn(t, dir, "branch", "feature/one")
	write(t, filepath.Join(dir, "a.txt"), "2")
	gitIn(t, dir, "add", "a.txt")
	gitIn(t, dir, "update-index", "--chmod=+x", "bin/run")
	gitIn(t, dir, "commit", "--quiet", "--message", "second")
	write(t, filepath.Join(dir, "a.txt"), "not committed")
	repo := "file://" + filepath.ToSlash(dir)
	var hash string
	for _, name := range []string{"v1", "feature/one", first, first[:8], "main~1"} {
		s, got := taken(t, repo+"@"+name)
		if s.In != repo+"@"+first || got != "a.txt=1 bin/run=#!" || hash != "" && s.Hash != hash {
			t.Errorf("%s: %+v with %s", name, s, got)
		}
		hash = s.Hash
	}
	second := gitIn(t, dir, "rev-parse", "HEAD")
	for _, in := range []string{repo, repo + "@main", dir + "@main"} {
		s, got := taken(t, in)
		info, err := os.Stat(filepath.Join(s.Dir, "bin", "run"))
		if !strings.HasSuffix(s.In, "@"+second) || got != "a.txt=2 bin/run=#!" || err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o555 {
			t.Errorf("%s: %+v with %s, %v, %v", in, s, got, info, err)
		}
	}
	for in, want := range map[string]string{
		repo + "@none":                     "has no commit none",
		repo + "@":                         `"" names no commit`,
		repo + "@--upload-pack=x":          `"--upload-pack=x" names no commit`,
		"--upload-pack=touch x;@main":      "begins with a dash",
		"ext::sh -c touch% x@main":         "has git run a program",
		"some/where@main":                  "neither a git URL nor an absolute path",
		"https://n:secret@host/repo@main":  "holds a password",
		"https://host/repo?token=abc@main": "holds a password",
		dir + "/none":                      "cannot clone",
		repo + "/none@main":                "cannot clone",
	} {
		_, err := Snapshot(context.Background(), t.TempDir(), named(t, in))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "abc") {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

// Nothing of a commit leads out of the folder: no link, no other repository, and no name that only
// objects of git can hold.
func TestSnapshotOfHostileCommit(t *testing.T) {
	dir := repository(t, map[string]string{"a.txt": "a"})
	object := gitIn(t, dir, "rev-parse", "HEAD:a.txt")
	var tree strings.Builder
	for _, entry := range []string{
		"100644 blob " + object + "\t..", "100644 blob " + object + "\t.git", "100644 blob " + object + "\tplain", "120000 blob " + object + "\tlink",
		"160000 commit " + gitIn(t, dir, "rev-parse", "HEAD") + "\tmodule", "040000 tree " + gitIn(t, dir, "rev-parse", "HEAD^{tree}") + "\t.Git",
		"040000 tree " + gitIn(t, dir, "rev-parse", "HEAD^{tree}") + "\tsub",
	} {
		tree.WriteString(entry + "\n")
	}
	mktree := exec.Command("git", "-C", dir, "mktree")
	mktree.Stdin = strings.NewReader(tree.String())
	out, err := mktree.Output()
	if err != nil {
		t.Skipf("this git makes no such tree: %v", err)
	}
	commit := gitIn(t, dir, "commit-tree", "-m", "hostile", strings.TrimSpace(string(out)))
	gitIn(t, dir, "branch", "hostile", commit)
	if _, got := taken(t, "file://"+dir+"@hostile"); got != "plain=a sub/a.txt=a" {
		t.Errorf("taken: %s", got)
	}
}

// tooMany fills a folder with more files than are taken.
func tooMany(t *testing.T, dir string) {
	t.Helper()
	for i := range maxFiles + 1 {
		write(t, filepath.Join(dir, fmt.Sprint(i%100), fmt.Sprint(i)), "")
	}
}

// tooLarge puts a file into a folder that has more bytes than are taken.
func tooLarge(t *testing.T, dir string) {
	t.Helper()
	write(t, filepath.Join(dir, "large"), "")
	if err := os.Truncate(filepath.Join(dir, "large"), maxBytes+1); err != nil {
		t.Fatal(err)
	}
}

// A folder with too much is refused before it is copied. An empty folder is refused too.
func TestSnapshotBounds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fill func(dir string)
		want string
	}{
		"many":  {func(dir string) { tooMany(t, dir) }, "more than 20000 files"},
		"large": {func(dir string) { tooLarge(t, dir) }, "more than 512 MiB"},
		"empty": {func(string) {}, "has no files"},
		"none":  {func(dir string) { _ = os.Remove(dir) }, "cannot clone"},
	} {
		dir := t.TempDir()
		test.fill(dir)
		if _, err := Snapshot(context.Background(), t.TempDir(), named(t, dir)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	entry := func(size int, name string) string {
		return fmt.Sprintf("100644 blob %040d %7d\t%s\x00", 1, size, name)
	}
	for list, want := range map[string]string{
		entry(0, strings.Repeat("a", maxEntry)): "a name of more than 4096 bytes", strings.Repeat("040000 tree 00       -\ta\x00", maxListing/20): "more than 32 MiB of names",
		strings.Repeat(entry(0, "a"), maxFiles+1): "more than 20000 files", entry(maxBytes+1, "a"): "more than 512 MiB", "": "it has no files",
		"160000 commit 00       -\tmodule\x00": "it has no files", "100644 blob 00       x\ta\x00": "git lists",
	} {
		if _, err := readTree(strings.NewReader(list)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", list, err, want)
		}
	}
}

// Another host gets the same files by the same commit, or says that it does not get them.
func TestFetch(t *testing.T) {
	dir := repository(t, map[string]string{"a.txt": "1"})
	gitIn(t, dir, "config", "http.receivepack", "false")
	execPath := gitIn(t, dir, "--exec-path")
	server := httptest.NewServer(&cgi.Handler{
		Path: filepath.Join(execPath, "git-http-backend"), Env: []string{"GIT_PROJECT_ROOT=" + filepath.Dir(dir), "GIT_HTTP_EXPORT_ALL=1", "PATH=" + os.Getenv("PATH")},
	})
	t.Cleanup(server.Close)
	if _, err := os.Stat(filepath.Join(execPath, "git-http-backend")); err != nil {
		t.Skip("this git serves no HTTP")
	}
	ctx, here, there := context.Background(), t.TempDir(), t.TempDir()
	s, err := Snapshot(ctx, here, named(t, server.URL+"/"+filepath.Base(dir)+"@main"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Fetch(ctx, there, named(t, s.In), s.Hash)
	if err != nil || got != filepath.Join(snapshots(there), s.Hash) || listing(t, got) != "a.txt=1" {
		t.Fatalf("%s, %v", got, err)
	}
	if _, err := Fetch(ctx, there, named(t, s.In), strings.Repeat("0", 64)); err == nil || !strings.Contains(err.Error(), "here it is another one than where the inquiry began") {
		t.Errorf("of another hash: %v", err)
	}
	// A member that runs as the node's user could change the files that are kept.
	kept := filepath.Join(got, "a.txt")
	if err := os.Chmod(kept, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, kept, "changed")
	if got, err = Fetch(ctx, there, named(t, s.In), s.Hash); err != nil || listing(t, got) != "a.txt=1" {
		t.Errorf("of what was changed: %v", err)
	}
	server.Close()
	if _, err := Fetch(ctx, there, named(t, s.In), s.Hash); err != nil {
		t.Errorf("what is kept was asked for again: %v", err)
	}
	if _, err := Fetch(ctx, t.TempDir(), named(t, s.In), s.Hash); err == nil || !strings.HasPrefix(err.Error(), "cannot get "+s.In+": cannot clone") {
		t.Errorf("of a repository that is away: %v", err)
	}
	// A folder on this machine is taken only by a host that has the same folder already: its hash
	// says so.
	folder, _ := taken(t, dir)
	if _, err := Fetch(ctx, there, named(t, dir), folder.Hash); err != nil {
		t.Errorf("the same folder: %v", err)
	}
	write(t, filepath.Join(dir, "a.txt"), "changed")
	if _, err := Fetch(ctx, t.TempDir(), named(t, dir), folder.Hash); err == nil || !strings.Contains(err.Error(), "it is another one") {
		t.Errorf("a folder that was changed: %v", err)
	}
}

// A snapshot that no inquiry needs is removed, with what a crash left.
func TestTidy(t *testing.T) {
	base, ctx := t.TempDir(), context.Background()
	asked := func() map[string]bool { t.Error("asked what is needed"); return nil }
	if err := Tidy(base, asked); err != nil {
		t.Error(err)
	}
	var all [2]Source
	for i := range all {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "file"), fmt.Sprint(i))
		var err error
		if all[i], err = Snapshot(ctx, base, named(t, dir)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(snapshots(base), "new-1", "half"), "")
	if err := Tidy(base, func() map[string]bool { return map[string]bool{all[1].Hash: true} }); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(snapshots(base)); err != nil || len(entries) != 1 || entries[0].Name() != all[1].Hash {
		t.Errorf("there are %v, %v", entries, err)
	}
}

func TestSplitCommit(t *testing.T) {
	for in, want := range map[string][2]string{
		"https://host/r@v1":        {"https://host/r", "v1"},
		"https://host/r":           {"https://host/r", "HEAD"},
		"https://nat@host/r":       {"https://nat@host/r", "HEAD"},
		"https://nat@host/r@a/b":   {"https://nat@host/r", "a/b"},
		"git@host:team/r":          {"git@host:team/r", "HEAD"},
		"git@host:team/r@v1":       {"git@host:team/r", "v1"},
		"/srv/r.git@0123":          {"/srv/r.git", "0123"},
		`C:\r@v1`:                  {`C:\r`, "v1"},
		"ssh://git@host:22/r.git":  {"ssh://git@host:22/r.git", "HEAD"},
		"ssh://git@host/r.git@v@1": {"ssh://git@host/r.git@v", "1"},
	} {
		if repo, commit := splitCommit(in); repo != want[0] || commit != want[1] {
			t.Errorf("%s: %s and %s", in, repo, commit)
		}
	}
}

// A few trees that name each other twice stand for more files and folders than there is memory. It
// prevents: git's list of them is read whole before it is bounded, or has no end because the folders
// are empty.
func TestSnapshotOfTreeBomb(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	for name, test := range map[string]struct{ leaf, want string }{
		"files": {"100644 blob %[1]s\ta\n", "more than 20000 files"}, "links": {"120000 blob %[1]s\ta\n", "more than 32 MiB of names"}, "folders": {"", "more than 32 MiB of names"},
	} {
		dir := repository(t, map[string]string{"a": "a"})
		list := test.leaf
		if list != "" {
			list = fmt.Sprintf(list, strings.TrimSpace(gitIn(t, dir, "rev-parse", "HEAD:a")))
		}
		tree := ""
		for range 40 {
			cmd := Git(t.Context(), dir, "mktree")
			cmd.Stdin = strings.NewReader(list)
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			tree = strings.TrimSpace(string(out))
			list = fmt.Sprintf("040000 tree %s\ta\n040000 tree %[1]s\tb\n", tree)
		}
		gitIn(t, dir, "branch", "bomb", strings.TrimSpace(gitIn(t, dir, "commit-tree", "-m", "bomb", tree)))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := Snapshot(ctx, t.TempDir(), named(t, dir+"@bomb")); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// FuzzReadTree checks that no file lands outside of the folder, whatever git lists.
func FuzzReadTree(f *testing.F) {
	f.Add("100644 blob 0123 5\ta.txt\x00100755 blob 45 6\tbin/run\x00120000 blob 6 1\tlink\x00")
	f.Add("100644 blob 0123 5\t../../etc/passwd\x00")
	f.Add("100644 blob 0123 5\ta/.git/config\x00100644 blob 0123 -5\t/abs")
	f.Fuzz(func(t *testing.T, list string) {
		blobs, err := readTree(strings.NewReader(list))
		if err != nil {
			return
		}
		for _, b := range blobs {
			if !filepath.IsLocal(b.name) || strings.Contains("/"+strings.ToLower(filepath.ToSlash(b.name))+"/", "/.git/") || b.size < 0 || b.size > maxBytes {
				t.Errorf("%+v of %q", b, list)
			}
		}
	})
}

// Members that begin together take the same files at once. It prevents: one removes what another
// has just put there, while it is copied for a member.
func TestSnapshotTakenTwiceAtOnceStays(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		base := t.TempDir()
		var work sync.WaitGroup
		for range 8 {
			work.Go(func() {
				s, err := Snapshot(t.Context(), base, named(t, folder))
				if err != nil {
					t.Error(err)
					return
				}
				for range 20 {
					if got, err := hashOf(s.Dir); err != nil || got != s.Hash {
						t.Errorf("what was taken is gone: %v", err)
						return
					}
				}
			})
		}
		work.Wait()
	}
}

// It prevents: a repository that somebody else wrote has git print as much as it likes into memory.
func TestWhatGitPrintsIsBounded(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"long": strings.Repeat("\n", maxListing+1)})
	if _, err := RunGit(t.Context(), dir, "cat-file", "blob", "HEAD:long"); err == nil || !strings.Contains(err.Error(), "git prints more than 32 MiB") {
		t.Error(err)
	}
}
