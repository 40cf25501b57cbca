package keeper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// groupLike makes a folder with the files of a control group whose command was ended.
func groupLike(t *testing.T, files map[string]string) *Group {
	t.Helper()
	g := &Group{path: t.TempDir()}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(g.path, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func (g *Group) wantFile(t *testing.T, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(g.path, name)); string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
	}
}

// A group sets the limits that it can set, and the command is given the rest.
func TestGroupLimits(t *testing.T) {
	all := Limits{Nice: 5, Memory: 1 << 31, CPU: time.Minute, Files: 64, Processes: 20}
	full := groupLike(t, map[string]string{"memory.max": "max", "memory.oom.group": "0", "pids.max": "max"})
	full.limit(all)
	full.wantFile(t, "memory.max", "2147483648")
	full.wantFile(t, "memory.oom.group", "1")
	full.wantFile(t, "pids.max", "20")
	if got, want := full.rest(all), (Limits{Nice: 5, CPU: time.Minute, Files: 64}); got != want || !full.SetsAll(all) {
		t.Errorf("the rest is %+v, want %+v", got, want)
	}
	bare := groupLike(t, nil)
	bare.limit(all)
	if got := bare.rest(all); got != all || bare.SetsAll(all) {
		t.Errorf("without controllers the rest is %+v, want all", got)
	}
	if entries, err := os.ReadDir(bare.path); err != nil || len(entries) > 0 {
		t.Errorf("files were made: %v, %v", entries, err)
	}
	if got := (*Group)(nil).rest(all); got != all {
		t.Errorf("without a group the rest is %+v, want all", got)
	}
}

// It prevents: pids is turned on in a group with processes, and then nothing can be started in the
// groups below it.
func TestControllersAreTurnedOn(t *testing.T) {
	const file, members, kind = "cgroup.subtree_control", "cgroup.procs", "cgroup.type"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nobody in it":        {map[string]string{file: "cpu io\n", members: "", kind: "domain\n"}, "+pids"},
		"on already":          {map[string]string{file: "cpu pids memory\n", members: "", kind: "domain\n"}, "cpu pids memory\n"},
		"a group of the node": {map[string]string{file: "cpu io\n", members: "12\n", kind: "domain\n"}, "cpu io\n"},
		"the root":            {map[string]string{file: "cpu io\n", members: "1\n12\n"}, "+pids"},
	} {
		g := groupLike(t, test.files)
		t.Log(name)
		Limits{Processes: 5}.enable(g.path)
		g.wantFile(t, file, test.want)
	}
}

// What a group has counted tells which limit ended its command.
func TestGroupHit(t *testing.T) {
	for _, test := range []struct {
		events, cpu string
		want        string
	}{
		{"low 0\nmax 812\noom 1\noom_kill 3\noom_group_kill 1\n", "usage_usec 5\n", LimitMemory},
		{"oom 0\noom_kill 1\n", "usage_usec 5\n", ""}, // that of the whole machine
		{"oom 3\noom_kill 0\n", "usage_usec 59999999\n", ""},
		{"oom 0\noom_kill 0\n", "user_usec 1\nusage_usec 60000000\n", LimitCPU},
	} {
		g := groupLike(t, map[string]string{"memory.events": test.events, "cpu.stat": test.cpu})
		g.sets.Memory = 1
		if got := g.hit(Limits{Memory: 1, CPU: time.Minute}); got != test.want {
			t.Errorf("%q and %q: %q, want %q", test.events, test.cpu, got, test.want)
		}
	}
}

// A limit that the system cannot set is refused before a command has to run without it.
func TestCheckLimits(t *testing.T) {
	if err := (Limits{Nice: 10, Memory: 1 << 30, CPU: time.Minute, Files: 64}).Check(nil); err != nil {
		t.Errorf("plain limits: %v", err)
	}
	root := os.Geteuid() == 0
	if err := (Limits{NoNetwork: true}).Check(nil); (err == nil) != root || err != nil && !strings.Contains(err.Error(), "only a node that runs as root") {
		t.Errorf("no network, root %v: %v", root, err)
	}
	counts := false
	if g := NewGroup("probe-of-pids", Limits{Processes: 50}); g != nil {
		counts = g.sets.Processes > 0
		g.Remove()
	}
	if err := (Limits{Processes: 50}).Check(nil); (err == nil) != (counts || !root) {
		t.Errorf("processes, root %v, a group that counts %v: %v", root, counts, err)
	}
	if err := (Limits{Processes: 50}).Check(&User{UID: 65534, GID: 65534}); err != nil {
		t.Errorf("processes of another user: %v", err)
	}
}
