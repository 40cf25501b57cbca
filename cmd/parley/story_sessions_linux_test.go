package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/internal/testkit/fakemodel"
	"github.com/parleyfleet/parley/internal/testkit/programs"
	"github.com/parleyfleet/parley/node/control"
)

// sessionFleet is two linked hosts, and a person's Claude Code or Codex at the second one. The
// program is told of parley by its hooks and its tools, as parley install does it.
func sessionFleet(t *testing.T, prepare func(testing.TB, *fakemodel.Model) *programs.Program) (far, near *storyHost, m *fakemodel.Model, p *programs.Program) {
	t.Helper()
	m = fakemodel.New(t)
	p = prepare(t, m)
	parley, err := exec.LookPath("parley") // this test binary, under that name
	if err != nil {
		t.Fatal(err)
	}
	remote := sharedRepository(t)
	far = newStoryHost(t, "white", "--remote", remote, "--listen", "127.0.0.1:0")
	far.start()
	near = emptyStoryHost(t)
	near.env = append(near.env, "PATH="+p.Path[:strings.LastIndexByte(p.Path, '/')]+":"+os.Getenv("PATH"))
	near.must("join", remote, "--alias", "desk", "--human", "nat", "--hub", far.status().Bus.Links)
	near.start()
	p.Hook(fmt.Sprintf("PARLEY_HOME=%s %s hook %s", near.home.Dir, parley, p.Name))
	p.MCP("parley", parley, "--home", near.home.Dir, "mcp")
	return far, near, m, p
}

// A session of the real Claude Code is woken by mail of another host, is handed the mail, answers
// by its tools, and hears what comes in the middle of its work. Its human's half-typed prompt stays.
func TestRealClaudeHearsItsMail(t *testing.T) {
	far, near, m, p := sessionFleet(t, programs.Claude)
	screen := p.Open()
	near.until("the session is known", func() bool { return strings.Contains(near.must("session", "list"), "claude") })
	far.until("the other host sees it", func() bool { return strings.Contains(far.must("who"), "work") })

	screen.Type("half typed")
	screen.Await("half typed")
	far.must("hey", "work", `HOLD one; CALL mcp__parley__hey {"to":"nat@white","text":"on my way"}`)
	handed := m.AwaitNewest(t, "HOLD one")
	if !strings.Contains(handed.Newest, "no instruction of your human") || !strings.Contains(handed.Newest, "nat@white") {
		t.Errorf("the model was handed\n%s", handed.Newest)
	}
	far.must("hey", "work", "and bring tea")
	near.until("it has come", func() bool { return strings.Contains(near.must("log", "-n", "3"), "bring tea") })
	m.Release("one")
	if got := m.AwaitNewest(t, "and bring tea"); !strings.Contains(got.Newest, "on my way") && !strings.Contains(got.Newest, "Sent as") {
		t.Errorf("what came during the work is handed with\n%s", got.Newest)
	}
	far.until("the answer comes, signed, as the session's", func() bool {
		return strings.Contains(far.must("log", "-n", "9"), "work@desk → nat") && !strings.Contains(far.must("log", "-n", "9"), "[unverified] on my way")
	})
	far.until("both messages are read", func() bool { return strings.Count(far.must("log", "-n", "9", "--json"), `"stage":"read"`) >= 2 })
	screen.Press("Enter")
	m.Await(t, "typed prompt", func(r fakemodel.Request) bool { return strings.Contains(r.Newest, "half typed") })
}

// The node of a session is killed while its model works on what it was handed. It prevents: mail
// that is lost, or handed over twice without a mark.
func TestRealClaudeAndAKilledNode(t *testing.T) {
	_, near, m, p := sessionFleet(t, programs.Claude)
	p.Open()
	near.until("the session is known", func() bool { return strings.Contains(near.must("session", "list"), "claude") })
	near.must("hey", "work", "HOLD two; SAY done with it")
	m.AwaitNewest(t, "HOLD two")
	near.kill()
	near.start()
	near.must("hey", "work", "SAY the second")
	m.Release("two")
	m.AwaitNewest(t, "SAY the second")
	near.until("both messages are read", func() bool { return strings.Count(near.must("log", "-n", "9", "--json"), `"stage":"read"`) == 2 })
	for _, r := range m.Requests() {
		if strings.Count(r.Shown, "SAY done with it") > 1 && !strings.Contains(r.Shown, "may have been shown this message") {
			t.Errorf("handed over twice, without a mark:\n%s", r.Shown)
		}
	}
}

// Mail came while no session was open. The next one of the folder is woken by it: nobody types.
func TestRealClaudeWakesForWhatWaited(t *testing.T) {
	_, near, m, p := sessionFleet(t, programs.Claude)
	screen := p.Open()
	near.until("the session is known", func() bool { return strings.Contains(near.must("session", "list"), "claude") })
	near.must("hey", "work", "SAY the first")
	m.AwaitNewest(t, "SAY the first")
	near.until("it is read", func() bool { return strings.Contains(near.must("log", "--json"), `"stage":"read"`) })
	screen.Type("/exit")
	screen.Press("Enter")
	near.until("nobody is there", func() bool { return strings.Contains(near.must("session", "list"), "away") })
	near.must("hey", "work", "SAY what waited")
	p.Open()
	m.AwaitNewest(t, "SAY what waited")
}

// installed is a host whose node and commands are those of the program's user, and a way to install
// parley into the program. Codex is told to trust the hooks.
func installed(t *testing.T, p *programs.Program) (near *storyHost, install func()) {
	t.Helper()
	parley, err := exec.LookPath("parley") // this test binary, under that name
	if err != nil {
		t.Fatal(err)
	}
	near = emptyStoryHost(t)
	// The real programs come first: beside this test binary stands one that plays Claude Code.
	near.env = append(append(near.env, "PATH="+filepath.Dir(p.Path)+":"+filepath.Dir(parley)+":"+os.Getenv("PATH"), "HOME="+p.Home), p.Env...)
	near.must("init", "--alias", "desk", "--human", "nat")
	near.start()
	return near, func() {
		t.Helper()
		p.MCP("plugin_parley_parley", "false") // the user allows the tools of the plugin
		if p.Name == "codex" {
			p.Hook("true") // what makes Codex ask
			if err := os.Remove(filepath.Join(p.Settings, "hooks.json")); err != nil {
				t.Fatal(err)
			}
		}
		near.must("install", p.Name, "--yes")
		if p.Name == "codex" {
			p.Open().Close()
		}
	}
}

// What is installed for sessions stands in the files of the very user whose node runs the program
// for each message (R71). It prevents: a run that is told what it was not asked, is taken for a
// session, or speaks as one.
func TestRealRunsBesideInstalledHooks(t *testing.T) {
	for name, prepare := range map[string]func(testing.TB, *fakemodel.Model) *programs.Program{"claude": programs.Claude, "codex": programs.Codex} {
		t.Run(name, func(t *testing.T) {
			m := fakemodel.New(t)
			p := prepare(t, m)
			near, install := installed(t, p)
			word := regexp.MustCompile(`[0-9a-f]{8,}[0-9a-f-]*|[0-9]{2}:[0-9]{2}[0-9:.]*`) // what differs from message to message
			ask := func(agent string) (all [3]string) {
				near.must("agent", "add", agent, "--preset", name, "--dir", p.Folder, "--env", "")
				said := near.must("hey", "--as", "nat", agent, "--wait", "1m", "--json", "SAY fine")
				var e struct {
					Question, Answer struct{ Path, Body string }
				}
				if err := json.Unmarshal([]byte(said), &e); err != nil {
					t.Fatalf("%v in %s", err, said)
				}
				near.until("it is read", func() bool { return strings.Contains(near.must("show", e.Question.Path), "answered") })
				for i, text := range []string{e.Answer.Body, near.must("prompt", e.Question.Path), near.must("log", "--all", "-n", "3")} {
					all[i] = strings.ReplaceAll(word.ReplaceAllString(text, "#"), agent, "AGENT")
				}
				return all
			}
			without := ask("zebra1")
			install()
			near.until("the doctor has no complaint", func() bool { // the monitor begins after the session
				out, _ := near.try("doctor", name)
				return strings.Contains(out, "All is well")
			})
			if diff := cmp.Diff(without, ask("zebra2")); diff != "" {
				t.Errorf("answer, prompt, and what is in the record (-without +with):\n%s", diff)
			}
			for _, r := range m.Requests() {
				if strings.Contains(r.Shown, "In this session you are") {
					t.Errorf("the model was told:\n%s", r.Shown)
				}
			}
			if out := near.must("session", "list", "--json"); strings.TrimSpace(out) != "[]" {
				t.Errorf("sessions: %s", out)
			}
			if name == "claude" { // its tools are allowed
				if out := near.must("hey", "--as", "nat", "zebra2", "--wait", "1m", "CALL mcp__plugin_parley_parley__whoami {} now"); !strings.Contains(out, "zebra2") {
					t.Errorf("who it is: %s", out)
				}
			}
		})
	}
}

// What a person types in Claude Code is what the seeds write: the skill's text comes with the words.
func TestRealClaudeCommands(t *testing.T) {
	m := fakemodel.New(t)
	p := programs.Claude(t, m)
	_, install := installed(t, p)
	install()
	for typed, means := range map[string]string{
		`/work-with mawjs "tmux design" --anchor #332`: "`/work-with mawjs --sync` is\n`parley work-with mawjs --sync`",
		`/frame "which store?"`:                        "`/frame \"which store?\"` is\n`parley frame \"which store?\"`",
		`/parley hey mawjs hello`:                      "`/parley hey mawjs hello` is\n`parley hey mawjs hello`",
	} {
		p.Run(typed)
		_, words, _ := strings.Cut(typed, " ")
		if r := m.AwaitNewest(t, "ARGUMENTS: "+words); !strings.Contains(r.Newest, means) {
			t.Errorf("%s: the model was given\n%s", typed, r.Newest)
		}
	}
}

// The real Claude Code asks its human whether a tool may run that mail has asked for. Who wrote sees
// that it is woken, and since when it waits for its human; the human is notified. Nobody but the human
// answers. It prevents: a sender who waits for an answer that a window nobody looks at holds back.
func TestRealClaudeWaitsForItsHuman(t *testing.T) {
	far, near, m, p := sessionFleet(t, programs.Claude)
	screen := p.Open()
	near.until("the session is known", func() bool { return strings.Contains(near.must("session", "list"), "claude") })
	far.until("the other host sees it", func() bool { return strings.Contains(far.must("who"), "work") })
	write := func(name string) string {
		return fmt.Sprintf(`CALL Write {"file_path":"%s/%s","content":"x"}`, p.Folder, name)
	}
	id := ""
	shown := func(want string, yes bool) {
		t.Helper()
		far.until(fmt.Sprintf("show has %q: %v", want, yes), func() bool { return strings.Contains(far.must("show", id), want) == yes })
	}
	id = far.message("hey", "work", write("one")).Path.String()
	shown("work waits for its human since", true)
	if got := far.must("show", id, "--json"); !strings.Contains(got, `"woken":true`) {
		t.Errorf("it is not woken: %s", got)
	}
	for line, want := range map[string]string{"who": "waits for its human since", "trace " + id: "is woken: its program took the bell"} {
		if got := far.must(strings.Fields(line)...); !strings.Contains(got, want) {
			t.Errorf("%s lacks %q:\n%s", line, want, got)
		}
	}
	if _, err := os.Stat(p.Folder + "/one"); err == nil {
		t.Error("somebody has answered for the human")
	}
	screen.Press("Enter") // yes
	m.Await(t, "the tool's result", func(r fakemodel.Request) bool { return strings.Contains(r.Newest, "created successfully") })
	shown("waits for its human", false)
	id = far.message("hey", "work", write("two")).Path.String()
	shown("work waits for its human since", true)
	screen.Press("Escape") // no hook says so
	shown("waits for its human", false)
}

// Two sessions of the real Claude Code on two hosts make each other work, until the budget of their
// conversation is spent: no bell rings any more, the humans of both hosts are told, and what somebody
// types in the session that was to go on lets it go on. It prevents: a loop of paid turns that nobody
// ends, or that ends without a word.
func TestRealClaudesInALoop(t *testing.T) {
	far, near, m, p := sessionFleet(t, programs.Claude)
	q := programs.Claude(t, m)
	parley, err := exec.LookPath("parley")
	if err != nil {
		t.Fatal(err)
	}
	q.Hook(fmt.Sprintf("PARLEY_HOME=%s %s hook %s", far.home.Dir, parley, q.Name))
	q.MCP("parley", parley, "--home", far.home.Dir, "mcp")
	for _, h := range []*storyHost{far, near} {
		h.stop()
		text, err := os.ReadFile(h.home.Config())
		if err == nil {
			err = os.WriteFile(h.home.Config(), []byte(strings.Replace(string(text), "max_hops: 8", "max_hops: 2", 1)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.start()
	}
	p.Open()
	screen := q.Open()
	far.until("both are there", func() bool { return strings.Count(far.must("who"), "work ") == 2 })
	said := "SAY the end"
	for n := range 4 {
		args, err := json.Marshal(map[string]string{"to": []string{"work@desk", "work@white"}[n%2], "text": said})
		if err != nil {
			t.Fatal(err)
		}
		said = "CALL mcp__parley__hey " + string(args)
	}
	far.must("hey", "work@desk", said)
	held := func(h *storyHost) int { return strings.Count(h.must("inbox", "--json"), `"act":"talk-held"`) }
	far.until("the humans of both hosts are told", func() bool { return held(far) == 1 && held(near) == 1 })
	if got := far.must("status"); !strings.Contains(got, "mail waits for work: 3 answers of agents in a row (max_hops is 2)") {
		t.Errorf("status says\n%s", got)
	}
	before := len(m.Requests())
	screen.Submit("go on")
	far.until("it goes on", func() bool { return strings.Count(far.must("log", "-n", "20"), "work@white → work@desk") == 2 })
	if before > 12 {
		t.Errorf("the model was asked %d times before", before)
	}
	if held(far)+held(near) > 3 {
		t.Errorf("told %d and %d times", held(far), held(near))
	}
}

// A session that asks for no permissions has its human decide on each word that comes by its inbox.
// parley's plugin rings it all the same, also before its first prompt. It prevents: a session that
// hears of its mail only when somebody types.
func TestRealClaudeWithoutPermissions(t *testing.T) {
	far, near, m, p := sessionFleet(t, programs.Claude)
	p.Plugins() // nothing but the plugin is there
	near.env = append(near.env, "HOME="+p.Home)
	near.must("install", "claude", "--yes")
	p.Env = append(p.Env, "IS_SANDBOX=1") // else root may not
	screen := p.Open("--dangerously-skip-permissions")
	near.until("it is rung by the monitor alone", func() bool { return strings.Contains(near.must("session", "list"), "by monitor") })
	if said := near.must("doctor", "claude"); !strings.Contains(said, "work is woken by monitor, else by socket\n") || !strings.Contains(said, "All is well") {
		t.Errorf("the doctor says %q", said)
	}
	screen.Type("half typed")
	screen.Await("half typed")
	far.until("the other host sees it", func() bool { return strings.Contains(far.must("who"), "work") })
	for n, word := range []string{"never prompted", "idle"} {
		far.must("hey", "work", `CALL parley__hey {"to":"nat@white","text":"heard while `+word+`"}`)
		far.until("the answer comes", func() bool { return strings.Count(far.must("log", "-n", "9"), "work@desk → nat") == n+1 })
		near.until("it is idle again", func() bool { return strings.Contains(near.must("session", "list"), "idle") })
	}
	if said := near.must("doctor", "claude"); !strings.Contains(said, "work is woken by monitor\n") {
		t.Errorf("once it is known that it asks for nothing, the doctor says %q", said)
	}
	if shown := screen.Text(); strings.Contains(shown, "Held") || !strings.Contains(shown, "half typed") {
		t.Errorf("the screen shows\n%s", shown)
	}
	rung := 0
	for _, r := range m.Requests() {
		if strings.Contains(r.Newest, "(bell ") {
			rung++
		}
	}
	if rung != 2 {
		t.Errorf("rung %d times", rung)
	}
}

// Two sessions of the real Codex share one process. Each speaks as itself, by commands and by tools, and
// takes nothing of the other's. It prevents: with a second window open, Codex can only read.
func TestRealCodexSessionsOfOneProcess(t *testing.T) {
	far, near, m, p := sessionFleet(t, programs.Codex)
	parley, err := exec.LookPath("parley")
	if err != nil {
		t.Fatal(err)
	}
	run := "PARLEY_HOME=" + near.home.Dir + " " + parley + " "
	one := p.Open()
	says := func(screen *programs.Screen, name, text string) {
		t.Helper()
		for by, prompt := range map[string]string{
			"command": `CALL exec_command {"cmd":"` + run + "hey nat@white command-" + text + `"}`,
			"tool":    `CALL hey {"to":"nat@white","text":"tool-` + text + `"}`,
		} {
			screen.Submit(prompt)
			far.until(name+" says it by its "+by, func() bool {
				for line := range strings.Lines(far.must("log", "-n", "20")) {
					if strings.Contains(line, by+"-"+text) {
						return strings.Contains(line, name+"@desk → nat") && !strings.Contains(line, "unverified")
					}
				}
				return false
			})
			screen.Await("? for shortcuts")
		}
	}
	says(one, "work", "one")
	two := p.Open()
	says(two, "work-2", "two")
	says(one, "work", "again")
	far.must("hey", "work", "SAY heard by the first")
	var list []control.Session
	if err := json.Unmarshal([]byte(near.must("session", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	first := list[slices.IndexFunc(list, func(s control.Session) bool { return s.Agent == "work" })].ID
	near.until("it has come", func() bool { return strings.Contains(near.must("log", "-n", "3"), "heard by the first") })
	attack := filepath.Join(p.Folder, "attack.sh")
	said := fmt.Sprintf(`{"hook_event_name":"UserPromptSubmit","session_id":"%s","cwd":"/"}`, first)
	if err := os.WriteFile(attack, []byte("echo \"got $(echo '"+said+"' | "+run+"hook codex)...\"\nCODEX_SESSION_ID="+first+" "+run+"whoami\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	two.Submit(`CALL exec_command {"cmd":"sh attack.sh"}`)
	if r := m.AwaitNewest(t, "got ..."); !strings.Contains(r.Newest, "work-2@desk") {
		t.Errorf("the second session is shown\n%s", r.Newest)
	}
	one.Submit("go on")
	m.AwaitNewest(t, "heard by the first")
}
