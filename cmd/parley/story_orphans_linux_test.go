package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/process"
)

// orphanMaker is a command that starts a process in a session of its own, whose parent ends, and a
// second process beneath that one. Each of the two notes its number. The command leaves its control
// group if it may.
const orphanMaker = `cd "$1" || exit 64
[ "$2" = stop ] && kill -STOP $PPID
for place in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	echo $$ 2>/dev/null >"$place/cgroup.procs"
done 2>/dev/null
setsid sh -c 'sleep 1000 & echo $! >grandchild.new; echo $$ >child; mv grandchild.new grandchild; wait' &
until [ -e grandchild ]; do sleep 0.01; done
exec sleep 1000
`

// alive reports whether a process runs.
func alive(pid int) bool {
	id, err := process.Find(pid)
	return err == nil && id.Alive()
}

// stopped reports whether no thread of a process goes on. One thread takes the signal that stops
// the process, while the others still run.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "stat"))
	return err == nil && len(tasks) > 0 && !slices.ContainsFunc(tasks, func(file string) bool {
		stat, err := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(stat), ") ")
		return err == nil && !strings.HasPrefix(rest, "T")
	})
}

// kill -9 of a node ends what its commands have started, also an orphan in another session. If the
// keepers are killed with the node, or were stopped, the next start ends it. That start also ends
// processes outside of the control groups of runs, which once went on for ever.
func TestAKilledNodeLeavesNoOrphans(t *testing.T) {
	t.Parallel()
	for _, keepers := range []string{"live", "are killed", "stop"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "orphans"), []byte(orphanMaker), 0o600); err != nil {
			t.Fatal(err)
		}
		h := newStoryHost(t, "white")
		h.start()
		h.must("agent", "add", "parent", "--attempts", "1", "--exec", "sh "+dir+"/orphans "+dir+" "+strings.Fields(keepers)[0])
		h.must("hey", "parent", "go", "--as", "nat")
		var pids []int
		h.until("it has left orphans", func() bool {
			pids = nil
			for _, name := range []string{"child", "grandchild"} {
				data, err := os.ReadFile(filepath.Join(dir, name))
				pid, _ := strconv.Atoi(strings.TrimSpace(string(data)))
				if err != nil || pid == 0 {
					return false
				}
				pids = append(pids, pid)
			}
			return true
		})
		t.Cleanup(func() {
			for _, pid := range pids {
				if argv := process.Arguments(pid); len(argv) > 0 && (argv[0] == "sh" || argv[0] == "sleep") {
					_ = syscall.Kill(pid, syscall.SIGKILL) // ends what the test has shown to be left
				}
			}
		})
		var kept []int
		for _, pid := range process.Children(h.up.Process.Pid) {
			if keeper.Asked(process.Arguments(pid)) {
				kept = append(kept, pid)
			}
		}
		switch keepers {
		case "are killed":
			killWithKeepers(t, h, kept)
		case "stop":
			// The command has stopped its keeper. Any node that starts on this machine, also in
			// another test, wakes the keeper again.
			h.until("its keeper has stopped", func() bool {
				for _, pid := range kept {
					_ = syscall.Kill(pid, syscall.SIGSTOP) // one that is gone needs none
				}
				return !slices.ContainsFunc(kept, func(pid int) bool { return !stopped(t, pid) })
			})
			fallthrough
		default:
			h.kill()
		}
		if keepers != "live" {
			for _, pid := range pids {
				switch {
				case alive(pid):
				case keepers == "stop":
					t.Logf("process %d ended with the keeper, which another node has woken", pid)
				default:
					t.Errorf("process %d ended with the keeper: this shows nothing", pid)
				}
			}
			h.start()
		}
		h.until("nothing is left where the keepers "+keepers, func() bool { return !slices.ContainsFunc(append(pids, kept...), alive) })
		if keepers == "live" {
			h.start()
		}
		h.until("its sender is told", func() bool { return strings.Contains(h.must("log", "--json", "-n", "0"), `"act":"failed"`) })
		h.stop()
	}
}

// killWithKeepers ends a node and the keepers of its commands with kill -9, before one of them sees
// that the other is gone.
func killWithKeepers(t *testing.T, h *storyHost, keepers []int) {
	t.Helper()
	if err := syscall.Kill(h.up.Process.Pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h.until("the node has stopped", func() bool { return stopped(t, h.up.Process.Pid) })
	for _, pid := range keepers {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	h.kill()
}
