package node

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/protocol"
)

// plainFiles returns files of the record that are no messages, with versions that somebody may
// push. Some versions can be read, some cannot, and some speak for another host or agent.
func plainFiles() map[string][]string {
	channel, child := protocol.ChannelID("2b1e9f30-5c1d-4a7e-9b1a-0123456789ab"), protocol.ChannelID("2b1e9f30-5c1d-4a7e-9b1a-0123456789ac")
	host := func(alias, agent string) string {
		return "---\nalias: " + alias + "\nhumans: [zoe]\nactors:\n  " + agent + ":\n    default:\n      count: 1\n---\n"
	}
	actor := func(name, about string) string {
		return "---\nname: " + name + "\ndescription: " + about + "\n---\n\n" + about + "\n"
	}
	memory := func(scope, more string) string {
		return "---\nfrom: zoe\nvia: zoe\ntimestamp: 2026-05-23T19:01:00.000Z\nsubject: tea\nscope: " + scope + "\n" + more + "---\n\nGreen.\n"
	}
	const broken = "---\n[\n---\n"
	first, second := "20260523T190100000Z-b2c3d4e5.md", "20260523T190200000Z-b2c3d4e6.md"
	return map[string][]string{
		"hosts/far.md":                             {host("far", "bob"), host("far", "eve"), host("near", "bob"), broken, "---\nhumans: [ann]\n---\n"},
		"hosts/near.md":                            {host("near", "dan"), host("far", "mallory"), broken},
		"hosts/deep/far.md":                        {host("far", "deep")},
		"local/actors/reviewer.md":                 {actor("reviewer", "strict"), actor("other", "mild"), broken},
		"local/actors/other.md":                    {actor("other", "loud"), actor("reviewer", "second")},
		protocol.ChannelFilePath(channel):          {"---\nname: tea\npurpose: leaves\n---\n", "---\nname: coffee\n---\n", broken},
		protocol.ChannelFilePath(child):            {"---\nname: cups\nparent: " + channel.String() + "\n---\n"},
		protocol.MemoriesDir + "/" + first:         {memory("global", ""), memory(channel.String(), ""), memory("nonsense", ""), broken},
		protocol.MemoriesDir + "/" + second:        {memory("global", "supersedes: "+first+"\n"), broken},
		protocol.MemoriesDir + "/notes-of-mine.md": {"no memory\n"},
	}
}

// answersOf returns those answers of a node that rest on such files.
func answersOf(t *testing.T, n *Node) map[string]any {
	t.Helper()
	channels, err := control.Channels.Ask(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	said := map[string]any{"channels": channels, "memories": n.state.Memories.List(shelf.MemoryFilter{All: true})}
	for _, name := range n.state.Profiles.Names() {
		for _, path := range n.state.Profiles.Called(name) {
			profile, _ := n.state.Profiles.At(path)
			said["profile "+path] = profile.Name + ": " + profile.Body
		}
	}
	for _, to := range []string{"bob", "eve", "dan", "mallory", "deep", "zoe", "bob@far", "eve@far", "dan@near", "mallory@far", "ann@far", "deep@far", "bob@near"} {
		_, err := n.state.Decide(fleet.Say{As: fleet.Who{Name: "nat", Host: "white"}, To: []string{to}, Body: "hello"}, n.now())
		said["to "+to] = fmt.Sprint(err)
	}
	var warned []string
	for _, text := range n.notices.Texts() {
		if strings.Contains(text, "cannot be read") {
			warned = append(warned, text)
		}
	}
	slices.Sort(warned)
	said["warned"] = warned
	return said
}

// A node that ran answers like a node that starts afterwards, whatever was pushed, changed or taken
// away of the files that are no messages. It prevents: only one of the two knows that the host file
// of another program is gone, or that a file was mended for which a warning stands.
func TestARunningNodeAnswersLikeAFreshOne(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	remote := bareRemote(t)
	n, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "white", remote }))
	late := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "late", remote })
	clone := cloneOf(t, remote)
	all := plainFiles()
	var paths []string
	for path := range all {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	source := rand.New(rand.NewPCG(9, 28))
	for round := range scratch.Rounds(6, 15) {
		var did []string
		for range 1 + source.IntN(3) {
			path := paths[source.IntN(len(paths))]
			file := filepath.Join(clone, filepath.FromSlash(path))
			if _, err := os.Stat(file); err == nil && source.IntN(3) > 0 {
				did = append(did, "removed "+path)
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
				continue
			}
			version := source.IntN(len(all[path]))
			did = append(did, fmt.Sprintf("wrote version %d of %s", version, path))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(all[path][version]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git(t, clone, "add", "--all")
		git(t, clone, "commit", "--quiet", "--allow-empty", "-m", "edited")
		push(t, clone)
		if err := n.record.Fetch(t.Context()); err != nil {
			t.Fatal(err)
		}
		fresh, end := freshly(t, late)
		diff := cmp.Diff(answersOf(t, fresh), answersOf(t, n))
		end()
		if diff != "" {
			t.Fatalf("round %d, %s: a node that ran answers otherwise (+) than one that has just started (-):\n%s", round, did, diff)
		}
	}
}

// freshly opens a node that has read the record of the remote at its start, not bit by bit.
func freshly(t *testing.T, home configs.Home) (n *Node, end func()) {
	t.Helper()
	open := func() *Node {
		n, err := Open(t.Context(), Options{Home: home, Version: "test", Log: zerolog.Nop()})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n = open()
	if err := n.record.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.Close()
	n = open()
	return n, func() { n.Close() }
}
