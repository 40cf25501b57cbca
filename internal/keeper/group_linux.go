package keeper

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// groupPrefix begins the names of the control groups of commands.
const groupPrefix = "parley-run-"

// Group is the control group of one command. All that comes of it is in there, and
// only who may write to the groups above can leave.
type Group struct {
	path   string
	folder *os.File
}

// endGroupWithin is how long the system may take to end a group.
const endGroupWithin = 2 * time.Second

// NewGroup makes the control group of the command with that id below this process's
// own. nil where the system has none of them or does not allow it.
func NewGroup(id string) *Group {
	own, ok := ownFolder()
	if !ok {
		return nil
	}
	path := filepath.Join(own, groupPrefix+id)
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		_ = os.Remove(path)
		return nil
	}
	return &Group{path: path, folder: folder}
}

// end kills all that is in the group and removes it.
func (g *Group) end() {
	// A system that cannot kill a group has the keeper, which has ended all it could.
	_ = os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0)
	defer g.folder.Close()
	for began := time.Now(); ; {
		err := removeGroups(g.path)
		if err == nil || errors.Is(err, fs.ErrNotExist) || time.Since(began) > endGroupWithin {
			return
		}
		<-time.After(time.Millisecond) // spares the processor only
	}
}

// removeGroups removes a group and those that the command has made in it.
func removeGroups(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			_ = removeGroups(filepath.Join(path, entry.Name())) // else this one cannot go either
		}
	}
	return unix.Rmdir(path)
}

// Remove removes a group that nothing was started in.
func (g *Group) Remove() {
	_ = unix.Rmdir(g.path)
	_ = g.folder.Close()
}

// leftAfter is how old a group is, at the least, that nobody is about to start a command in.
const leftAfter = time.Minute

// RemoveLeft removes the groups below this process's own in which nothing runs any
// more: those of commands whose starter was killed. They take up next to nothing, so
// what cannot be removed stays.
func RemoveLeft() {
	own, ok := ownFolder()
	if !ok {
		return
	}
	entries, err := os.ReadDir(own)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !strings.HasPrefix(entry.Name(), groupPrefix) || time.Since(info.ModTime()) < leftAfter {
			continue
		}
		path := filepath.Join(own, entry.Name())
		if state, err := os.ReadFile(filepath.Join(path, "cgroup.events")); err == nil && strings.Contains(string(state), "populated 0") {
			_ = removeGroups(path)
		}
	}
}

// RunOf is the id of the command in whose control group a process is, "" where it is
// in none but those that this process is in too.
func RunOf(pid string) string {
	path, ok := groupOf(pid)
	own, has := groupOf("self")
	if !ok || !has || path == own {
		return ""
	}
	below := path
	if rest, inside := strings.CutPrefix(path, strings.TrimSuffix(own, "/")+"/"); inside {
		below = rest
	}
	parts := strings.Split(below, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		if id, ok := strings.CutPrefix(parts[i], groupPrefix); ok && !within(own, parts[i]) {
			return id
		}
	}
	return ""
}

// within reports whether a path has that part.
func within(path, part string) bool {
	for _, one := range strings.Split(path, "/") {
		if one == part {
			return true
		}
	}
	return false
}

// groupOf is the path of a process's control group below the root of them.
func groupOf(pid string) (string, bool) {
	data, err := os.ReadFile("/proc/" + pid + "/cgroup")
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(data)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return path, true
		}
	}
	return "", false
}

// ownFolder is where this process's control group lies as a folder.
func ownFolder() (string, bool) {
	group, ok := groupOf("self")
	if !ok {
		return "", false
	}
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		return "", false
	}
	defer mounts.Close()
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		const point, kind = 1, 2
		if fields := strings.Fields(lines.Text()); len(fields) > kind && fields[kind] == "cgroup2" {
			return filepath.Join(fields[point], group), true
		}
	}
	return "", false
}
