package keeper

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/walls"
)

// walledOut runs a shell command behind walls, beneath a keeper, and returns what it prints.
func walledOut(t *testing.T, c Command, script string) string {
	t.Helper()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	out, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	c.Path, c.Args, c.Files = "/bin/sh", []string{"sh", "-c", script}, [3]*os.File{null, out, out}
	c.Env = append([]string{"PATH=/bin:/usr/bin"}, c.Env...)
	var keepers Pool
	defer keepers.Close()
	k, err := keepers.Start(c, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-k.Ended():
	case <-time.After(20 * time.Second):
		t.Error("it does not end")
	}
	k.Kill()
	if _, left := k.Release(); left {
		t.Error("something of it is left")
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// Behind its walls a command sees its own folder, and nothing beside it: not by its path, not by
// the path that it had before, not through another process, and not with the rights of root.
func TestWalls(t *testing.T) {
	if err := CheckWalls(nil); err != nil {
		t.Skipf("this system puts up no walls: %v", err)
	}
	base, err := os.MkdirTemp("", "parley-walled-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	hidden, own := filepath.Join(base, "hidden"), filepath.Join(base, "hidden", "places", "own")
	if err := os.MkdirAll(own, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{filepath.Join(hidden, "secret"): "secret", filepath.Join(own, "mine"): "mine"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sleeper := exec.Command("sleep", "60")
	sleeper.Env = []string{"SECRET=secret"}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	c := Command{
		Dir: own, Walls: walls.Walls{Hide: []string{hidden, filepath.Join(base, "none")}, Show: []string{own}}, Limits: Limits{Nice: 19, Files: 64},
		Env: []string{"HIDDEN=" + hidden, fmt.Sprint("OTHER=", sleeper.Process.Pid)},
	}
	got := walledOut(t, c, `cat mine; echo; pwd; ls -A "$HIDDEN" "$HIDDEN/places"; echo new >new; nice; ulimit -n
for f in "$HIDDEN/secret" ../../secret /proc/$OTHER/environ "/proc/$OTHER/root$HIDDEN/secret" "/proc/$OTHER/cwd/x" /proc/$PPID/environ; do cat "$f" && echo "read $f"; done 2>/dev/null
readlink /proc/$OTHER/fd/* /proc/$OTHER/exe
umount "$HIDDEN" 2>/dev/null && echo unmounted
unshare -Urm umount "$HIDDEN" 2>/dev/null && echo unmounted
grep -E 'Cap(Inh|Prm|Eff|Bnd|Amb)' /proc/self/status | sort -u -k2 | cut -f2
readlink /proc/self/fd/* | grep -v -e '/out' -e null -e /proc/ -e pipe
true`)
	want := "mine\n" + own + "\n" + hidden + ":\nplaces\n\n" + hidden + "/places:\nown\n19\n64\n0000000000000000"
	if got != want {
		t.Errorf("it says:\n%s\n\nwant:\n%s", got, want)
	}
	if text, err := os.ReadFile(filepath.Join(own, "new")); err != nil || string(text) != "new\n" {
		t.Errorf("what it wrote into its folder is %q, %v", text, err)
	}
	if text, err := os.ReadFile(filepath.Join(hidden, "secret")); err != nil || string(text) != "secret" {
		t.Errorf("outside the walls there is %q, %v", text, err)
	}
	c.Walls.Show = []string{filepath.Join(hidden, "gone")}
	if got := walledOut(t, c, "echo ran"); !strings.HasPrefix(got, "cannot put up the walls of the command: show ") {
		t.Errorf("without its walls it says %q", got)
	}
}

// Behind its walls a command sees no command line but those of what it starts, and nothing of /tmp but
// its own. What it leaves behind ends with it. It prevents: a member that reads the prompt of another one in its command line.
func TestWallsHideCommandLines(t *testing.T) {
	if err := CheckWalls(nil); err != nil {
		t.Skipf("this system puts up no walls: %v", err)
	}
	base, err := os.MkdirTemp("/tmp", "parley-walled-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	own, kept := filepath.Join(base, "own"), filepath.Join(base, "kept")
	for _, dir := range []string{filepath.Join(own, "tmp"), kept, filepath.Join(base, "other")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(base, "program"), []byte("echo kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("sh", "-c", "sleep 60; true", "amber")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sleeper.Process.Kill(); _ = sleeper.Wait() }()
	c := Command{Dir: own, Walls: walls.Walls{Hide: []string{filepath.Join(base, "none")}, Show: []string{own}, Tmp: filepath.Join(own, "tmp"), Keep: []string{kept, filepath.Join(base, "program")}}}
	c.Env = []string{"BASE=" + base, fmt.Sprint("OTHER=", sleeper.Process.Pid)}
	got := walledOut(t, c, `cat /proc/[0-9]*/cmdline | tr '\0' ' ' | grep -c am[b]er
[ $(ls -d /proc/[0-9]* | wc -l) -lt 9 ] && echo few; cat /proc/$OTHER/cmdline 2>/dev/null; kill -0 $OTHER 2>/dev/null && echo reached
cat /proc/1/environ 2>/dev/null && echo read; ls $BASE; sh $BASE/program; echo x >/tmp/new; ls tmp; [ -e /var/tmp/new ] && echo same
sleep 60 &
exit 7`)
	if want := "0\nfew\nkept\nown\nprogram\nkept\nnew\nparley-walled-"; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\nsame") {
		t.Errorf("it says:\n%s\nwant:\n%s", got, want)
	}
	if _, err := os.Stat("/tmp/new"); err == nil {
		t.Error("what it wrote into its /tmp is in that of all")
	}
}

// A command behind walls hears that it is asked to end, wherever it runs, and tells how it ended.
func TestWallsPassOnSignals(t *testing.T) {
	if err := CheckWalls(nil); err != nil {
		t.Skipf("this system puts up no walls: %v", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for script, want := range map[string]int{
		"trap 'exit 9' TERM; echo >began; while :; do sleep 0.01; done":                                                                                            9,
		"trap : TERM; setsid sh -c 'trap \"exit 5\" TERM; echo >began; while :; do sleep 0.01; done' & r=143; while [ $r = 143 ]; do wait $!; r=$?; done; exit $r": 5,
		"kill -KILL $$": 137,
	} {
		dir := t.TempDir()
		var keepers Pool
		k, err := keepers.Start(Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Dir: dir, Env: []string{"PATH=/bin:/usr/bin"}, Files: [3]*os.File{null, null, null}, Walls: walls.Walls{Hide: []string{filepath.Join(dir, "none")}}}, func(int) {})
		if err != nil {
			t.Fatal(err)
		}
		for want < 128 {
			if _, err := os.Stat(filepath.Join(dir, "began")); err == nil {
				k.Terminate()
				break
			}
			<-time.After(time.Millisecond)
		}
		select {
		case <-k.Ended():
		case <-time.After(20 * time.Second):
			t.Errorf("%q does not end", script)
		}
		k.Kill()
		if e, left := k.Release(); left || e.ExitCode != want {
			t.Errorf("%q: %+v, %v", script, e, left)
		}
		keepers.Close()
	}
}

// A command of another user has walls too, and no more groups than before.
func TestWallsOfAnotherUser(t *testing.T) {
	u := &User{UID: 65534, GID: 65534, Groups: []uint32{65534, 65533}}
	if os.Geteuid() != 0 {
		t.Skip("it needs root")
	}
	if err := CheckWalls(u); err != nil {
		t.Skipf("this system puts up no walls: %v", err)
	}
	base, err := os.MkdirTemp("/tmp", "parley-walled-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	own := filepath.Join(base, "hidden", "own")
	for _, dir := range []string{own, filepath.Join(base, "hidden", "other")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(dir, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(base, 0o711); err != nil {
		t.Fatal(err)
	}
	private := t.TempDir() // a home that the command could not enter anyway
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	c := Command{Dir: own, User: u, Walls: walls.Walls{Hide: []string{filepath.Join(base, "hidden"), filepath.Join(private, "home")}, Show: []string{own}, Tmp: own, Keep: []string{private, base}}}
	got := walledOut(t, c, `id -u; id -G; ls ..; echo x >new && cat new; ls `+private+` 2>/dev/null; true`)
	if got != "65534\n65534 65533\nown\nx" {
		t.Errorf("it says %q", got)
	}
}

// FuzzOrder checks that whatever comes in the place of an order is an order or is refused, and that
// an order is read as it was written.
func FuzzOrder(f *testing.F) {
	f.Add("-\x000 0 0 0 0 false\x00{\"hide\":[\"/h\"],\"show\":[\"/h/own\"]}\x00/bin/sh\x00/\x001\x00sh\x00A=b")
	f.Add("1:2:3\x000 0 0 0 0 true\x00\x00/bin/sh\x00/\x000")
	f.Fuzz(func(t *testing.T, text string) {
		var o order
		if o.parse(strings.Split(text, "\x00")) != nil {
			return
		}
		again, ok := walls.Parse(o.c.Walls.String())
		if !ok || len(o.c.Walls.Hide) > 0 && again.String() != o.c.Walls.String() {
			t.Errorf("%+v is read as %+v", o.c.Walls, again)
		}
	})
}
