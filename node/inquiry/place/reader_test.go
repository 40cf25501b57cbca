package place

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// byAgent takes what an agent names whose folder is `dir`. Whatever comes of it, nothing else stays.
func byAgent(t *testing.T, dir, home, in string) (text string, err error) {
	t.Helper()
	base := t.TempDir()
	s, err := Snapshot(t.Context(), base, Ask{In: in, Home: home, By: &Reader{Dir: dir}})
	want := 0
	if err == nil {
		text, want = listing(t, s.Dir), 1
	}
	if entries, _ := os.ReadDir(snapshots(base)); len(entries) != want {
		t.Errorf("%s: it leaves behind %v", in, entries)
	}
	return text, err
}

// It prevents: an agent names a folder, a commit or an address elsewhere, and the node reads it with
// its own rights, or tells by its words what there is.
func TestAgentNamesWhatIsItsOwn(t *testing.T) {
	dir := repository(t, map[string]string{".gitignore": "*.key\n!shown.key\n/build/\n", "a.txt": "a", "sub/b.txt": "b"})
	write(t, filepath.Join(dir, "new.txt"), "n")
	write(t, filepath.Join(dir, "sub", "my.key"), "secret")
	write(t, filepath.Join(dir, "sub", "shown.key"), "shown")
	write(t, filepath.Join(dir, "build", "out"), "o")
	gitIn(t, dir, "branch", "feature")
	other := repository(t, map[string]string{"secret.txt": "secret"})
	home := t.TempDir()
	write(t, filepath.Join(home, "keys", "host"), "seed")
	for name, to := range map[string]string{"out": other, "up": "..", "same": "sub", "file": filepath.Join(other, "secret.txt")} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil && runtime.GOOS != "windows" {
			t.Fatal(err)
		}
	}
	all := "a.txt=a new.txt=n sub/b.txt=b sub/shown.key=shown"
	commit := ".gitignore=*.key\n!shown.key\n/build/\n a.txt=a sub/b.txt=b"
	for in, want := range map[string]string{
		dir: ".gitignore=*.key\n!shown.key\n/build/\n " + all, filepath.Join(dir, "sub"): "b.txt=b shown.key=shown", dir + "/sub/../sub/.": "b.txt=b shown.key=shown",
		dir + "@main": commit, dir + "@feature": commit, dir + "@HEAD": commit,
	} {
		if got, err := byAgent(t, dir, home, in); err != nil || got != want {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	for _, in := range []string{
		other, other + "@main", filepath.Dir(dir), home, filepath.Join(home, "keys"), filepath.Join(other, "none"), dir + "/../" + filepath.Base(other),
		filepath.Join(dir, "out"), filepath.Join(dir, "up"), filepath.Join(dir, "same"), filepath.Join(dir, "file"), filepath.Join(dir, "none"), filepath.Join(dir, "a.txt"),
		filepath.Join(dir, ".git"), filepath.Join(dir, "out") + "@main", dir + "@none", dir + "@", dir + "@--all", "sub", "", ".", "/", "@main",
		"file://" + dir + "@main", "file://" + other, "https://example.invalid/r@main", "git@example.invalid:r", "ssh://example.invalid/r", "ext::sh -c true", "https://n:p@example.invalid/r",
	} {
		if got, err := byAgent(t, dir, home, in); err != errNothing {
			t.Errorf("%s: %q, %v", in, got, err)
		}
	}
	if got, err := byAgent(t, "", home, dir); err != errNothing {
		t.Errorf("an agent without a folder: %q, %v", got, err)
	}
}

// It prevents: the folder of an agent, or what lies above it, has the node's home in it, and so its
// keys.
func TestNobodyNamesTheHome(t *testing.T) {
	dir := t.TempDir()
	home := filepath.Join(dir, "deep", ".parley")
	write(t, filepath.Join(dir, "deep", "a.txt"), "a")
	write(t, filepath.Join(dir, "beside", "b.txt"), "b")
	write(t, filepath.Join(home, "keys", "host"), "seed")
	gitIn(t, home, "init", "--quiet", "--bare", "record.git")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(home, link); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	if got, err := byAgent(t, dir, home, filepath.Join(dir, "beside")); err != nil || got != "b.txt=b" {
		t.Errorf("beside the home: %q, %v", got, err)
	}
	for _, in := range []string{
		dir, filepath.Join(dir, "deep"), home, filepath.Join(home, "keys"), link, filepath.Join(link, "keys"), filepath.Join(home, "record.git"),
		filepath.Join(home, "record.git@main"), filepath.Join(link, "record.git@main"),
	} {
		if got, err := byAgent(t, dir, home, in); err != errNothing {
			t.Errorf("an agent, %s: %q, %v", in, got, err)
		}
		if got, err := byAgent(t, filepath.Join(home, "keys"), home, in); err != errNothing {
			t.Errorf("an agent whose folder is in the home, %s: %q, %v", in, got, err)
		}
		for _, in := range []string{in, "file://" + in, "file://" + strings.Replace(in, "parley", "%70arley", 1)} {
			base := t.TempDir()
			_, err := Snapshot(t.Context(), base, Ask{In: in, Home: home})
			if err == nil || !strings.Contains(err.Error(), "the home of this node") && !strings.HasSuffix(in, dir) && !strings.HasSuffix(in, "deep") {
				t.Errorf("the operator, %s: %v", in, err)
			}
			if entries, _ := os.ReadDir(snapshots(base)); len(entries) > 0 {
				t.Errorf("the operator, %s: it leaves behind %v", in, entries)
			}
		}
	}
}

// It prevents: the settings and files of a repository that an agent made have git read what lies
// elsewhere, with the node's rights, or start a program.
func TestAgentsRepositoryLeadsNowhere(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it makes links")
	}
	other := repository(t, map[string]string{"secret.txt": "secret"})
	secret := gitIn(t, other, "rev-parse", "HEAD")
	started := filepath.Join(t.TempDir(), "started")
	for name, prepare := range map[string]func(dir string){
		"alternates": func(dir string) {
			write(t, filepath.Join(dir, ".git", "objects", "info", "alternates"), filepath.Join(other, ".git", "objects")+"\n")
		},
		"objects are a link": func(dir string) {
			_ = os.RemoveAll(filepath.Join(dir, ".git", "objects"))
			_ = os.Symlink(filepath.Join(other, ".git", "objects"), filepath.Join(dir, ".git", "objects"))
		},
		"a pack is a link": func(dir string) {
			gitIn(t, other, "gc", "--quiet")
			_ = os.RemoveAll(filepath.Join(dir, ".git", "objects", "pack"))
			_ = os.Symlink(filepath.Join(other, ".git", "objects", "pack"), filepath.Join(dir, ".git", "objects", "pack"))
		},
		"a file that names a repository": func(dir string) {
			_ = os.RemoveAll(filepath.Join(dir, ".git"))
			write(t, filepath.Join(dir, ".git"), "gitdir: "+filepath.Join(other, ".git")+"\n")
		},
		"a link to a repository": func(dir string) {
			_ = os.RemoveAll(filepath.Join(dir, ".git"))
			_ = os.Symlink(filepath.Join(other, ".git"), filepath.Join(dir, ".git"))
		},
		"commondir":  func(dir string) { write(t, filepath.Join(dir, ".git", "commondir"), filepath.Join(other, ".git")+"\n") },
		"a worktree": func(dir string) { gitIn(t, dir, "config", "core.worktree", other) },
		"programs": func(dir string) {
			script := filepath.Join(dir, "run")
			write(t, script, "#!/bin/sh\necho x >"+started+"\n")
			_ = os.Chmod(script, 0o755)
			for _, key := range []string{"core.fsmonitor", "core.sshCommand", "uploadpack.packObjectsHook", "core.alternateRefsCommand"} {
				gitIn(t, dir, "config", key, script)
			}
		},
	} {
		dir := repository(t, map[string]string{"a.txt": "a"})
		prepare(dir)
		if info, err := os.Lstat(filepath.Join(dir, ".git")); err == nil && info.IsDir() {
			write(t, filepath.Join(dir, ".git", "refs", "heads", "stolen"), secret+"\n")
		}
		for _, in := range []string{dir, dir + "@main", dir + "@stolen", dir + "@" + secret} {
			if got, err := byAgent(t, dir, t.TempDir(), in); strings.Contains(got, "secret") || err != nil && err != errNothing {
				t.Errorf("%s, %s: %q, %v", name, in, got, err)
			}
		}
		if _, err := os.Stat(started); err == nil {
			t.Errorf("%s: a program was started", name)
		}
	}
}

// It prevents: a folder that never ends, or is larger than what is taken, fills the disk or holds
// the node up, and stays where it was refused.
func TestAgentsFolderIsBounded(t *testing.T) {
	t.Parallel()
	deep := filepath.Join("d", strings.TrimSuffix(strings.Repeat("d/", maxDepth), "/"))
	for name, test := range map[string]struct {
		fill func(dir string)
		want string
	}{
		"many":  {func(dir string) { tooMany(t, dir) }, "more than 20000 files"},
		"large": {func(dir string) { tooLarge(t, dir) }, "more than 512 MiB"},
		"deep":  {func(dir string) { write(t, filepath.Join(dir, deep, "f"), "") }, "folders in each other"},
		"unreadable rules": {func(dir string) {
			write(t, filepath.Join(dir, ".git", "HEAD"), "")
			write(t, filepath.Join(dir, ".gitignore"), strings.Repeat("#", maxIgnore+1))
		}, "a .gitignore"},
		"pipes alone": {func(dir string) { special(t, filepath.Join(dir, "pipe")) }, errNothing.Error()},
	} {
		dir := t.TempDir()
		test.fill(dir)
		if _, err := byAgent(t, dir, t.TempDir(), dir); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.txt"), "a")
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Snapshot(ended, t.TempDir(), Ask{In: dir, Home: t.TempDir(), By: &Reader{Dir: dir}}); err == nil || errors.Is(err, errNothing) {
		t.Errorf("after its time: %v", err)
	}
}
