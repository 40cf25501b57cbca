package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/fakemodel"
	"github.com/parleyfleet/parley/internal/testkit/programs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// talker is a session of a real program at a host, whose scripted model answers each round with the
// next one.
type talker struct {
	host   *storyHost
	model  *fakemodel.Model
	screen *programs.Screen
	rounds int // the last round

	mu       sync.Mutex // guards what follows
	answered map[string]bool
	todo     []string // calls of tools that have not worked yet
}

var (
	handedMail = regexp.MustCompile(`(?m)^From .*, (\S+\.md):\nSignature: .*\n(An earlier session of yours may have been shown this message\.\n)?=== BEGIN (.*) ===\n(.*)$`)
	roundText  = regexp.MustCompile(`^round (\d+)$`)
)

// answer is the script of a model. What it could not send it sends again, as any model would. To a
// round that comes twice it answers once.
func (a *talker) answer(newest string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	pause := ""
	if len(a.todo) > 0 {
		if strings.Contains(newest, "Sent as ") {
			a.todo = a.todo[1:]
		} else {
			pause = "SLOW 300; "
		}
	}
	if begin := regexp.MustCompile(`BEGIN with (\S+)`).FindStringSubmatch(newest); begin != nil && len(a.answered) == 0 {
		a.answered["0"] = true
		a.todo = append(a.todo, fmt.Sprintf(`CALL hey {"to":%q,"text":"round 1"}`, begin[1]))
	}
	for _, found := range handedMail.FindAllStringSubmatch(newest, -1) {
		round := roundText.FindStringSubmatch(found[4])
		if round == nil || a.answered[round[1]] {
			continue
		}
		a.answered[round[1]] = true
		if n, _ := strconv.Atoi(round[1]); n < a.rounds {
			a.todo = append(a.todo, fmt.Sprintf(`CALL reply {"id":%q,"text":"round %d"}`, found[1], n+1))
		}
	}
	if len(a.todo) == 0 {
		return "SAY done"
	}
	return pause + a.todo[0]
}

// sat opens the session.
func (h *storyHost) sat(prepare func(testing.TB, *fakemodel.Model) *programs.Program, rounds int, settings map[string]string) *talker {
	h.t.Helper()
	a := &talker{host: h, model: fakemodel.New(h.t), rounds: rounds, answered: map[string]bool{}}
	a.model.Script = a.answer
	p := prepare(h.t, a.model)
	parley, err := exec.LookPath("parley") // this test binary, under that name
	if err != nil {
		h.t.Fatal(err)
	}
	config, err := os.ReadFile(h.home.Config())
	if err != nil {
		h.t.Fatal(err)
	}
	for key, value := range settings {
		config = regexp.MustCompile(`(?m)^( *)`+key+`: .*$`).ReplaceAll(config, []byte("${1}"+key+": "+value))
	}
	if err := os.WriteFile(h.home.Config(), config, 0o600); err != nil {
		h.t.Fatal(err)
	}
	h.env = append(h.env, "HOME="+p.Home, "PATH="+filepath.Dir(p.Path)+":"+os.Getenv("PATH"))
	h.start()
	h.must("install", p.Name, "--yes")
	p.Hook(fmt.Sprintf("PARLEY_HOME=%s %s hook %s", h.home.Dir, parley, p.Name))
	p.MCP("parley", parley, "--home", h.home.Dir, "mcp")
	a.screen = p.Open()
	if p.Name == "codex" {
		a.screen.Submit("hello")
	}
	h.until("the session is known", func() bool { return strings.Contains(h.must("session", "list"), p.Name) })
	return a
}

// handed are the messages that the node's file says were handed to a session and not read.
func (h *storyHost) handed() (paths []string) {
	h.t.Helper()
	var seats []struct {
		Handed []struct{ Path string }
	}
	data, err := os.ReadFile(h.home.Sessions())
	if err == nil {
		err = json.Unmarshal(data, &seats)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	for _, s := range seats {
		for _, m := range s.Handed {
			paths = append(paths, m.Path)
		}
	}
	return paths
}

// A hundred rounds between Claude Code on one host and Codex on another: each answer makes the next.
// Nothing is lost and nothing is handed over twice. If the nodes are killed all the while, only that
// is handed over twice, and marked, which a session had been handed when its node was killed.
func TestRealRounds(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("takes a quarter of an hour; set PARLEY_SOAK=1")
	}
	for name, kills := range map[string]bool{"in peace": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			rounds := 100
			if n, err := strconv.Atoi(os.Getenv("PARLEY_SOAK")); err == nil && n > 1 {
				rounds = n
			}
			remote := sharedRepository(t)
			free := map[string]string{"max_hops": "1000", "max_turns": "1000", "max_conversation_runs": "1000"}
			far := newStoryHost(t, "white", "--remote", remote, "--listen", "127.0.0.1:0")
			far.start()
			free["links"] = far.status().Bus.Links // of a host that is started again, the port stays
			far.stop()
			one := far.sat(programs.Claude, rounds, free)
			delete(free, "links")
			near := emptyStoryHost(t)
			near.must("join", remote, "--alias", "desk", "--human", "nat", "--hub", far.status().Bus.Links)
			two := near.sat(programs.Codex, rounds, free)
			far.until("the other host sees it", func() bool { return strings.Contains(far.must("fleet", "show", "desk"), "work") })
			both := []*talker{one, two}
			one.screen.Submit("BEGIN with work@desk")

			deadline := time.Now().Add(scratch.Patience())
			mayRepeat := map[string]bool{}
			for n := 0; !one.done(rounds) && !two.done(rounds); n++ {
				if time.Now().After(deadline) {
					t.Fatalf("it does not go on\n%s\n%s", one.told(), two.told())
				}
				<-time.After(4 * time.Second)
				if !kills {
					continue
				}
				a := both[n%2]
				a.host.kill()
				for _, p := range a.host.handed() {
					mayRepeat[p] = true
				}
				a.host.start()
			}
			for _, a := range both {
				a.host.until("all is read", func() bool {
					return !slices.ContainsFunc(a.host.log(), func(m control.Message) bool { return roundText.MatchString(m.Body) && m.Stage < protocol.StageRead })
				})
				a.check(mayRepeat)
			}
		})
	}
}

// told is what the model of the session was told last, and what it answered.
func (a *talker) told() string {
	var out strings.Builder
	requests := a.model.Requests()
	for _, r := range requests[max(0, len(requests)-4):] {
		fmt.Fprintf(&out, "%d %v %q => %q\n", r.N, r.Tools, r.Newest[max(0, len(r.Newest)-1500):], r.Answer)
	}
	return out.String() + a.screen.Text() + a.host.must("session", "list")
}

func (a *talker) done(rounds int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.answered[strconv.Itoa(rounds)]
}

// check compares what the model was shown in all with what the record has for it.
func (a *talker) check(mayRepeat map[string]bool) {
	t := a.host.t
	requests := a.model.Requests()
	shown, seen := map[string]int{}, map[string]bool{}
	for _, found := range handedMail.FindAllStringSubmatch(requests[len(requests)-1].Shown, -1) {
		once := found[1] + " " + found[3]
		if seen[once] { // Claude Code shows twice what a turn goes on with
			continue
		}
		seen[once] = true
		if shown[found[1]]++; shown[found[1]] > 1 && (found[2] == "" || !mayRepeat[found[1]]) {
			t.Errorf("%s (%s) is handed over again; marked: %v, handed at a kill: %v", found[1], found[4], found[2] != "", mayRepeat[found[1]])
		}
	}
	for _, m := range a.host.log() {
		if roundText.MatchString(m.Body) && m.Host != a.host.status().Host && shown[m.Path.String()] == 0 {
			t.Errorf("%s (%s) is lost", m.Path, m.Body)
		}
	}
	t.Logf("%s: %d messages shown, of %d requests", a.host.home.Dir, len(shown), len(requests))
}
