package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// It prevents: a command that changes one setting, or that pauses an agent, takes the comments and
// the order of the agent's file away.
func TestAChangedAgentKeepsItsFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "sage.yaml")
	const before = `# The sage of the team.

# Ask nat before you change it.
door: exec
name: sage # as in the record
tiers:
  # cheap
  - name: haiku
    count: 5
    exec: claude -p --model haiku
  - {name: opus, count: 1, exec: "claude -p"} # dear
timeout: 30s # it is quick
profile: sage
added: 2026-05-23T19:01:00Z
`
	after := strings.NewReplacer("count: 5", "count: 7", "30s", "1m", "profile: sage\n", "").Replace(before) + "paused: true\n"
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	agents, err := ReadAgents(dir)
	if err != nil || len(agents) != 1 {
		t.Fatalf("%v, %v", agents, err)
	}
	a := agents[0]
	a.Timeout, a.Paused, a.Profile = time.Minute, true, ""
	a.Tiers[0].Count = 7
	if err := WriteAgent(dir, a); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, string(got)); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
	// A file that cannot be kept is replaced by the settings that are meant.
	if err := os.WriteFile(file, []byte("name: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteAgent(dir, a); err != nil {
		t.Fatal(err)
	}
	agents, err = ReadAgents(dir)
	if err != nil || len(agents) != 1 {
		t.Fatalf("%v, %v", agents, err)
	}
	if diff := cmp.Diff(a, agents[0]); diff != "" {
		t.Errorf("the agent (-want +got):\n%s", diff)
	}
}
