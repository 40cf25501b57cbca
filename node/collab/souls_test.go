package collab

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parleyfleet/parley/configs"
)

// Contacts are read only of agents of this host, and not if another user owns the folder. The node
// could read what links there lead to, and that user could not.
func TestWhoseContactsAreRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ψ", "contacts.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"contacts": {"mawjs": {"soul": "nat"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	agents := []configs.Agent{{Name: "skills", Dir: dir}, {Name: "guest", Dir: dir, RunAs: "guest"}, {Name: "nowhere"}}
	c := New(Options{Agents: func() []configs.Agent { return agents }, Wrong: func(agent, text string) { t.Errorf("%s: %s", agent, text) }})
	for agent, want := range map[string]string{"skills": "nat", "guest": "", "nowhere": "", "elsewhere": ""} {
		c.friends.look(agent)
		if got := c.friends.contact(agent, "mawjs").Soul; got != want {
			t.Errorf("%s: %q, want %q", agent, got, want)
		}
	}
	agents[0].RunAs = "guest"
	c.friends.look("skills")
	if got := c.friends.contact("skills", "mawjs").Soul; got != "" {
		t.Errorf("%q is known after its folder became another user's", got)
	}
}

// It prevents: a warning of contacts that nobody can read comes with every view.
func TestUnreadableContactsAreToldOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ψ", "contacts.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	told := 0
	c := New(Options{Agents: func() []configs.Agent { return []configs.Agent{{Name: "skills", Dir: dir}} }, Wrong: func(string, string) { told++ }})
	for range 3 {
		c.friends.look("skills")
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
