package keeper

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"golang.org/x/sys/unix"
)

// groupPrefix begins the names of the control groups of commands.
const groupPrefix = "parley-run-"

// Group is the control group of one command. All that the command starts is in it. Only somebody
// who may write to the groups above it can leave it.
type Group struct {
	path   string
	folder *os.File
	sets   Limits // the limits that the group itself sets
}

// endGroupWithin is how long the system may take to end a group.
const endGroupWithin = 2 * time.Second

// NewGroup makes the control group of the command with the given id, below this process's own group
// or beside it. It sets those of the limits that groups can have there. It returns nil if the
// system has no such groups or does not allow them.
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

// places are the folders below which this process may make control groups, as far as the system
// allows it: the folder of its own group and, last, that of the unit which was delegated to it.
func places() []string {
	own, ok := ownFolder()
	if !ok {
		return nil
	}
	all := []string{own}
	// A group that has processes as members gives no limits to the groups below it. So a service to
	// which its unit is delegated runs in a group below that of the unit.
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

// end kills everything in the group, and removes it.
func (g *Group) end() {
	endGroup(g.path)
	_ = g.folder.Close()
}

// endGroup kills everything in a group, and removes it.
func endGroup(path string) {
	// If the system cannot kill a group, the keeper has already ended all that it could.
	_ = os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0)
	for began := time.Now(); ; {
		err := removeGroups(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) || time.Since(began) > endGroupWithin {
			return
		}
		<-time.After(time.Millisecond) // only spares the processor
	}
}

// removeGroups removes a group, and the groups that the command has made in it.
func removeGroups(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			_ = removeGroups(filepath.Join(path, entry.Name())) // else this group cannot be removed either
		}
	}
	return unix.Rmdir(path)
}

// Remove removes a group in which nothing was started.
func (g *Group) Remove() {
	_ = unix.Rmdir(g.path)
	_ = g.folder.Close()
}

// leftAfter is from what age on nobody is about to start a command in a group any more.
const leftAfter = time.Minute

// EndLeft ends what a killed starter has left. First it makes all stopped keepers go on, because a
// stopped keeper does not notice that its starter is gone. That includes keepers of others, and
// does no harm to those whose starter lives. Then it ends what runs in the control groups of
// commands whose ids begin with `prefix`, wherever these groups are, and removes the groups: their
// starter and their keepers were killed. It also removes other groups beside this process's own in
// which nothing has run for some time. Such groups take almost no room, so what cannot be removed
// stays.
func EndLeft(prefix string) {
	for _, pid := range process.All() {
		if isKeeper := func() bool { return Asked(process.Arguments(pid)) }; isKeeper() {
			process.Signal(pid, unix.SIGCONT, isKeeper)
		}
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
		entries, _ := os.ReadDir(place) // if there is none, there is nothing to remove
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

// unused reports whether nothing runs in a group now, and nothing ran a moment ago.
func unused(entry fs.DirEntry, path string) bool {
	info, err := entry.Info()
	if err != nil || time.Since(info.ModTime()) < leftAfter {
		return false
	}
	state, err := os.ReadFile(filepath.Join(path, "cgroup.events"))
	return err == nil && strings.Contains(string(state), "populated 0")
}

// RunOf is the id of the command in whose control group a process is. It is "" if there is none, or
// if this process is in that group too.
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

func within(path, part string) bool { return slices.Contains(strings.Split(path, "/"), part) }

// groupOf is the path of a process's control group, below the root of all groups.
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

// ownFolder is the folder of this process's control group.
func ownFolder() (string, bool) {
	group, ok := groupOf("self")
	root := mountPoint()
	return filepath.Join(root, group), ok && root != ""
}

// mountPoint is the folder of the control groups (version 2); "" if there is none.
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
