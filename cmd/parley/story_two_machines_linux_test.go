package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/fakemodel"
	"github.com/parleyfleet/parley/internal/testkit/programs"
)

// What the two agents say. The models are scripted, all else is real.
const (
	sentence = "Ask work@laptop which port the new API listens on."
	question = "Which port does the new API listen on?"
	reply    = "8443 since this morning, and TLS only."
)

// Two fresh machines and nothing between them: no git server, no account. install.sh, parley install
// and an invitation line make them a fleet; one sentence to Codex on the second wakes Claude Code on the
// first, and its answer comes back. With PARLEY_RECORD=FILE what was typed and shown is written there,
// for the picture that tools/session draws. It prevents: a first quarter of an hour that nobody has
// tried as a whole.
func TestRealTwoMachines(t *testing.T) {
	m := fakemodel.New(t)
	m.Script = twoModels
	claude, codex := programs.Claude(t, m), programs.Codex(t, m)
	claude.Plugins()
	claude.MCP("plugin_parley_parley", "false") // the user allows the tools of the plugin
	claude.Env = append(claude.Env, "ANTHROPIC_MODEL=claude-sonnet-5")
	web := t.TempDir()
	parley, err := exec.LookPath("parley") // this test binary, under that name
	if err != nil {
		t.Fatal(err)
	}
	lay(t, web, cli.Version, parley)
	script, err := os.ReadFile("../../install.sh")
	if err == nil {
		err = os.WriteFile(filepath.Join(web, "install.sh"), script, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(web)))
	t.Cleanup(server.Close)
	r := &recording{t: t, begun: time.Now()}
	a, b := r.machine("laptop", server.URL, claude), r.machine("server", server.URL, codex)

	a.types("curl -fsSL "+server.URL+"/install.sh | sh && parley install claude --alias laptop --human nat", "begins one here:")
	a.answers("", "Write this?")
	a.answers("y", "start a session")
	shell := a.screen
	a.open()
	a.types("claude", programs.Prompts["claude"])
	window := a.screen
	a.screen = shell
	a.types("parley fleet invite --listen "+freeAddress(t), "On the other machine")
	line := inviteLine.FindString(a.screen.Joined())
	if line == "" {
		t.Fatalf("no invitation line on\n%s", a.screen.Text())
	}

	b.types("curl -fsSL "+server.URL+"/install.sh | sh && parley install codex --alias server --human nat", "begins one here:")
	b.answers(line, "Waiting for the human at laptop")
	a.shows("may it join?")
	if words := threeWords.FindStringSubmatch(a.screen.Text()); words == nil || !strings.Contains(b.screen.Text(), "    "+words[1]+"\n") {
		t.Errorf("the words are %q, and on the other screen\n%s", words, b.screen.Text())
	}
	a.answers("y", "is let in")
	b.shows("Write this?")
	b.answers("y", "start a session")
	b.types("codex", "Trust all and continue")
	b.screen.Trust()
	b.shows(programs.Prompts["codex"])
	b.types(sentence, reply)
	a.screen = window
	a.shows("I have answered.")
	if typed := r.typed(); len(typed) > 6 {
		t.Errorf("%d lines were typed: %q", len(typed), typed)
	}
	if took := time.Since(r.begun); took > 2*time.Minute {
		t.Errorf("it took %s", took)
	}
	r.keep()
}

var (
	inviteLine = regexp.MustCompile(`parley://[0-9.:]+/#[A-Za-z0-9_-]+`)
	threeWords = regexp.MustCompile(`words: +([a-z]+ [a-z]+ [a-z]+)`)
	mailID     = regexp.MustCompile(`parley reply (\S+/\S+) 'TEXT'`)
)

// twoModels is the script of both models: Codex asks, Claude answers, Codex tells its human.
func twoModels(newest string) string {
	switch {
	case strings.Contains(newest, reply):
		return "SAY work@laptop says: " + reply
	case strings.Contains(newest, "Sent as"):
		return "SAY I have answered."
	case strings.Contains(newest, question):
		if mail := mailID.FindStringSubmatch(newest); mail != nil {
			return `CALL reply {"id":"` + mail[1] + `","text":"` + reply + `"}`
		}
	case strings.Contains(newest, sentence):
		return `CALL hey {"to":"work@laptop","text":"` + question + `","wait":60}`
	}
	return "SAY Hello."
}

// freeAddress is one of this machine at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// recording is what was typed and shown on all machines, in order.
type recording struct {
	t     *testing.T
	begun time.Time
	steps []step
}

// step is one line that somebody typed, or an answer to a question, and what was shown then.
type step struct {
	Machine string   `json:"machine"`
	Second  int      `json:"second"` // since the start
	Typed   string   `json:"typed,omitempty"`
	Answer  string   `json:"answer,omitempty"`
	Shown   []string `json:"shown"` // lines that were not on that screen before
}

func (r *recording) typed() []string {
	var all []string
	for _, s := range r.steps {
		if s.Typed != "" {
			all = append(all, s.Typed)
		}
	}
	return all
}

// keep writes the recording where somebody wants it, a step a line.
func (r *recording) keep() {
	file := os.Getenv("PARLEY_RECORD")
	if file == "" {
		return
	}
	var text strings.Builder
	for _, s := range r.steps {
		line, err := json.Marshal(s)
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s\n", line)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// machine is a machine with a name, and the screen that its person looks at.
type machine struct {
	r      *recording
	name   string
	user   *programs.Program
	screen *programs.Screen
	seen   []string // lines of the screen that are in the recording
}

// machine makes a machine on which nothing of parley is. Its shell looks into ~/.local/bin, as that of
// most systems does.
func (r *recording) machine(name, base string, user *programs.Program) *machine {
	r.t.Helper()
	user.Env = append(user.Env, "PARLEY_BASE="+base, "PS1=$ ", "NO_COLOR=1",
		"PATH="+filepath.Join(user.Home, ".local", "bin")+":"+filepath.Dir(user.Path)+":/usr/local/bin:/usr/bin:/bin")
	m := &machine{r: r, name: name, user: user}
	m.open()
	r.t.Cleanup(func() {
		m.open()
		m.screen.Submit("parley stop; echo it is over")
		m.screen.Await("\nit is over")
	})
	return m
}

// open opens a window with a shell of the machine.
func (m *machine) open() {
	m.r.t.Helper()
	m.screen = m.user.Window("sh")
	m.screen.Await("$")
}

// types has the person type a line, and waits until the screen shows something.
func (m *machine) types(line, until string) { m.step(step{Typed: line}, line, until) }

// answers has the person answer a question.
func (m *machine) answers(line, until string) { m.step(step{Answer: "⏎ " + line}, line, until) }

// shows waits until the screen shows something by itself.
func (m *machine) shows(until string) { m.step(step{}, "", until) }

func (m *machine) step(s step, line, until string) {
	m.r.t.Helper()
	s.Machine, s.Second = m.name, int(time.Since(m.r.begun).Seconds())
	switch {
	case line != "":
		m.screen.Submit(line)
	case s.Answer != "":
		m.screen.Press("Enter")
	}
	m.screen.Await(until)
	for shown := range strings.Lines(m.screen.Text()) {
		shown = strings.ReplaceAll(strings.TrimRight(shown, " \n"), m.user.Home, "~")
		if shown != "" && !slices.Contains(m.seen, shown) {
			m.seen, s.Shown = append(m.seen, shown), append(s.Shown, shown)
		}
	}
	m.r.steps = append(m.r.steps, s)
}
