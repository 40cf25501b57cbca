package configs

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const threeNames = "fleet: demo\nalias: white\nhuman: nat\n"

// TestSetRemoteKeepsWhatPeopleWrote prevents: a command that changes one setting takes an
// operator's comments and order away, or leaves the file open to others.
func TestSetRemoteKeepsWhatPeopleWrote(t *testing.T) {
	const url = `https://nat:s"e\c#r%20et@example.org/x.git`
	said := "remote: " + quoted(url)
	for name, c := range map[string]struct{ before, after string }{
		"not there":          {threeNames, threeNames + said + "\n"},
		"no last line end":   {strings.TrimSuffix(threeNames, "\n"), threeNames + said + "\n"},
		"as init writes it":  {threeNames + "remote: \"\"\n# more\n", threeNames + said + "\n# more\n"},
		"with a comment":     {"remote: /srv/x.git # the old one\n" + threeNames, said + " # the old one\n" + threeNames},
		"only a comment":     {"remote: # none yet\n" + threeNames, said + " # none yet\n" + threeNames},
		"nothing":            {"remote:\n" + threeNames, said + "\n" + threeNames},
		"single quotes":      {"remote: '/srv/it''s # x'   # y\n" + threeNames, said + "   # y\n" + threeNames},
		"double quotes":      {"remote:  \"/srv/a\\\"b # x\"\n" + threeNames, said + "\n" + threeNames},
		"lines of windows":   {"remote: /srv/x\r\nfleet: demo\r\nalias: white\r\nhuman: nat\r\n", said + "\r\nfleet: demo\r\nalias: white\r\nhuman: nat\r\n"},
		"a hash in the path": {"remote: /srv/x#y\n" + threeNames, said + "\n" + threeNames},
		"between sections":   {"bus:\n  listen: \"\" # mine\nremote: \"\"\n" + threeNames, "bus:\n  listen: \"\" # mine\n" + said + "\n" + threeNames},
		"the example":        {example, strings.Replace(example, "remote: \"\"", said, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(c.before), 0o644); err != nil {
				t.Fatal(err)
			}
			old, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := SetRemote(path, url); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); string(got) != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
			got, err := Load(path)
			if old.Remote = url; err != nil || !reflect.DeepEqual(got, old) {
				t.Errorf("%+v (%v), want %+v", got, err, old)
			}
			if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != privateFile {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

// A file that cannot be changed by one line, or that is already wrong, stays as it is.
func TestSetRemoteRefuses(t *testing.T) {
	for name, c := range map[string]struct{ before, url, says string }{
		"one line for all":     {"{fleet: demo, alias: white, human: nat}\n", "/srv/x", "not written line by line"},
		"a value below":        {threeNames + "remote:\n  /srv/y\n", "/srv/x", "not written line by line"},
		"a block":              {threeNames + "remote: >-\n  /srv/y\n", "/srv/x", "not written line by line"},
		"the end of the file":  {threeNames + "...\n", "/srv/x", "not written line by line"},
		"an unusable file":     {"fleet: demo\n", "/srv/x", "human: is missing"},
		"what git would run":   {threeNames, "ext::sh", "has git run a program"},
		"a path of no machine": {threeNames, "x.git", "absolute path"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := SetRemote(path, c.url); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("SetRemote: %v", err)
			}
			if got, _ := os.ReadFile(path); string(got) != c.before {
				t.Errorf("it is now\n%s", got)
			}
		})
	}
	if err := SetRemote(filepath.Join(t.TempDir(), "config.yaml"), "/srv/x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}

// If config.yaml is a link to a file that is kept elsewhere, the link stays.
func TestSetRemoteFollowsALink(t *testing.T) {
	dir := t.TempDir()
	kept, path := filepath.Join(dir, "kept.yaml"), filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(kept, []byte(threeNames), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, path); err != nil {
		t.Skip(err)
	}
	if err := SetRemote(path, "/srv/x"); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(kept); err != nil || c.Remote != "/srv/x" {
		t.Errorf("%q, %v", c.Remote, err)
	}
}

// FuzzSetRemote checks that a file means the same but for the remote afterwards, or is as it was.
func FuzzSetRemote(f *testing.F) {
	f.Add(threeNames+"remote: 'a''b' # c\n", "/srv/x")
	f.Add(threeNames+"remote: >-\n  x\n", "git@host:x")
	f.Fuzz(func(t *testing.T, before, remote string) {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		want, loadErr := Load(path)
		err := SetRemote(path, remote)
		if err != nil {
			if got, _ := os.ReadFile(path); string(got) != before {
				t.Errorf("refused (%v) and changed to %q", err, got)
			}
			return
		}
		got, err := Load(path)
		if want.Remote = remote; loadErr != nil || err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v (%v, %v), want %+v", got, loadErr, err, want)
		}
	})
}
