package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/carry"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// runCarrier runs a host that began a fleet alone, and makes it the carrier while it runs.
func runCarrier(t *testing.T, alias string) (n *Node, home configs.Home, stop func()) {
	t.Helper()
	home = initHome(t, func(o *homes.Options) { o.Alias = alias })
	n, stop = runNodeWith(t, Options{Home: home, Version: "test"})
	if _, err := control.OpenLinks.Ask(t.Context(), n, control.OpenLinksRequest{Address: "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	if remote, err := n.carrying.Begin(t.Context()); err != nil || remote != "parley://"+alias {
		t.Fatalf("Carry: %q, %v", remote, err)
	}
	if warned(t, n, "config.yaml") { // it is the node itself that has written there
		t.Fatal("a node that began to take links and to carry warns of its own settings")
	}
	return n, home, stop
}

// joinBy has a host join through the links of the carrier.
func joinBy(t *testing.T, carrier *Node, alias string) configs.Home {
	t.Helper()
	home := configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
	o := homes.Options{
		Home: home, Version: "test", Alias: alias, Human: "nat", Join: true, Remote: "parley://" + carrier.cfg.Alias.String(), Log: zerolog.Nop(),
		Carrier: carry.Hint{Alias: carrier.cfg.Alias, Addresses: []string{"127.0.0.1:1", carrier.bus.Load().Addresses().Links}, Keys: []string{carrier.signsWith.Load().Public}},
	}
	if _, err := Init(t.Context(), o); err == nil || !strings.Contains(err.Error(), "does not accept this host's key") {
		t.Fatalf("a host that nobody has let in: %v", err)
	}
	made, err := control.MakeInvitation.Ask(t.Context(), carrier, control.InvitationRequest{Unasked: true})
	if err != nil {
		t.Fatal(err)
	}
	line, err := protocol.ParseInviteLine(made.Line)
	if err != nil {
		t.Fatal(err)
	}
	o.Invited = &homes.Invited{Line: line, Say: func(string) {}, Words: func(string) {}}
	if _, err := Init(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return home
}

// A host lies to a newcomer: the fleet shares its record through a host, where nobody can push. It
// prevents: a home that says so, and that can never say anything.
func TestAHubThatNamesAHostAsTheRemote(t *testing.T) {
	scratch.Unraced(t) // it changes the settings of a node that runs, as nothing else does
	a, _, _ := runCarrier(t, "black")
	a.carrying.isCarrier.Store(false)
	for _, lie := range []string{"parley://black/record", "parley://eve"} {
		a.cfg.Remote = "" // so that it invites
		made, err := control.MakeInvitation.Ask(t.Context(), a, control.InvitationRequest{Unasked: true})
		if err != nil {
			t.Fatal(err)
		}
		line, err := protocol.ParseInviteLine(made.Line)
		if err != nil {
			t.Fatal(err)
		}
		a.cfg.Remote = lie
		home := configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
		_, err = Init(t.Context(), homes.Options{
			Home: home, Version: "test", Alias: "white", Human: "nat", Join: true, Remote: "parley://black", Log: zerolog.Nop(),
			Invited: &homes.Invited{Line: line, Say: func(string) {}, Words: func(string) {}},
		})
		if err == nil || !strings.Contains(err.Error(), "black names a host") {
			t.Errorf("%s: %v", lie, err)
		}
		if _, err := os.Stat(home.Dir); !os.IsNotExist(err) {
			t.Errorf("%s: something is left of the home: %v", lie, err)
		}
	}
}

// knows waits until a node has a message.
func knows(t *testing.T, n *Node, p protocol.Path) {
	t.Helper()
	eventually(t, "a message at "+n.cfg.Alias.String(), func() bool {
		_, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: p.String()})
		return err == nil
	})
}

// Three hosts share a record without any git server. When the first is down, the third gets what it
// lacks from the second, and when it is back nothing is lost.
func TestFleetWithoutGitServer(t *testing.T) {
	t.Parallel()
	a, aHome, stopA := runCarrier(t, "black")
	addExec(t, a, "echo", "cat")
	b, _ := runNodeWith(t, Options{Home: joinBy(t, a, "oracle-world"), Version: "test"})
	if _, err := control.OpenLinks.Ask(t.Context(), b, control.OpenLinksRequest{Address: "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	cHome := joinBy(t, a, "white")
	c, stopC := runNodeWith(t, Options{Home: cHome, Version: "test"})
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, c, "black", control.HostLive).Agents) == 1 })

	asked := say(t, c, "echo@black", "hello")
	if answer := answerTo(t, c, asked.Path); answer.Body != "hello" {
		t.Errorf("the answer is %q", answer.Body)
	}
	knows(t, b, asked.Path)
	eventually(t, "it is pushed", func() bool { return c.record.Place(asked.Path) == gitsync.Pushed })
	for _, n := range []*Node{b, c} {
		mine, err := n.record.Claim(t.Context(), "some-work", "by "+n.cfg.Alias.String())
		if err != nil || mine != (n == b) {
			t.Errorf("%s claims: %v, %v", n.cfg.Alias, mine, err)
		}
	}
	stopC()
	stopA()

	if _, err := control.AddMemory.Ask(t.Context(), b, control.AddMemoryRequest{Subject: "ports", Body: "The port is 4222."}); err != nil {
		t.Fatal(err)
	}
	said := say(t, b, "nat@white", "while black is down")
	eventually(t, "it is committed", func() bool { return b.record.Place(said.Path) == gitsync.Recorded })
	c, _ = runNodeWith(t, Options{Home: cHome, Version: "test"})
	knows(t, c, said.Path)
	remembers := func(n *Node) func() bool {
		return func() bool {
			all, err := control.Memories.Ask(t.Context(), n, control.MemoriesRequest{})
			return err == nil && len(all) == 1
		}
	}
	eventually(t, "a memory that only git brings", remembers(c))
	if s := c.record.Status(); s.Trouble.Kind != gitsync.KindUnreachable || !strings.Contains(s.Trouble.Advice, "parley fleet remote set") {
		t.Errorf("status of the third: %+v", s.Trouble)
	}
	late := say(t, c, "echo@black", "later")
	why, err := control.Why.Ask(t.Context(), c, control.WhyRequest{Of: late.Path.String()})
	if err != nil || !slices.ContainsFunc(why.Causes, func(f causes.Found) bool { return f.Cause == causes.Away }) ||
		slices.ContainsFunc(why.Causes, func(f causes.Found) bool { return f.Cause == causes.RemoteFails }) { // that the remote fails says nothing that helps
		t.Errorf("why: %+v, %v", why.Causes, err)
	}

	cfg, err := configs.Load(aHome.Config())
	if err != nil || cfg.Remote != "parley://black" || cfg.Bus.Links == "" {
		t.Fatalf("config.yaml of the carrier says %+v, %v", cfg, err)
	}
	a, _ = runNodeWith(t, Options{Home: aHome, Version: "test"})
	if answer := answerTo(t, c, late.Path); answer.Body != "later" {
		t.Errorf("the answer is %q", answer.Body)
	}
	eventually(t, "a memory at the carrier", remembers(a))
	for _, n := range []*Node{a, b, c} {
		eventually(t, "everything is pushed", func() bool {
			s := n.record.Status()
			return s.Unpushed == 0 && s.Trouble.Kind == gitsync.KindNone && n.record.Place(late.Path) == gitsync.Pushed
		})
		if done, err := control.Verify.Ask(t.Context(), n); err != nil || len(done.Findings) > 0 {
			t.Errorf("%s: %+v, %v", n.cfg.Alias, done.Findings, err)
		}
		for _, warning := range n.warnings() {
			if strings.Contains(warning, "remote") {
				t.Errorf("%s warns: %s", n.cfg.Alias, warning)
			}
		}
	}
}
