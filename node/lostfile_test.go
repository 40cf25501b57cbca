package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// explode makes a file of its own of every object of a repository.
func explode(t *testing.T, repo string) {
	t.Helper()
	folder := filepath.Join(repo, "objects", "pack")
	packs, err := filepath.Glob(filepath.Join(folder, "*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	away := t.TempDir()
	for _, pack := range packs {
		if err := os.Rename(pack, filepath.Join(away, filepath.Base(pack))); err != nil {
			t.Fatal(err)
		}
	}
	emptyFolder(t, folder)
	for _, pack := range packs {
		data, err := os.Open(filepath.Join(away, filepath.Base(pack)))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "-C", repo, "unpack-objects", "-q")
		cmd.Stdin = data
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git unpack-objects: %v: %s", err, out)
		}
		_ = data.Close()
	}
}

// noMessages are the objects of main that are no messages and hold none, by their paths.
func noMessages(t *testing.T, repo string) map[string]string {
	t.Helper()
	objects := map[string]string{}
	var messages []string
	for line := range strings.Lines(gitSays(t, repo, "ls-tree", "-r", "-t", "main")) {
		about, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		objects[path] = strings.Fields(about)[2]
		if _, err := protocol.ParsePath(path); err == nil {
			messages = append(messages, path)
		}
	}
	for path := range objects {
		if slices.ContainsFunc(messages, func(m string) bool { return m == path || strings.HasPrefix(m, path+"/") }) {
			delete(objects, path)
		}
	}
	return objects
}

// homeOfBooks makes a home with files of every kind that is no message.
func homeOfBooks(t *testing.T, remote string) (configs.Home, protocol.Path) {
	t.Helper()
	home := initHome(t, func(o *homes.Options) { o.Remote = remote })
	n, stop := runNode(t, home)
	defer stop()
	addExec(t, n, "echo", "cat")
	if _, err := control.AddMemory.Ask(t.Context(), n, control.AddMemoryRequest{Subject: "style", Body: "keep it short", As: "nat"}); err != nil {
		t.Fatal(err)
	}
	if _, err := control.NewChannel.Ask(t.Context(), n, control.NewChannelRequest{Name: "plans"}); err != nil {
		t.Fatal(err)
	}
	if _, err := control.ActorProfile.Ask(t.Context(), n, control.ProfileRequest{Name: "echo", File: "---\nname: echo\ndescription: says it again\n---\n\nSay it again.\n"}); err != nil {
		t.Fatal(err)
	}
	m := say(t, n, "echo", "said before")
	answerTo(t, n, m.Path)
	eventually(t, "all is recorded", func() bool { s := n.record.Status(); return s.Unrecorded == 0 && (remote == "" || s.Unpushed == 0) })
	return home, m.Path
}

// One object of a file that is no message is lost, or a folder of such files. It prevents: the node
// does not start again, or runs no agent for ever, or makes nothing anew of what it can.
func TestStartWithoutAFileThatIsNoMessage(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	scratch.Unraced(t)
	home, said := homeOfBooks(t, "")
	explode(t, home.Record())
	for path, hash := range noMessages(t, home.Record()) {
		t.Run(strings.ReplaceAll(path, "/", "_"), func(t *testing.T) {
			copied := configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
			if err := os.CopyFS(copied.Dir, os.DirFS(home.Dir)); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(copied.Dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(copied.Record(), "objects", hash[:2], hash[2:])); err != nil {
				t.Fatal(err)
			}
			n, stop := runNodeWith(t, Options{Home: copied, Version: "test", Moved: true})
			defer stop()
			if m, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: said.String()}); err != nil || m.Body != "said before" {
				t.Errorf("the message before reads %q, %v", m.Body, err)
			}
			if _, err := control.ActorProfile.Ask(t.Context(), n, control.ProfileRequest{Name: "late", File: "---\nname: late\ndescription: comes after\n---\n\nLate.\n"}); err != nil {
				t.Errorf("a file cannot be written: %v", err)
			}
			warns := func(part string) bool { return warned(t, n, part) }
			switch p, isFolder := protocol.ParseChannelFilePath(path); {
			case strings.HasPrefix(path, "data/channels/") && !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".gitkeep"):
				if !warns("no agent is run: ") || !warns("("+path+"/)") { // there may have been messages
					t.Error("status does not say which folder is lost")
				}
				return
			case isFolder || strings.HasPrefix(path, "data/memories/2") || path == "local/actors/echo.md":
				if !warns("("+path+")") || warns("no agent is run") {
					t.Errorf("of %s status says something else", p)
				}
			case path == "local" || path == "local/actors" || path == "hosts" || path == "data/memories":
				if !warns("("+path+"/)") || warns("no agent is run") {
					t.Error("status does not say which folder is lost")
				}
			default: // it is made anew
				eventually(t, "nothing is lost", func() bool { return !warns("lost") })
				if data, ok, err := n.record.ReadFile(path); !ok && strings.Contains(path, ".") || err != nil {
					t.Errorf("it is there: %v: %q, %v", ok, data, err)
				}
			}
			answerTo(t, n, say(t, n, "echo", "said after").Path)
		})
	}
}

// Several files that are no messages are lost at once. It prevents: each of them has all that is lost
// noted and logged again; and a rebuild writes no cache though no message is lost.
func TestManyLostFilesAreToldOnce(t *testing.T) {
	home, _ := homeOfBooks(t, "")
	explode(t, home.Record())
	gone := 0
	for path, hash := range noMessages(t, home.Record()) {
		if strings.HasPrefix(path, "data/memories/2") || path == "local/actors/echo.md" || strings.HasSuffix(path, "/CHANNEL.md") {
			gone++
			if err := os.Remove(filepath.Join(home.Record(), "objects", hash[:2], hash[2:])); err != nil {
				t.Fatal(err)
			}
		}
	}
	var log strings.Builder
	done, err := Rebuild(t.Context(), Options{Home: home, Log: zerolog.New(zerolog.SyncWriter(&log))}, false, nil)
	if err != nil || gone < 3 || len(done.Lost) != gone {
		t.Fatalf("%d are gone, rebuilt %+v, %v", gone, done, err)
	}
	if told := strings.Count(log.String(), "the disk has lost a part of the record"); told != 1 {
		t.Errorf("it was logged %d times:\n%s", told, log.String())
	}
	if len(archives(t, home)) != 1 {
		t.Error("no cache was written")
	}
}

// A file that is no message was not pushed yet when the disk lost it. It prevents: nothing is
// pushed any more, because git wants all that main names.
func TestALostFileThatWasNotPushed(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	home, _ := homeOfBooks(t, remote)
	if err := os.Rename(remote, remote+".away"); err != nil {
		t.Fatal(err)
	}
	n, stop := runNode(t, home)
	if _, err := control.NewChannel.Ask(t.Context(), n, control.NewChannelRequest{Name: "later"}); err != nil {
		t.Fatal(err)
	}
	said := say(t, n, "echo", "said meanwhile")
	answerTo(t, n, said.Path)
	stop()
	lost := strings.Fields(gitSays(t, home.Record(), "diff", "--name-only", "--diff-filter=A", "origin/main", "main", "--", "data/channels/*/CHANNEL.md"))
	if len(lost) != 1 {
		t.Fatal(lost)
	}
	hash := strings.TrimSpace(gitSays(t, home.Record(), "rev-parse", "main:"+lost[0]))
	explode(t, home.Record())
	if err := os.Remove(filepath.Join(home.Record(), "objects", hash[:2], hash[2:])); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(remote+".away", remote); err != nil {
		t.Fatal(err)
	}
	n, stop = runNode(t, home)
	defer stop()
	eventually(t, "it is pushed", func() bool { return n.record.Place(said.Path) == gitsync.Pushed })
	if !warned(t, n, lost[0]) {
		t.Error("status does not name what is lost")
	}
}

// Bytes of the journal are damaged while the node is down. It prevents: messages that were
// acknowledged are gone, and status says nothing; or it says so for ever.
func TestStatusNamesWhatTheJournalLost(t *testing.T) {
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	n, stop := runNode(t, home)
	addExec(t, n, "echo", "cat")
	if err := os.Rename(n.cfg.Remote, n.cfg.Remote+".away"); err != nil {
		t.Fatal(err)
	}
	said := say(t, n, "echo", "it may be lost")
	answerTo(t, n, said.Path)
	stop()
	explode(t, home.Record())
	if err := os.RemoveAll(filepath.Join(home.Record(), "objects")); err != nil { // only the journal has it
		t.Fatal(err)
	}
	if err := os.Rename(n.cfg.Remote+".away", n.cfg.Remote); err != nil {
		t.Fatal(err)
	}
	segments, err := filepath.Glob(filepath.Join(home.Dir, "journal", "*.log"))
	if err != nil || len(segments) == 0 {
		t.Fatal(segments, err)
	}
	for _, segment := range segments {
		data, err := os.ReadFile(segment)
		if err != nil {
			t.Fatal(err)
		}
		if at := strings.Index(string(data), "it may be lost"); at > 0 {
			data[at] ^= 1
			if err := os.WriteFile(segment, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2 {
		n, stop = runNode(t, home)
		if !warned(t, n, "parts of the journal") || !warned(t, n, said.Path.String()) {
			s, _ := control.ShowStatus.Ask(t.Context(), n)
			t.Errorf("status says %q", s.Warned)
		}
		stop()
	}
	if _, err := Rebuild(t.Context(), Options{Home: home, Log: zerolog.Nop()}, true, nil); err != nil {
		t.Fatal(err)
	}
	n, stop = runNode(t, home)
	defer stop()
	if warned(t, n, "of the journal") {
		t.Error("it was accepted, and status still says it")
	}
}
