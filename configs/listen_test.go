package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSetListenKeepsWhatPeopleWrote prevents: a command that changes one setting takes anything else
// away, or writes what means something else.
func TestSetListenKeepsWhatPeopleWrote(t *testing.T) {
	const head = "fleet: demo\nalias: white\nhuman: nat\n"
	for _, c := range []struct{ name, was, want string }{
		{"in its line", "# mine\nbus: # ours\n  links: \"\" # x\n  listen: \"\"   # none\nmax_hops: 3", "# mine\nbus: # ours\n  links: \"\" # x\n  listen: \"127.0.0.1:4222\"   # none\nmax_hops: 3"},
		{"another one", "bus:\n    listen: '0.0.0.0:1'\n    hubs: []\n", "bus:\n    listen: \"127.0.0.1:4222\"\n    hubs: []\n"},
		{"none there", "bus:\n  links: \"\"\n", "bus:\n  listen: \"127.0.0.1:4222\"\n  links: \"\"\n"},
		{"no bus", "max_hops: 3", "max_hops: 3\nbus:\n  listen: \"127.0.0.1:4222\"\n"},
		{"in one line", "bus: {listen: \"\"}\n", ""},
		{"a system in its place", "bus:\n  url: nats://x:4222\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(path, []byte(head+c.was), 0o600); err != nil {
				t.Fatal(err)
			}
			err := SetListen(path, "127.0.0.1:4222")
			got, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if c.want == "" {
				if err == nil && !strings.Contains(string(got), "127.0.0.1:4222") || err != nil && string(got) != head+c.was {
					t.Errorf("%v, and the file is %s", err, got)
				}
				return
			}
			if err != nil || string(got) != head+c.want {
				t.Errorf("%v, and the file is\n%s", err, got)
			}
		})
	}
	if err := SetListen(filepath.Join(t.TempDir(), "config.yaml"), "127.0.0.1:4222"); err == nil {
		t.Error("a file that is not there was written")
	}
}

func TestSetLinks(t *testing.T) {
	const head = "fleet: demo\nalias: white\nhuman: nat\n"
	for _, c := range []struct {
		was, want string
		advertise []string
	}{
		{"", "bus:\n  links: \"0.0.0.0:4223\"\n", nil},
		{"bus:\n  listen: \"\"\n  links: \"\" # x\n  advertise: [] # y\n", "bus:\n  listen: \"\"\n  links: \"0.0.0.0:4223\" # x\n  advertise: [\"a.example:1\", \"b.example:2\"] # y\n", []string{"a.example:1", "b.example:2"}},
		{"bus:\n  advertise:\n    - a.example:1\n  links: \"127.0.0.1:1\"\n", "bus:\n  advertise:\n    - a.example:1\n  links: \"0.0.0.0:4223\"\n", []string{"a.example:1"}},
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(head+c.was), 0o600); err != nil {
			t.Fatal(err)
		}
		err := SetLinks(path, "0.0.0.0:4223", c.advertise)
		if got, _ := os.ReadFile(path); err != nil || string(got) != head+c.want {
			t.Errorf("%v, and the file is\n%s", err, got)
		}
	}
}
