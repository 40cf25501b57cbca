package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// shown returns a file of the shared repository, "" if there is none.
func shown(t *testing.T, remote, path string) string {
	t.Helper()
	out, err := exec.Command("git", "-C", remote, "show", "main:"+path).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// editPushed has plain git edit a file of the shared repository.
func editPushed(t *testing.T, remote, path string, edit func(string) string) {
	t.Helper()
	clone := cloneOf(t, remote)
	file := filepath.Join(clone, filepath.FromSlash(path))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(edit(string(data))), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "commit", "--quiet", "--all", "-m", "edited by hand")
	push(t, clone)
}

// A field that a person wrote into a host file stays when the host publishes the file anew at the
// same time (R12). It prevents: a field of plain git that the next agent wipes out. Crosstalk C14.
func TestHostFileEditedWhileAnAgentIsAdded(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	home := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "white", remote })
	path := protocol.HostFilePath("white")
	fastFetch(t, home)
	// The edit comes between two looks at the remote, while the node is down.
	editPushed(t, remote, path, func(text string) string { return strings.Replace(text, "---\n", "---\nrack: cellar\n", 1) })
	n, _ := runNode(t, home)
	addExec(t, n, "blob", "true")
	eventually(t, "both are in the file", func() bool {
		text := shown(t, remote, path)
		return strings.Contains(text, "rack: cellar\n") && strings.Contains(text, "blob")
	})
	// A field of the node belongs to the node: an edit of it is put right.
	editPushed(t, remote, path, func(text string) string { return strings.ReplaceAll(text, "blob", "blub") })
	eventually(t, "its own field is right again", func() bool {
		text := shown(t, remote, path)
		return strings.Contains(text, "rack: cellar\n") && strings.Contains(text, "blob") && !strings.Contains(text, "blub")
	})
}

// The host file is made from what the host says of itself at the moment of the commit. It prevents:
// an edit that was fetched between the rendering and the commit is lost, and an agent that was
// removed meanwhile stays in the file.
func TestHostFileIsRenderedWhenItIsCommitted(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	home := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "white", remote })
	path := protocol.HostFilePath("white")
	n, err := Open(t.Context(), Options{Home: home, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	publish := func(agents ...configs.Agent) {
		n.roster.Set(agents)
		if err := n.hosts.Own.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	blob := configs.Agent{Name: "blob", Door: configs.DoorInbox}
	publish(blob)
	editPushed(t, remote, path, func(text string) string { return strings.Replace(text, "---\n", "---\nrack: cellar\n", 1) })
	if err := n.record.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := shown(t, remote, path); !strings.Contains(text, "rack: cellar\n") || !strings.Contains(text, "blob") {
		t.Errorf("the edit or the agent is lost:\n%s", text)
	}
	publish()
	publish(blob)
	if err := n.record.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := shown(t, remote, path); !strings.Contains(text, "blob") {
		t.Errorf("the agent that was added again is not there:\n%s", text)
	}
}

// Two sides change one field of a profile. Both versions are kept, and every host says so.
func TestAProfileChangedInTwoPlacesIsSaidEverywhere(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	const path = "local/actors/reviewer.md"
	profile := func(role string) []byte {
		return []byte("---\nname: reviewer\ndescription: " + role + "\n---\n\nReview.\n")
	}
	home := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "white", remote })
	other := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "black", remote })
	fastFetch(t, home)
	fastFetch(t, other)
	n, stop := runNode(t, home)
	if err := n.record.WriteFile(t.Context(), path, profile("one")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the profile is shared", func() bool { return shown(t, remote, path) != "" })
	stop()
	editPushed(t, remote, path, func(string) string { return string(profile("theirs")) })
	again, err := Open(t.Context(), Options{Home: home, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.record.WriteFile(t.Context(), path, profile("mine")); err != nil {
		t.Fatal(err)
	}
	if err := again.record.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	elsewhere, _ := runNode(t, other)
	for _, at := range []*Node{again, elsewhere} {
		eventually(t, "status says so", func() bool {
			s, err := control.ShowStatus.Ask(t.Context(), at)
			return err == nil && strings.Contains(strings.Join(s.Warned, "\n"), "data/conflicts/"+path+"-")
		})
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if got := shown(t, remote, path); got != string(profile("mine")) {
		t.Errorf("the profile is %q", got)
	}
}
