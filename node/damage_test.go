package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/node/control"
)

// It prevents: one message that the disk has lost keeps a whole node from starting,
// so that nobody can even ask what is damaged; or an agent is run again because its
// receipt was lost.
func TestStartWithADamagedMessage(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "echo", Exec: "git hash-object --stdin"}); err != nil {
		t.Fatal(err)
	}
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "mawjs", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	lost, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "nat", To: []string{"mawjs"}, Body: "the one that is lost"})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "nat", To: []string{"mawjs"}, Body: "the one that is kept"})
	if err != nil {
		t.Fatal(err)
	}
	stop()
	damageObject(t, home.Record(), "main:"+lost.Path.RepoPath())

	n, stop = runNode(t, home)
	defer stop()
	status, err := control.ShowStatus.Ask(t.Context(), n)
	if err != nil || !strings.Contains(strings.Join(status.Warned, " "), "1 of the messages, files and folders of record.git are lost") {
		t.Errorf("status warns %q, %v", status.Warned, err)
	}
	if m, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: kept.Path.String()}); err != nil || m.Body != "the one that is kept" {
		t.Errorf("the other message reads %q, %v", m.Body, err)
	}
	found, err := n.audits.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	named := false
	for _, f := range found.Findings {
		named = named || f.Kind == control.FindingDamaged && f.Path == lost.Path
	}
	if !named {
		t.Errorf("verify finds %+v", found.Findings)
	}
	if _, err := control.Send.Ask(t.Context(), n, control.SendRequest{As: "nat", To: []string{"echo"}, Body: "hello"}); err != nil {
		t.Fatal(err)
	}
	if j, ok := n.doors.of("echo").take(); ok {
		t.Errorf("the agent was about to run %s", j.it.Path)
	}
}

func gitSays(t *testing.T, repo string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", repo}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

// damageObject turns bits over in the pack, where an object begins.
func damageObject(t *testing.T, repo, name string) {
	t.Helper()
	hash := strings.TrimSpace(gitSays(t, repo, "rev-parse", name))
	indexes, err := filepath.Glob(filepath.Join(repo, "objects", "pack", "*.idx"))
	if err != nil || len(indexes) == 0 {
		t.Fatal(indexes, err)
	}
	for _, index := range indexes {
		for line := range strings.Lines(gitSays(t, repo, "verify-pack", "--verbose", index)) {
			fields := strings.Fields(line)
			if len(fields) < 5 || fields[0] != hash {
				continue
			}
			pack := strings.TrimSuffix(index, "idx") + "pack"
			data, err := os.ReadFile(pack)
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for _, c := range fields[4] {
				at = at*10 + int(c-'0')
			}
			for i := range 6 {
				data[at+10+i] ^= 0x55
			}
			if err := os.WriteFile(pack, data, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%s is in no pack", hash)
}
