package keeper

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"golang.org/x/sys/unix"
)

// groupPrefix begins the names of the control groups of commands.
const groupPrefix = "parley-run-"

// Group is the control group of one command. All that comes of it is in there, and
// only who may write to the groups above can leave.
type Group struct {
	path   string
	folder *os.File
	sets   Limits // those that it sets itself
}

// endGroupWithin is how long the system may take to end a group.
const endGroupWithin = 2 * time.Second

// NewGroup makes the control group of the command with that id, below this process's own
// or beside it. It gives it those of the limits that groups can have there. It is nil
// where the system has no such groups or does not allow them.
func NewGroup(id string, l Limits) *Group {
	var best *Group
	for _, place := range places() {
		g := newGroup(place, id, l)
		if g == nil {
			continue
		}
		if best != nil {
			best.Remove()
		}
		if best = g; g.SetsAll(l) {
			return g
		}
	}
	return best
}

// places are the folders below which this process may make control groups, as far as the
// system allows it: that of its own and, last, that of the unit which was left to it.
func places() []string {
	own, ok := ownFolder()
	if !ok {
		return nil
	}
	all := []string{own}
	// A group of which processes are members gives those below it no limits. So a
	// service whose unit is delegated to it runs in a group below that of the unit.
	switch unit := filepath.Dir(own); filepath.Ext(unit) {
	case ".service", ".scope":
		all = append(all, unit)
	}
	return all
}

func newGroup(place, id string, l Limits) *Group {
	l.enable(place)
	path := filepath.Join(place, groupPrefix+id)
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		_ = os.Remove(path)
		return nil
	}
	g := &Group{path: path, folder: folder}
	g.limit(l)
	return g
}

// end kills all that is in the group and removes it.
func (g *Group) end() {
	endGroup(g.path)
	_ = g.folder.Close()
}

// endGroup kills all that is in a group and removes it.
func endGroup(path string) {
	// A system that cannot kill a group has the keeper, which has ended all it could.
	_ = os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0)
	for began := time.Now(); ; {
		err := removeGroups(path)
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

// EndLeft ends what a killed starter has left. A keeper that somebody has stopped does not
// see that its starter is gone; it goes on, whose ever it is, which harms none that has
// one. What runs in the control groups of commands whose ids begin so, wherever they are, is
// ended, and they are removed: their starter was killed, and their keepers too. It also
// removes groups of others beside this process's own in which nothing has run for some
// time. They take up next to nothing, so what cannot be removed stays.
func EndLeft(prefix string) {
	for _, pid := range process.All() {
		process.Signal(pid, unix.SIGCONT, func() bool { return Asked(process.Arguments(pid)) })
	}
	left := map[string]bool{}
	mine := groupPrefix + prefix
	own, _ := groupOf("self")
	root := mountPoint()
	for _, pid := range process.All() {
		path, _ := groupOf(strconv.Itoa(pid))
		for at := path; root != "" && len(at) > 1; at = filepath.Dir(at) {
			if name := filepath.Base(at); strings.HasPrefix(name, mine) && !within(own, name) {
				left[filepath.Join(root, at)] = true
			}
		}
	}
	for _, place := range places() {
		entries, _ := os.ReadDir(place) // none: there is nothing to remove
		for _, entry := range entries {
			path := filepath.Join(place, entry.Name())
			if strings.HasPrefix(entry.Name(), mine) || strings.HasPrefix(entry.Name(), groupPrefix) && unused(entry, path) {
				left[path] = true
			}
		}
	}
	for path := range left {
		endGroup(path)
	}
}

// unused reports whether nothing runs in a group, nor did a moment ago.
func unused(entry fs.DirEntry, path string) bool {
	info, err := entry.Info()
	if err != nil || time.Since(info.ModTime()) < leftAfter {
		return false
	}
	state, err := os.ReadFile(filepath.Join(path, "cgroup.events"))
	return err == nil && strings.Contains(string(state), "populated 0")
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
	root := mountPoint()
	return filepath.Join(root, group), ok && root != ""
}

// mountPoint is where control groups (version 2) lie as folders, "" for nowhere.
func mountPoint() string {
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		return ""
	}
	defer mounts.Close()
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		const point, kind = 1, 2
		if fields := strings.Fields(lines.Text()); len(fields) > kind && fields[kind] == "cgroup2" {
			return fields[point]
		}
	}
	return ""
}
