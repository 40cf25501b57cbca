package keeper

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// enable allows limits for the groups below a folder, as far as the system permits it. It leaves
// out a group that has processes. There the system refuses some limits. It accepts others, such as
// that of processes, but then lets no process into the groups below. The root of all groups has no
// type, and may have both.
func (l Limits) enable(place string) {
	file := filepath.Join(place, "cgroup.subtree_control")
	on, err := os.ReadFile(file)
	if err != nil {
		return
	}
	members, err := os.ReadFile(filepath.Join(place, "cgroup.procs"))
	if _, noRoot := os.Stat(filepath.Join(place, "cgroup.type")); noRoot == nil && (err != nil || len(members) > 0) {
		return
	}
	for controller, wanted := range map[string]bool{"memory": l.Memory > 0, "pids": l.Processes > 0} {
		if wanted && !strings.Contains(" "+strings.TrimSpace(string(on))+" ", " "+controller+" ") {
			_ = os.WriteFile(file, []byte("+"+controller), 0) // if it fails, the other limits of the system are used
		}
	}
}

// limit sets those of the limits that this group can have.
func (g *Group) limit(l Limits) {
	put := func(file string, value int) bool {
		f, err := os.OpenFile(filepath.Join(g.path, file), os.O_WRONLY|os.O_TRUNC, 0)
		if err != nil {
			return false
		}
		_, err = f.WriteString(strconv.Itoa(value))
		return f.Close() == nil && err == nil
	}
	if l.Memory > 0 && put("memory.max", l.Memory) {
		g.sets.Memory = l.Memory
		put("memory.swap.max", 0)  // a system without swap has no such file
		put("memory.oom.group", 1) // everything that the command has started ends with it
	}
	if l.Processes > 0 && put("pids.max", l.Processes) {
		g.sets.Processes = l.Processes
	}
}

// SetsAll reports whether the group itself sets those of the limits that a group can set.
func (g *Group) SetsAll(l Limits) bool {
	return g.sets.Memory == l.Memory && g.sets.Processes == l.Processes
}

// rest are the limits that the command has to be given because its group does not set them. `g` may
// be nil.
func (g *Group) rest(l Limits) Limits {
	if g != nil && g.sets.Memory > 0 {
		l.Memory = 0
	}
	if g != nil && g.sets.Processes > 0 {
		l.Processes = 0
	}
	return l
}

// cpu is how much processor time the group has used.
func (g *Group) cpu() time.Duration {
	return time.Duration(g.count("cpu.stat", "usage_usec")) * time.Microsecond
}

// hit is the limit that ended what ran in the group; "" if no limit did.
func (g *Group) hit(l Limits) string {
	const events = "memory.events"
	switch {
	case g.sets.Memory > 0 && g.count(events, "oom") > 0 && g.count(events, "oom_kill") > 0: // not by the memory limit of the whole machine
		return LimitMemory
	case l.CPU > 0 && g.cpu() >= l.CPU:
		return LimitCPU
	}
	return ""
}

// count is one of the numbers in a file of the group; 0 if it is not there.
func (g *Group) count(file, name string) int64 {
	data, err := os.ReadFile(filepath.Join(g.path, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			n, _ := strconv.ParseInt(fields[1], 10, 64) // the system writes only numbers
			return n
		}
	}
	return 0
}
