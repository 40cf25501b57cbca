package node

import (
	"bytes"
	"compress/zlib"
	"crypto/rand"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// largePack returns a pack with a small file and a file of size bytes. The large file is a delta of
// the small one, so it is small in the pack too. largePack also returns the names of both.
func largePack(size int) (pack []byte, small, large string) {
	base := make([]byte, 0xffff)
	_, _ = rand.Read(base)
	times := size/len(base) + 1
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(base))), uint64(times*len(base)))
	for range times {
		delta = append(delta, 0b10110000, 0xff, 0xff) // copy the base from its beginning
	}
	var out bytes.Buffer
	out.Write([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x02"))
	entry := func(typ byte, base, data []byte) {
		head, rest := typ<<4|byte(len(data)&15), len(data)>>4
		for ; rest > 0; rest >>= 7 {
			out.WriteByte(head | 0x80)
			head = byte(rest & 0x7f)
		}
		out.WriteByte(head)
		out.Write(base)
		z := zlib.NewWriter(&out)
		_, _ = z.Write(data)
		_ = z.Close()
	}
	name := func(times int) []byte {
		sum := sha1.New()
		fmt.Fprintf(sum, "blob %d\x00", times*len(base))
		for range times {
			sum.Write(base)
		}
		return sum.Sum(nil)
	}
	entry(3, nil, base)
	entry(7, name(1), delta)
	sum := sha1.Sum(out.Bytes())
	return append(out.Bytes(), sum[:]...), hex.EncodeToString(name(1)), hex.EncodeToString(name(times))
}

// pushLarge brings files to the shared repository that are too large to be read. Anybody who can
// push may do that: it takes some kilobytes.
func pushLarge(t *testing.T, clone string, paths ...string) {
	t.Helper()
	pack, small, large := largePack(257 << 20)
	run := func(input []byte, args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = clone, bytes.NewReader(input)
		cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+filepath.Join(clone, ".git", "large"))
		out, err := cmd.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	steps := [][]string{{"fetch", "--quiet"}, {"read-tree", "origin/main"}, {"update-index", "--add", "--cacheinfo", "100644," + small + ",notes/small.bin"}}
	for _, path := range paths {
		steps = append(steps, []string{"update-index", "--add", "--cacheinfo", "100644," + large + "," + path})
	}
	if out, err := run(pack, "index-pack", "--stdin"); err != nil {
		t.Fatalf("index-pack: %v: %s", err, out)
	}
	eventually(t, "the push is taken", func() bool {
		for _, step := range steps {
			if out, err := run(nil, step...); err != nil {
				t.Fatalf("git %v: %v: %s", step, err, out)
			}
		}
		tree, err := run(nil, "write-tree")
		if err != nil {
			t.Fatal(tree, err)
		}
		commit, err := run(nil, "commit-tree", "-p", "origin/main", "-m", "large", tree)
		if err != nil {
			t.Fatal(commit, err)
		}
		_, err = run(nil, "push", "--quiet", "origin", commit+":main")
		return err == nil
	})
}

// Anybody who may push can bring files of hundreds of megabytes in a push of some kilobytes: as
// mail, as a host's file, in the place of a message. The node takes in all other files, runs its
// agents, names the large files, and starts again. It prevents: one push after which no node of the
// fleet starts, fetches or runs an agent, and each node calls its disk damaged.
func TestFilesTooLargeToBeRead(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	fastFetch(t, home)
	n, stop := runNodeWith(t, Options{Home: home, Version: "test"})
	git(t, n.cfg.Remote, "config", "receive.unpackLimit", "1") // the remote keeps what is pushed as it is
	addExec(t, n, "shout", "tr a-z A-Z")
	word := say(t, n, protocol.All, "before")
	eventually(t, "the word is pushed", func() bool { return n.record.Place(word.Path) == gitsync.Pushed })
	clone := cloneOf(t, n.cfg.Remote)
	mail := "data/channels/aaaaaaaa-0000-4000-8000-000000000001/2026/05/23/190100000Z-000a11ce.md"
	pushLarge(t, clone, mail, word.Path.RepoPath(), protocol.HostFilePath("large"))
	eventually(t, "the mail is named", func() bool {
		s, err := control.ShowStatus.Ask(t.Context(), n)
		return err == nil && strings.Contains(strings.Join(s.Warned, "\n"), mail[len("data/channels/"):])
	})
	stop()
	if err := os.RemoveAll(filepath.Join(home.Dir, "cache")); err != nil { // everything is read again
		t.Fatal(err)
	}

	n, _ = runNode(t, home)
	if answer := answerTo(t, n, say(t, n, "shout", "second").Path); answer.Body != "SECOND" {
		t.Errorf("the answer is %q", answer.Body)
	}
	if m, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: word.Path.String()}); err != nil || m.Body != "before" {
		t.Errorf("the word is %q, %v", m.Body, err)
	}
	v, err := n.audits.Verify(t.Context())
	found := ""
	for _, f := range v.Findings {
		found += string(f.Kind) + " " + f.Path.String() + f.File + ": " + f.Text + "\n"
	}
	for _, want := range []string{
		"unreadable " + mail[len("data/channels/"):] + ": it is no message: the file has more than 1048576 bytes",
		"hosts/large.md: it cannot be read: it has more than 1048576 bytes",
	} {
		if err != nil || !strings.Contains(found, want) || strings.Contains(found, "damaged") {
			t.Errorf("verify does not find %q alone, but\n%s%v", want, found, err)
		}
	}
}
