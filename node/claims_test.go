package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	affairs "github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

const claimsChannel = "aaaaaaaa-0000-4000-8000-000000000077"

// group is two hosts that serve mawjs. Their commands write the messages into one file.
type group struct {
	hub, white           *Node
	hubClock, whiteClock *clock
	link                 *wire // between the two; nil if they are not linked
	whiteOptions         Options
	stopWhite            func()
	ran                  string
	sent                 int // messages of mailFor
}

// aGroup makes such hosts. If they are not linked, they meet at the remote alone: neither takes links,
// because hosts of one machine dial each other by the addresses in the record. They look at the remote
// five times a second, so they do without the git program (see runNode).
func aGroup(t *testing.T, linked bool) *group {
	t.Helper()
	return aGroupWith(t, linked, func(g *group, n *Node) { addExec(t, n, "mawjs", g.command(n)) })
}

func aGroupWith(t *testing.T, linked bool, add func(g *group, n *Node)) *group {
	t.Helper()
	return aGroupBy(t, Options{Version: "test", builtin: true}, linked, add)
}

// aGroupByGit is a linked group whose remote may have hooks, which only the git program runs.
func aGroupByGit(t *testing.T) *group {
	t.Helper()
	return aGroupBy(t, Options{Version: "test"}, true, func(g *group, n *Node) { addExec(t, n, "mawjs", g.command(n)) })
}

func aGroupBy(t *testing.T, options Options, linked bool, add func(g *group, n *Node)) *group {
	t.Helper()
	g := &group{ran: filepath.Join(t.TempDir(), "ran"), hubClock: new(clock), whiteClock: new(clock)}
	hubHome := initHome(t, func(o *homes.Options) {
		o.Remote = bareRemote(t)
		if linked {
			g.link = newWire(t)
			o.Listen, o.Advertise = "127.0.0.1:0", []string{g.link.address()}
		}
	})
	fastFetch(t, hubHome)
	options.Home, options.Now = hubHome, g.hubClock.now
	g.hub, _ = runNodeWith(t, options)
	home := initHome(t, func(o *homes.Options) {
		o.Alias, o.Remote = "white", g.hub.cfg.Remote
		if linked {
			g.link.lead(g.hub)
			o.Hubs = []string{g.link.address()}
		}
	})
	fastFetch(t, home)
	if !linked {
		changeConfig(t, home, func(c *configs.Config) { c.Bus = configs.Bus{} })
	}
	options.Home, options.Now = home, g.whiteClock.now
	g.whiteOptions = options
	g.startWhite(t)
	for _, n := range []*Node{g.hub, g.white} {
		add(g, n)
	}
	for _, n := range []*Node{g.hub, g.white} {
		g.awaitServed(t, n, 2)
	}
	if linked {
		awaitMeeting(t, g.hub, g.white)
	}
	return g
}

func (g *group) command(n *Node) string {
	return fmt.Sprintf("sh -c 'cat >> %s; echo @%s >> %s; echo done'", g.ran, n.cfg.Alias, g.ran)
}

func (g *group) startWhite(t *testing.T) {
	t.Helper()
	g.white, g.stopWhite = runNodeWith(t, g.whiteOptions)
}

// awaitServed waits until a node knows how many hosts serve mawjs.
func (g *group) awaitServed(t *testing.T, n *Node, hosts int) {
	t.Helper()
	eventually(t, "who serves mawjs is known", func() bool {
		return n.reading(func() bool { return len(n.state.People.Group("mawjs", "")) == hosts })
	})
}

// chosenFor is the host that is to act on a message, as a node sees it.
func chosenFor(n *Node, p protocol.Path) (host protocol.Name) {
	n.folded(func(s *fleet.State) {
		if it, ok := s.Ledger.Item(p); ok {
			host = s.Talk.ActingHost(it, "mawjs")
		}
	})
	return host
}

// mail pushes mail that names no host, each message with another body.
func (g *group) mail(t *testing.T, count int) (all []protocol.Path) {
	t.Helper()
	clone := cloneOf(t, g.hub.cfg.Remote)
	for i := range count {
		all = append(all, plainMail(t, clone, claimsChannel, fmt.Sprintf("20260523T19%02d00000", i), "zoe", "mawjs", fmt.Sprintf("word%d", i)))
	}
	push(t, clone)
	return all
}

// runs counts how often each word was given to a command.
func (g *group) runs(t *testing.T) map[string]int {
	t.Helper()
	runs := map[string]int{}
	for _, line := range linesOf(t, g.ran) {
		word, _, _ := strings.Cut(line, "@")
		runs[word]++
	}
	return runs
}

func (g *group) wantOnce(t *testing.T, count int) {
	t.Helper()
	runs := g.runs(t)
	for i := range count {
		if word := fmt.Sprintf("word%d", i); runs[word] != 1 {
			t.Errorf("%s was run %d times, want once: %v", word, runs[word], linesOf(t, g.ran))
		}
	}
}

func refsOf(t *testing.T, remote string) []string {
	t.Helper()
	out, err := exec.Command("git", "--git-dir="+remote, "for-each-ref", "--format=%(refname)", "refs/parley").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.Fields(string(out))
}

// Mail that came by plain git to a name of two hosts is run once, by the host that has claimed it,
// whether the hosts hear each other or not. It prevents: two hosts that disagree for a moment about
// who serves the name run one paid command twice (crosstalk C15).
func TestUnpinnedMailOfTwoHostsIsRunOnce(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	for _, linked := range []bool{true, false} {
		t.Run(fmt.Sprintf("linked=%v", linked), func(t *testing.T) {
			t.Parallel()
			count := scratch.Rounds(3, 6)
			g := aGroup(t, linked)
			all := g.mail(t, count)
			for _, p := range all {
				answerTo(t, g.hub, awaitHas(t, g.hub, p))
				answerTo(t, g.white, awaitHas(t, g.white, p))
			}
			g.wantOnce(t, count)
			if refs := refsOf(t, g.hub.cfg.Remote); len(refs) != count {
				t.Errorf("the claims are %v", refs)
			}
			g.hub.folded(func(s *fleet.State) {
				for _, p := range all {
					if c := s.Run(p, "mawjs").Claim; c == nil {
						t.Errorf("nobody says to have claimed %s", p)
					}
				}
			})
		})
	}
}

// Mail costs no claim if only one host serves its agent, or if its sender chose the instance.
func TestMostMailNeedsNoClaim(t *testing.T) {
	t.Parallel()
	g := aGroup(t, true)
	pass(g.hub, g.hubClock, 20*time.Second) // so long after the start nobody can have been taken for gone
	addExec(t, g.hub, "alone", "echo here")
	answerTo(t, g.hub, say(t, g.hub, "mawjs", "word0").Path)
	clone := cloneOf(t, g.hub.cfg.Remote)
	p := plainMail(t, clone, claimsChannel, "20260523T190000000", "zoe", "alone", "hello")
	push(t, clone)
	answerTo(t, g.hub, awaitHas(t, g.hub, p))
	if refs := refsOf(t, g.hub.cfg.Remote); len(refs) > 0 {
		t.Errorf("claimed: %v", refs)
	}
}

// pass has time pass for a node that is awake. It looks far more often than it must. A node that a
// busy machine holds up for 25 seconds would count as having slept.
func pass(n *Node, c *clock, by time.Duration) {
	const step = 5 * time.Second
	for ; by > 0; by -= step {
		c.forward(step)
		n.serving.LookForClaims(context.Background())
	}
	wakeClaims(n)
}

// wakeClaims settles what was found.
func wakeClaims(n *Node) { n.serving.RosterMoved() }

// The work of a host that is gone is taken over after a while, also the mail for which its sender
// chose that host. When the host comes back, it does not run again what it finds.
func TestAHostThatIsGoneIsTakenOver(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	const count = 6
	g := aGroup(t, true)
	third := homeLinkedTo(t, g.hub, "third")
	sender, _ := runNode(t, third)
	g.awaitServed(t, sender, 2)
	g.stopWhite()
	var all []protocol.Path
	for i := range count { // their paths choose the host
		all = append(all, say(t, sender, "mawjs", fmt.Sprintf("word%d", i)).Path)
	}
	var whites []protocol.Path
	for _, p := range all {
		awaitHas(t, g.hub, p)
		if chosenFor(g.hub, p) == "white" {
			whites = append(whites, p)
		} else {
			answerTo(t, g.hub, p)
		}
	}
	pass(g.hub, g.hubClock, 5*time.Minute)
	for _, p := range whites {
		if g.hub.reading(func() bool { return len(g.hub.state.Talk.Answers(p)) > 0 }) {
			t.Errorf("%s was taken over after five minutes", p)
		}
	}
	pass(g.hub, g.hubClock, 6*time.Minute)
	for _, p := range whites {
		answerTo(t, g.hub, p)
		if host := chosenFor(g.hub, p); host != "oracle-world" {
			t.Errorf("%s is %s's", p, host)
		}
	}
	g.wantOnce(t, count)
	g.startWhite(t)
	for _, p := range all {
		answerTo(t, g.white, awaitHas(t, g.white, p))
	}
	answerTo(t, g.white, say(t, g.white, "mawjs", "last").Path) // what waited before it was taken first
	g.wantOnce(t, count)
}

// Mail that was chosen for a host that is gone is handed over to a session that is there, and to
// none if no session asks. It prevents: such mail lies unseen though a session of its agent waits
// on another host.
func TestMailOfAHostThatIsGoneIsReadElsewhere(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	g := aGroupWith(t, true, func(_ *group, n *Node) { addInbox(t, n, "mawjs") })
	third := homeLinkedTo(t, g.hub, "third")
	sender, _ := runNode(t, third)
	g.awaitServed(t, sender, 2)
	g.stopWhite()
	var p protocol.Path
	for i := 0; p.IsZero(); i++ { // the path chooses
		sent := say(t, sender, "mawjs", fmt.Sprintf("word%d", i)).Path
		awaitHas(t, g.hub, sent)
		if chosenFor(g.hub, sent) == "white" {
			p = sent
		}
	}
	pass(g.hub, g.hubClock, 11*time.Minute)
	if host := chosenFor(g.hub, p); host != "white" {
		t.Fatalf("%s is %s's, where nobody asks for it", p, host)
	}
	mail := func(patience time.Duration) (all []protocol.Path) {
		got, err := control.Inbox.Ask(t.Context(), g.hub, control.InboxRequest{As: "mawjs", Within: patience})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got {
			all = append(all, m.Path)
		}
		return all
	}
	for _, own := range mail(0) { // a session is there because it asks
		if _, err := control.Read.Ask(t.Context(), g.hub, control.ReadRequest{As: "mawjs", Path: own.String()}); err != nil {
			t.Fatal(err)
		}
	}
	pass(g.hub, g.hubClock, time.Minute)
	if all := mail(within); !slices.Contains(all, p) {
		t.Errorf("the session was given %v, want %s", all, p)
	}
}

// A host that slept while another host took its work over runs nothing twice. It claims what waited
// before it starts it.
func TestAHostThatSleptClaimsWhatWaited(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	g := aGroup(t, false) // the hosts do not hear each other
	if _, err := control.PauseAgent.Ask(t.Context(), g.white, control.PauseRequest{Name: "mawjs", Paused: true}); err != nil {
		t.Fatal(err)
	}
	mine := say(t, g.white, "mawjs", "word0").Path // chosen for the host itself
	awaitHas(t, g.hub, mine)
	pass(g.hub, g.hubClock, 11*time.Minute)
	answerTo(t, g.hub, mine)
	g.wantOnce(t, 1)
	// By the hub's clock white is still gone. Its next look would take the rest over as well.
	if _, err := control.PauseAgent.Ask(t.Context(), g.hub, control.PauseRequest{Name: "mawjs", Paused: true}); err != nil {
		t.Fatal(err)
	}
	// White has not heard of it: it sleeps, and what came meanwhile comes only now.
	other := say(t, g.white, "mawjs", "word1").Path
	awaitHas(t, g.hub, other)
	name := protocol.ClaimName(other, "mawjs", 0)
	if mine, err := g.hub.record.Claim(t.Context(), name, "x"); err != nil || !mine {
		t.Fatalf("%v, %v", mine, err)
	}
	g.whiteClock.forward(20 * time.Minute)
	if _, err := control.PauseAgent.Ask(t.Context(), g.white, control.PauseRequest{Name: "mawjs"}); err != nil {
		t.Fatal(err)
	}
	last := say(t, g.white, "mawjs", "word2")
	answerTo(t, g.white, last.Path) // no other host has claimed it
	if runs := g.runs(t); runs["word1"] != 0 || runs["word0"] != 1 {
		t.Errorf("what another host has claimed was run: %v", linesOf(t, g.ran))
	}
	g.whiteClock.forward(2 * time.Minute)
	if warned := strings.Join(g.white.warnings(), "\n"); !strings.Contains(warned, other.String()+" waits: another host has claimed it for mawjs") {
		t.Errorf("it says %q", warned)
	}
}

// A host is at work for longer than takeover_after, and the others hear it only by git. It claims the
// work at the remote in time, so that no other host takes it over. It claims it before the run if it
// has heard nobody since its start, and else once it has not heard the others for a while. It
// prevents: a long run is paid twice though the remote is up.
func TestALongRunIsNotTakenOver(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	for _, linked := range []bool{true, false} {
		t.Run(fmt.Sprintf("linked=%v", linked), func(t *testing.T) {
			t.Parallel()
			g, goOn := aSlowGroup(t, linked)
			pass(g.white, g.whiteClock, 30*time.Second) // so long after the start nothing has waited
			p := say(t, g.white, "mawjs", "word0").Path
			eventually(t, "the run has begun", func() bool { return len(linesOf(t, g.ran)) > 0 })
			ref := "refs/parley/claims/" + protocol.ClaimName(p, "mawjs", 0)
			if claimed := slices.Contains(refsOf(t, g.hub.cfg.Remote), ref); claimed == linked {
				t.Errorf("claimed before the run: %v", claimed)
			}
			awaitHas(t, g.hub, p)
			if linked {
				g.link.set(true)
				pass(g.white, g.whiteClock, 6*time.Minute)
			}
			eventually(t, "white says that it has the work", func() bool {
				return g.hub.reading(func() bool { c := g.hub.state.Run(p, "mawjs").Claim; return c != nil && c.Host == "white" })
			})
			pass(g.hub, g.hubClock, 15*time.Minute)
			answerTo(t, g.hub, say(t, g.hub, "alone", "hello").Path) // by now the hub has looked for what it may take over
			goOn()
			if m := answerTo(t, g.hub, p); m.Host != "white" {
				t.Errorf("answered by %s", m.Host)
			}
			g.wantOnce(t, 1)
		})
	}
}

// The same holds for a message that a session has taken and not read yet.
func TestMailThatASessionHasTakenIsNotTakenOver(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	g := aGroupWith(t, false, func(_ *group, n *Node) { addInbox(t, n, "mawjs") })
	p := say(t, g.white, "mawjs", "word0").Path
	taken, err := control.Inbox.Ask(t.Context(), g.white, control.InboxRequest{As: "mawjs", Claim: true, ClaimFor: time.Hour, Session: "s"})
	if err != nil || len(taken) != 1 {
		t.Fatalf("%v, %v", taken, err)
	}
	pass(g.white, g.whiteClock, time.Minute)
	eventually(t, "white says that it has the work", func() bool {
		return g.hub.reading(func() bool { c := g.hub.state.Run(p, "mawjs").Claim; return c != nil && c.Host == "white" })
	})
}

// aSlowGroup is a group whose commands for mawjs go on until goOn is called.
func aSlowGroup(t *testing.T, linked bool) (g *group, goOn func()) {
	t.Helper()
	over := filepath.Join(t.TempDir(), "over")
	goOn = func() {
		if err := os.WriteFile(over, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g = aGroupWith(t, linked, func(g *group, n *Node) {
		add := control.AddAgentRequest{Name: "mawjs", Settings: control.Given{"timeout": {"1h"}},
			Exec: fmt.Sprintf("sh -c 'cat >> %s; echo @%s >> %s; until test -e %s; do sleep 0.02; done; echo done'", g.ran, n.cfg.Alias, g.ran, over)}
		if _, err := control.AddAgent.Ask(t.Context(), n, add); err != nil {
			t.Fatal(err)
		}
	})
	addExec(t, g.hub, "alone", "echo here")
	t.Cleanup(goOn)
	return g, goOn
}

// Without an answer of the remote nothing is run, and status says why.
func TestNoClaimNoRun(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	g := aGroupByGit(t)
	p := g.mail(t, 1)[0]
	answerTo(t, g.hub, awaitHas(t, g.hub, p))
	hook := filepath.Join(g.hub.cfg.Remote, "hooks", "update")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ncase $1 in refs/parley/*) echo no claims here >&2; exit 1;; esac\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	clone := cloneOf(t, g.hub.cfg.Remote)
	q := plainMail(t, clone, claimsChannel, "20260523T200000000", "zoe", "mawjs", "word1")
	push(t, clone)
	awaitHas(t, g.hub, q)
	awaitHas(t, g.white, q)
	acting := map[protocol.Name]*Node{g.hub.cfg.Alias: g.hub, g.white.cfg.Alias: g.white}[chosenFor(g.hub, q)]
	eventually(t, "status says why it waits", func() bool {
		s, err := control.ShowStatus.Ask(t.Context(), acting)
		return err == nil && slices.ContainsFunc(s.Warned, func(w string) bool {
			return strings.Contains(w, "a message for mawjs, which several hosts serve, must be claimed") && strings.Contains(w, "no claims here")
		})
	})
	if runs := g.runs(t); runs["word1"] != 0 {
		t.Errorf("it was run without a claim: %v", runs)
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	answerTo(t, acting, q)
	g.wantOnce(t, 2)
}

// A message that a host has claimed and not done is left alone until a person has it tried again.
// Then there is another claim.
func TestAnAbandonedClaimEndsByAPerson(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	g := aGroup(t, true)
	if _, err := control.PauseAgent.Ask(t.Context(), g.white, control.PauseRequest{Name: "mawjs", Paused: true}); err != nil {
		t.Fatal(err)
	}
	p := g.mailFor(t, "white")
	if _, err := g.white.decider.Do(t.Context(), affairs.Take("white", p, "mawjs", 0, "white")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the hub knows of the claim", func() bool {
		return g.hub.reading(func() bool { return g.hub.state.Run(p, "mawjs").Claim != nil })
	})
	g.stopWhite()
	pass(g.hub, g.hubClock, 15*time.Minute)
	if answered := g.hub.reading(func() bool { return len(g.hub.state.Talk.Answers(p)) > 0 }); answered {
		t.Fatal("what another host has claimed was taken over")
	}
	dead, err := control.RetryDead.Ask(t.Context(), g.hub, control.DeadLetterRequest{Message: p.String(), Reason: "white is gone"})
	if err != nil || dead.Host != "white" || !strings.Contains(dead.Problem, "white has claimed it and not answered") {
		t.Fatalf("%+v, %v", dead, err)
	}
	pass(g.hub, g.hubClock, 20*time.Second)
	answerTo(t, g.hub, p)
	if refs := refsOf(t, g.hub.cfg.Remote); !slices.Contains(refs, "refs/parley/claims/"+protocol.ClaimName(p, "mawjs", 1)) {
		t.Errorf("the claims are %v", refs)
	}
}

// mailFor pushes mail that names no host, until there is a message on which the given host is to
// act.
func (g *group) mailFor(t *testing.T, host protocol.Name) (p protocol.Path) {
	t.Helper()
	for ; p.IsZero() || chosenFor(g.hub, p) != host; g.sent++ {
		clone := cloneOf(t, g.hub.cfg.Remote)
		p = plainMail(t, clone, claimsChannel, fmt.Sprintf("20260523T19%02d00000", g.sent), "zoe", "mawjs", fmt.Sprintf("word%d", g.sent))
		push(t, clone)
		awaitHas(t, g.hub, p)
	}
	return awaitHas(t, g.white, p)
}

func (g *group) pause(t *testing.T, paused bool) {
	t.Helper()
	pause(t, g.hub, "mawjs", paused)
	pause(t, g.white, "mawjs", paused)
}

// claimAs has a node get the claim of a message and say nothing of it.
func claimAs(t *testing.T, n *Node, p protocol.Path) {
	t.Helper()
	said := protocol.RunClaim.Format(protocol.RunClaimed{Of: p, Agent: "mawjs", From: n.cfg.Alias})
	if mine, err := n.record.Claim(t.Context(), protocol.ClaimName(p, "mawjs", 0), said); err != nil || !mine {
		t.Fatalf("%v, %v", mine, err)
	}
}

// awaitsClaim waits until a message waits at a node for its claim.
func awaitsClaim(t *testing.T, n *Node, p protocol.Path) {
	t.Helper()
	eventually(t, "it waits for its claim", func() bool {
		jobs := queueOf(t, n, control.QueueRequest{Message: p.String()})
		return len(jobs) == 1 && jobs[0].Why == control.WhyClaim
	})
}

// A host claims a message and is destroyed before it tells of that. The others list the message
// after a while, with the command that ends the claim, and that command works. It prevents: the
// message waits for ever, and status says to send it again.
func TestAClaimThatNobodyTellsOf(t *testing.T) {
	t.Parallel()
	g := aGroup(t, true)
	g.pause(t, true)
	p := g.mailFor(t, g.hub.cfg.Alias)
	claimAs(t, g.white, p)
	g.stopWhite() // for good
	pause(t, g.hub, "mawjs", false)
	awaitsClaim(t, g.hub, p)
	retry := control.DeadLetterRequest{Message: p.String()}
	if _, err := control.RetryDead.Ask(t.Context(), g.hub, retry); err == nil || control.AsError(err).Kind != control.KindNotFound {
		t.Errorf("tried again before takeover_after: %v", err)
	}
	if dead := deadLettersOf(t, g.hub, control.DeadLettersRequest{}); len(dead) != 0 {
		t.Errorf("listed before takeover_after: %+v", dead)
	}
	pass(g.hub, g.hubClock, 11*time.Minute)
	var dead []control.DeadLetter
	eventually(t, "it is listed", func() bool {
		dead = deadLettersOf(t, g.hub, control.DeadLettersRequest{Agent: "mawjs"})
		return len(dead) == 1
	})
	if dead[0].Message.Path != p || !dead[0].Claimed || !strings.Contains(dead[0].Problem, "another host has claimed it at the remote") {
		t.Errorf("the dead letters are %+v", dead)
	}
	if !warned(t, g.hub, "parley agent dlq retry "+p.String()+" --agent mawjs") {
		t.Error("status does not say what to do")
	}
	if _, err := control.RetryDead.Ask(t.Context(), g.hub, retry); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is answered", func() bool {
		answers, err := control.Replies.Ask(t.Context(), g.hub, control.ThreadRequest{Path: p.String()})
		return err == nil && len(answers) == 2 && answers[0].Act == protocol.ActFailed && strings.TrimSpace(answers[1].Body) == "done"
	})
	if dead := deadLettersOf(t, g.hub, control.DeadLettersRequest{}); len(dead) != 0 || warned(t, g.hub, "parley agent dlq retry") {
		t.Errorf("answered, and listed: %+v", dead)
	}
}

// A message that a host says to have claimed and has not done is listed too, once that host is
// gone.
func TestAClaimOfAHostThatIsGone(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	g := aGroup(t, true)
	pause(t, g.white, "mawjs", true)
	p := g.mailFor(t, "white")
	if _, err := g.white.decider.Do(t.Context(), affairs.Take("white", p, "mawjs", 0, "white")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the hub knows of the claim", func() bool {
		return g.hub.reading(func() bool { return g.hub.state.Run(p, "mawjs").Claim != nil })
	})
	g.hub.serving.LookForClaims(t.Context())
	if dead := deadLettersOf(t, g.hub, control.DeadLettersRequest{}); len(dead) != 0 {
		t.Errorf("listed while the host is there: %+v", dead)
	}
	g.stopWhite()
	pass(g.hub, g.hubClock, 15*time.Minute)
	dead := deadLettersOf(t, g.hub, control.DeadLettersRequest{Message: p.String()})
	if len(dead) != 1 || !dead[0].Claimed || dead[0].Host != "white" || !warned(t, g.hub, "parley agent dlq retry "+p.String()+" --agent mawjs") {
		t.Errorf("the dead letters are %+v", dead)
	}
	if _, err := control.DropDead.Ask(t.Context(), g.hub, control.DeadLetterRequest{Message: p.String()}); err == nil || control.AsError(err).Kind != control.KindNotFound {
		t.Errorf("dropped: %v", err)
	}
}

// A host may hold a claim of work that others are to do, because their host came back, or because
// the agent is not served here any more. The claim is given up in the end, also if the remote does
// not take that at first. Those who had lost the claim ask for it again. It prevents: the ref
// stays, and nobody runs the message.
func TestClaimsOfWhatOthersAreToDoAreGivenUp(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	g := aGroupByGit(t)
	g.pause(t, true)
	p := g.mailFor(t, "white")
	ref := "refs/parley/claims/" + protocol.ClaimName(p, "mawjs", 0)
	hook := filepath.Join(g.hub.cfg.Remote, "hooks", "update")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ncase $1$3 in refs/parley/*0000000000000000000000000000000000000000) exit 1;; esac\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	claimAs(t, g.hub, p) // as if white had been gone a moment ago
	pause(t, g.white, "mawjs", false)
	awaitsClaim(t, g.white, p)
	pass(g.hub, g.hubClock, 2*time.Minute)
	if !slices.Contains(refsOf(t, g.hub.cfg.Remote), ref) {
		t.Fatal("the remote let the claim be given up")
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	// Giving up waits while there is something to push. It is tried again a minute later.
	eventually(t, "the hub has given the claim up", func() bool {
		pass(g.hub, g.hubClock, 2*time.Minute)
		return !slices.Contains(refsOf(t, g.hub.cfg.Remote), ref)
	})
	pass(g.white, g.whiteClock, 2*time.Minute) // it asks again
	if m := answerTo(t, g.white, p); m.Host != "white" {
		t.Errorf("answered by %s", m.Host)
	}
}

// A host removes its claims of what is done from the remote after seven days. The other claims
// stay.
func TestOldClaimsAreRemoved(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	g := aGroup(t, true)
	done := g.mailFor(t, g.hub.cfg.Alias)
	answerTo(t, g.hub, done)
	pause(t, g.hub, "mawjs", true)
	open := g.mailFor(t, g.hub.cfg.Alias)
	if _, err := g.hub.decider.Do(t.Context(), affairs.Take(g.hub.cfg.Alias, open, "mawjs", 0, g.hub.cfg.Alias)); err != nil {
		t.Fatal(err)
	}
	claimAs(t, g.hub, open)
	refOf := func(p protocol.Path) string { return "refs/parley/claims/" + protocol.ClaimName(p, "mawjs", 0) }
	tidied := func(after time.Duration) []string {
		t.Helper()
		eventually(t, "all is pushed", func() bool { r := g.hub.record.Status(); return r.Unrecorded+r.Unpushed == 0 })
		g.hubClock.forward(after)
		g.hub.serving.LookForClaims(t.Context())
		return refsOf(t, g.hub.cfg.Remote)
	}
	if refs := tidied(6 * 24 * time.Hour); !slices.Contains(refs, refOf(done)) {
		t.Errorf("removed before its time: %v", refs)
	}
	if refs := tidied(25 * time.Hour); slices.Contains(refs, refOf(done)) || !slices.Contains(refs, refOf(open)) {
		t.Errorf("after more than seven days there are %v, want %s alone", refs, refOf(open))
	}
}

// A message that a host has claimed and not begun goes to another host when the agent is removed
// there. It prevents: the claim keeps everybody else from the message.
func TestWhatARemovedAgentHadClaimed(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	g := aGroup(t, true)
	pause(t, g.white, "mawjs", true)
	p := say(t, g.white, "mawjs", "word0").Path // chosen for white
	if _, err := g.white.decider.Do(t.Context(), affairs.Take("white", p, "mawjs", 0, "white")); err != nil {
		t.Fatal(err)
	}
	awaitHas(t, g.hub, p)
	if _, err := control.RemoveAgent.Ask(t.Context(), g.white, control.AgentRequest{Name: "mawjs"}); err != nil {
		t.Fatal(err)
	}
	if m := answerTo(t, g.hub, p); m.Host != g.hub.cfg.Alias {
		t.Errorf("answered by %s: %s %q", m.Host, m.Act, m.Body)
	}
	g.wantOnce(t, 1)
}

// A message that waits for an agent that is removed is done by another host that serves the agent.
// If there is none, the message is a dead letter and its sender is told. It prevents: the message
// waits for ever, and nobody is told.
func TestMailOfARemovedAgent(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	g := aGroup(t, true)
	addExec(t, g.white, "alone", "echo here")
	for _, name := range []string{"mawjs", "alone"} {
		if _, err := control.PauseAgent.Ask(t.Context(), g.white, control.PauseRequest{Name: name, Paused: true}); err != nil {
			t.Fatal(err)
		}
	}
	shared, lonely := say(t, g.white, "mawjs", "word0").Path, say(t, g.white, "alone", "hello").Path
	awaitHas(t, g.hub, shared)
	for _, name := range []string{"mawjs", "alone"} {
		if _, err := control.RemoveAgent.Ask(t.Context(), g.white, control.AgentRequest{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if m := answerTo(t, g.white, shared); m.Act == protocol.ActFailed || m.Host != g.hub.cfg.Alias {
		t.Errorf("answered by %s: %s %q", m.Host, m.Act, m.Body)
	}
	g.wantOnce(t, 1)
	if m := answerTo(t, g.white, lonely); m.Act != protocol.ActFailed || !strings.Contains(m.Body, "alone: it is not served on white any more") {
		t.Errorf("answered %s %q", m.Act, m.Body)
	}
	if dead := deadLettersOf(t, g.hub, control.DeadLettersRequest{}); len(dead) != 1 || dead[0].Message.Path != lonely || dead[0].Attempts != 0 {
		t.Errorf("the dead letters are %+v", dead)
	}
}

// Mail is searched for what hosts that are gone left undone only if there may be more than the last
// time. It prevents: once any host has left the fleet, all mail of an agent is gone through every
// five seconds for ever, with the whole node waiting.
func TestMailIsNotLookedThroughInVain(t *testing.T) {
	t.Parallel()
	g := aGroup(t, true)
	if _, err := control.PauseAgent.Ask(t.Context(), g.white, control.PauseRequest{Name: "mawjs", Paused: true}); err != nil {
		t.Fatal(err)
	}
	old := say(t, g.white, "mawjs", "word0").Path
	awaitHas(t, g.hub, old)
	eventually(t, "the message is recorded", func() bool { return g.hub.record.Place(old) >= gitsync.Recorded })
	if _, err := control.RemoveAgent.Ask(t.Context(), g.hub, control.AgentRequest{Name: "mawjs"}); err != nil {
		t.Fatal(err)
	}
	addExec(t, g.hub, "mawjs", g.command(g.hub)) // what the record has by now is not for it to run
	g.awaitServed(t, g.hub, 2)
	g.stopWhite()
	pass(g.hub, g.hubClock, 11*time.Minute)
	if n := g.hub.serving.LookForClaims(t.Context()); n != 0 {
		t.Errorf("the mail of %d agents was looked through once more", n)
	}
}
