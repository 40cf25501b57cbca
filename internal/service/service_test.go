package service

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// examples are services as people have them.
func examples() map[string]Service {
	path := "/home/nat/.local/bin:/usr/local/bin:/usr/bin:/bin"
	return map[string]Service{
		"own":    {Name: "parley", Argv: []string{"/home/nat/.local/bin/parley"}, Path: path, Log: "/home/nat/.local/share/parley/node.log", Groups: true},
		"system": {Name: "parley", Argv: []string{"/usr/bin/parley", "--home", "/home/nat/.local/share/parley"}, Path: path, User: "nat", Log: "/home/nat/.local/share/parley/node.log"},
		"odd":    {Name: "parley-white-1a2b3c", Argv: []string{"/opt/a b/parley", "--home", `/srv/100% $HOME "x" & <y>`}, Path: `/opt/a b:/50%:/bin`, Log: "/srv/<y>/node.log"},
	}
}

func TestFilesOfServices(t *testing.T) {
	for name, s := range examples() {
		for system, kind := range map[string]string{"linux": ".service", "darwin": ".plist"} {
			file := filepath.Join("testdata", name+kind)
			if *update {
				if err := os.WriteFile(file, []byte(s.Text(system)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), s.Text(system)); diff != "" {
				t.Errorf("%s: %s", file, diff)
			}
			if system == "darwin" {
				for d := xml.NewDecoder(bytes.NewReader(want)); ; {
					if _, err := d.Token(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatalf("%s is no XML: %v", file, err)
					}
				}
			}
		}
	}
}

// What stands in a unit is what systemd reads there. It prevents: a line that systemd passes over.
func TestUnitsAreVerifiedBySystemd(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("SKIPPED: systemd-analyze is not here, so nobody has verified the units")
	}
	for name, s := range examples() {
		program := filepath.Join(t.TempDir(), "par ley")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		s.Argv[0], s.Groups, s.User = program, false, strings.Replace(s.User, "nat", "root", 1)
		s.Folder = t.TempDir()
		if err := os.WriteFile(s.File("linux"), []byte(s.Text("linux")), 0o644); err != nil {
			t.Fatal(err)
		}
		whose := "--user"
		if s.User != "" {
			whose = "--system"
		}
		cmd := exec.Command(analyze, whose, "--man=no", "verify", s.File("linux"))
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		if said, err := cmd.CombinedOutput(); err != nil || bytes.Contains(said, []byte(filepath.Base(s.File("linux")))) {
			t.Errorf("%s: %v\n%s", name, err, said)
		}
	}
}

func TestNamesAndFolders(t *testing.T) {
	if a, b := Name("/h/.local/share/parley", "/h/.local/share/parley"), Name("/srv/White Home", "/h"); a != "parley" || !strings.HasPrefix(b, "parley-whitehome-") || len(b) != len("parley-whitehome-")+6 {
		t.Errorf("%s, %s", a, b)
	}
	none := func(string) string { return "" }
	for want, got := range map[string]string{
		"/h/.config/systemd/user": FolderOf("linux", false, "/h", none),
		"/etc/systemd/system":     FolderOf("linux", true, "/h", none),
		"/c/systemd/user":         FolderOf("linux", false, "/h", func(string) string { return "/c" }),
		"/h/Library/LaunchAgents": FolderOf("darwin", false, "/h", none),
		"":                        FolderOf("windows", false, "/h", none),
	} {
		if got != filepath.FromSlash(want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Two people of a machine have a home at the usual place each. It prevents: the service of the second
// takes the place of the first one's, and a command of the second stops the node of the first.
func TestServicesOfSeveralPeople(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		nat := Service{Name: "parley", Argv: []string{"/usr/bin/parley", "--home", "/home/nat/.local/share/parley"}, User: "nat"}
		text := nat.Text(system)
		for home, taken := range map[string]bool{"/home/nat/.local/share/parley": false, "/home/nat": true, "/home/bob/.local/share/parley": true} {
			if text := []byte(text); bytes.Contains(text, []byte(starts(system, home))) == taken {
				t.Errorf("%s: %s is taken for another home: %v\n%s", system, home, taken, text)
			}
		}
	}
	bob := &user.User{Username: "bob", HomeDir: "/home/bob"}
	if s := OfMachine("linux", "/home/bob/.local/share/parley", bob); s.User != "bob" || s.Folder != "/etc/systemd/system" {
		t.Errorf("%+v", s)
	}
}

func TestCommandsOfManagers(t *testing.T) {
	own, system := examples()["own"], examples()["system"]
	for want, argv := range map[string][][]string{
		"systemctl --user daemon-reload; systemctl --user enable --now parley":                            own.Begin("linux", false),
		"systemctl --user daemon-reload; systemctl --user enable parley; systemctl --user restart parley": own.Begin("linux", true),
		"systemctl disable --now parley":                                 system.End("linux"),
		"launchctl bootout system/com.github.parleyfleet.parley":         system.End("darwin"),
		"launchctl kickstart -k system/com.github.parleyfleet.parley":    {system.Restart("darwin")},
		"launchctl bootstrap system com.github.parleyfleet.parley.plist": system.Begin("darwin", false),
	} {
		if got := joined(argv); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func joined(lines [][]string) string {
	all := make([]string, len(lines))
	for i, argv := range lines {
		all[i] = strings.Join(argv, " ")
	}
	return strings.Join(all, "; ")
}

// The PATH is that of a new terminal, whatever the profile prints. It prevents: a node that does not
// find what its person finds.
func TestLoginPath(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("SKIPPED: bash is not here")
	}
	home := t.TempDir()
	profile := "echo welcome\nexport PATH=\"$HOME/bin:$PATH\"\n"
	for name, text := range map[string]string{".bash_profile": profile + ". ~/.bashrc\n", ".bashrc": "PATH=$PATH:" + home + "/node/bin\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := Login{Shell: shell, Home: home, User: "nat", UID: -1}.Path(t.Context())
	if has := filepath.SplitList(got); !slices.Contains(has, home+"/bin") || !slices.Contains(has, home+"/node/bin") || !slices.Contains(has, "/usr/bin") {
		t.Errorf("%q", got)
	}
	if got := (Login{Shell: filepath.Join(home, "none"), Home: home, UID: -1}).Path(t.Context()); got != "" {
		t.Errorf("without a shell: %q", got)
	}
	there := t.TempDir()
	if got := Missing(there+":"+home+"/bin:/usr/bin:"+there, "/usr/bin"); !slices.Equal(got, []string{there}) {
		t.Errorf("%q", got)
	}
}
