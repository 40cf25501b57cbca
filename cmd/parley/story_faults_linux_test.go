package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// starve lets a running node open no further files for a moment.
func starve(h *storyHost, lasts time.Duration) {
	pid := h.up.Process.Pid
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	var before unix.Rlimit
	if err != nil || unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &before) != nil {
		return // it has ended
	}
	short := before
	short.Cur = uint64(len(open))
	_ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &short, nil) // it may have ended
	<-time.After(lasts)
	_ = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &before, nil)
}

// loseFile takes from the disk of a node that does not run the content of one file of its main that
// is no message and that the remote has too: else it would be lost for good. It returns the path of the
// file; "" if there is none.
func loseFile(t *testing.T, repo, remote string, random *rand.Rand) string {
	t.Helper()
	var files [][2]string // path and object
	for line := range strings.Lines(gitOut(t, repo, "ls-tree", "-r", "main")) {
		about, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if _, err := protocol.ParsePath(path); err != nil && !strings.HasPrefix(path, "data/conflicts/") {
			files = append(files, [2]string{path, strings.Fields(about)[2]})
		}
	}
	random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	at := slices.IndexFunc(files, func(file [2]string) bool {
		return exec.Command("git", "--git-dir", remote, "cat-file", "-e", file[1]).Run() == nil
	})
	if at < 0 {
		return ""
	}
	lost := files[at]
	name := lost[1]
	removed := os.Remove(filepath.Join(repo, "objects", name[:2], name[2:])) == nil
	indexes, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "*.idx"))
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range indexes {
		file, err := os.Open(index)
		if err != nil {
			continue
		}
		cmd := exec.Command("git", "show-index")
		cmd.Stdin = file
		out, err := cmd.Output()
		_ = file.Close()
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(out)) {
			fields := strings.Fields(line)
			if fields[1] != name {
				continue
			}
			at, err := strconv.ParseInt(fields[0], 10, 64)
			if err == nil {
				err = flipAt(strings.TrimSuffix(index, "idx")+"pack", at+4)
			}
			if err != nil {
				t.Fatal(err)
			}
			removed = true
		}
	}
	if !removed {
		return ""
	}
	return lost[0]
}

// flipAt turns over bits of a file.
func flipAt(path string, at int64) error {
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil || int64(len(data)) <= at {
		return err
	}
	data[at] ^= 0x55
	return os.WriteFile(path, data, 0o600)
}

// journalDamages are what may become of a file of the journal.
var journalDamages = []struct {
	name string
	do   func(path string, data []byte, random *rand.Rand) error
}{
	{"a bit", func(path string, data []byte, random *rand.Rand) error {
		data[random.IntN(len(data))] ^= 4
		return os.WriteFile(path, data, 0o600)
	}},
	{"truncated", func(path string, data []byte, random *rand.Rand) error {
		return os.Truncate(path, int64(random.IntN(len(data))))
	}},
	{"zeroed", func(path string, data []byte, random *rand.Rand) error {
		clear(data[random.IntN(len(data)):])
		return os.WriteFile(path, data, 0o600)
	}},
	{"removed", func(path string, _ []byte, _ *rand.Rand) error { return os.Remove(path) }},
}

// A node is killed while only its journal has some messages, and then bytes of the journal are
// damaged. It prevents: an acknowledged message is gone, and status says nothing of it; or one that
// is elsewhere is lost or doubled.
func TestChaosOfTheJournal(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	rounds := 2
	if os.Getenv("PARLEY_SOAK") != "" {
		rounds = 17
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	acknowledged, lost, doubled, silent := 0, 0, 0, 0
	for round := range rounds * len(journalDamages) {
		damage := journalDamages[round%len(journalDamages)]
		h := newStoryHost(t, "white", "--fleet", "chaos")
		h.start()
		h.must("agent", "add", "mawjs", "--inbox")
		var senders sync.WaitGroup
		var mu sync.Mutex // guards sent
		var sent []string
		enough := make(chan struct{})
		for sender := range 8 {
			senders.Go(func() { // ends with the node
				for i := 0; ; i++ {
					m, err := control.Send.Ask(t.Context(), h.client, control.SendRequest{As: "nat", To: []string{"mawjs"}, Body: fmt.Sprintf("message %d of %d", i, sender)})
					if err != nil {
						return
					}
					mu.Lock()
					if sent = append(sent, m.Path.String()); len(sent) == 200 {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		<-enough
		h.kill()
		senders.Wait()
		acknowledged += len(sent)
		segments, err := filepath.Glob(filepath.Join(h.home.Dir, "journal", "*.log"))
		if err != nil {
			t.Fatal(err)
		}
		for _, segment := range segments {
			data, err := os.ReadFile(segment)
			if err == nil && len(data) > 0 {
				err = damage.do(segment, bytes.Clone(data), random)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		h.start()
		there := map[string]int{}
		err = control.Log.Ask(t.Context(), h.client, control.LogRequest{Everything: true}, func(m control.Message) error {
			there[m.Path.String()]++
			return nil
		})
		s, statusErr := control.ShowStatus.Ask(t.Context(), h.client)
		if err != nil || statusErr != nil {
			t.Fatal(err, statusErr)
		}
		gone := 0
		for _, path := range sent {
			switch count := there[path]; {
			case count == 0:
				gone++
			case count > 1:
				doubled++
			}
		}
		lost += gone
		said := slices.ContainsFunc(s.Warned, func(w string) bool { return strings.Contains(w, "parts of the journal") })
		if gone > 0 && !said {
			silent++
			t.Errorf("%s: %d messages are gone, and status says %q", damage.name, gone, s.Warned)
		}
		if _, err := control.Send.Ask(t.Context(), h.client, control.SendRequest{As: "nat", To: []string{"mawjs"}, Body: "it goes on"}); err != nil {
			t.Error(err)
		}
		h.kill()
	}
	t.Logf("%d acknowledged, %d lost with damaged bytes, %d doubled; status kept silent about a loss %d times", acknowledged, lost, doubled, silent)
	if doubled > 0 {
		t.Errorf("%d messages are doubled", doubled)
	}
}
