package agentprogram

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/testkit/fakemodel"
	"github.com/parleyfleet/parley/internal/testkit/programs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// hookVar has the test binary be the hook of a program: PROGRAM:SOCKET of the test.
const hookVar = "PARLEY_TEST_HOOK"

func TestMain(m *testing.M) {
	if program, socket, ok := strings.Cut(os.Getenv(hookVar), ":"); ok {
		if err := hook(program, socket); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(scratch.InMemory(m).Run())
}

// seen is what a hook tells its test.
type seen struct {
	Event Event
	Input json.RawMessage
	Above []int // the processes of its program beneath which it runs
}

// hook does what parley's own will: it reads the event, asks for text and answers.
func hook(program, socket string) error {
	p, _ := Find(program)
	in, err := Read(os.Stdin)
	if err != nil {
		return err
	}
	s := seen{Input: in}
	if s.Event, err = p.Event(in, os.Getenv); err != nil {
		return err
	}
	above, err := process.Ancestry(os.Getpid())
	if err != nil {
		return err
	}
	for _, id := range above {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", id.PID))
		if err == nil && p.Is(exe, process.Arguments(id.PID)) {
			s.Above = append(s.Above, id.PID)
		}
	}
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(s); err != nil {
		return err
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(p.Answer(s.Event, string(text)))
	return err
}

// desk is where the hooks of a test ask.
type desk struct {
	socket string
	seen   chan seen

	mu    sync.Mutex        // guards texts
	texts map[string]string // what is given at the next event of a name
}

func newDesk(t *testing.T) *desk {
	d := &desk{socket: filepath.Join(t.TempDir(), "desk"), seen: make(chan seen, 1000), texts: map[string]string{}}
	listener, err := net.Listen("unix", d.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			d.serve(conn)
		}
	}()
	return d
}

func (d *desk) serve(conn net.Conn) {
	defer conn.Close()
	var s seen
	if json.NewDecoder(conn).Decode(&s) != nil {
		return
	}
	d.mu.Lock()
	text := d.texts[s.Event.Name]
	delete(d.texts, s.Event.Name)
	d.mu.Unlock()
	_, _ = io.WriteString(conn, text) // a hook that was killed reads nothing
	d.seen <- s
}

// give has the next event of a name answered with a text.
func (d *desk) give(event, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.texts[event] = text
}

// await returns the next event of a kind.
func (d *desk) await(t *testing.T, kind Kind) seen {
	t.Helper()
	deadline := time.After(scratch.Patience())
	for {
		select {
		case s := <-d.seen:
			t.Logf("%s beneath %d", s.Input, s.Above)
			if s.Event.Kind == kind {
				return s
			}
		case <-deadline:
			t.Fatalf("no event of kind %d came", kind)
		}
	}
}

// both are the programs, by their names.
func both() map[string]func(testing.TB, *fakemodel.Model) *programs.Program {
	return map[string]func(testing.TB, *fakemodel.Model) *programs.Program{"claude": programs.Claude, "codex": programs.Codex}
}

// start is one program with the test's hooks.
func start(t *testing.T, prepare func(testing.TB, *fakemodel.Model) *programs.Program) (*fakemodel.Model, *programs.Program, Program, *desk) {
	t.Helper()
	m := fakemodel.New(t)
	p := prepare(t, m)
	d := newDesk(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p.Hook(fmt.Sprintf("%s=%s:%s %s", hookVar, p.Name, d.socket, self))
	adapter, _ := Find(p.Name)
	return m, p, adapter, d
}

// shellCall has the model call the program's shell.
func shellCall(name string) string {
	if name == "codex" {
		return `CALL exec_command {"cmd":"echo done"}`
	}
	return `CALL Bash {"command":"echo done"}`
}

// A real program's model is shown what each hook hands over, in its turn.
func TestRealTurn(t *testing.T) {
	for name, prepare := range both() {
		t.Run(name, func(t *testing.T) {
			m, p, _, d := start(t, prepare)
			d.give("SessionStart", "given at the start")
			long := func(text string) string { return strings.Repeat("é", (MaxText-len(text))/2) + text }
			d.give("UserPromptSubmit", long("given at the prompt"))
			d.give(map[string]string{"claude": "PostToolBatch", "codex": "PostToolUse"}[name], long("given after the tool"))
			d.give("Stop", long("given at the end: SAY finished; no more"))
			out := p.Run(shellCall(name))
			begun := d.await(t, Started)
			prompted := d.await(t, Prompted)
			used := d.await(t, UsedTool)
			stopped := d.await(t, Stopped)
			again := d.await(t, Stopped)
			for _, s := range []seen{begun, prompted, used, stopped, again} {
				if s.Event.Session != begun.Event.Session || s.Event.Folder != p.Folder || s.Event.Inner || s.Event.Attended || len(s.Above) == 0 {
					t.Errorf("%+v above %v", s.Event, s.Above)
				}
				if s.Event.Process != 0 && !slices.Contains(s.Above, s.Event.Process) {
					t.Errorf("%s says that it is of process %d, and is beneath %v", s.Event.Name, s.Event.Process, s.Above)
				}
			}
			if begun.Event.Source != "startup" || !strings.Contains(prompted.Event.Prompt, "echo done") || stopped.Event.Again || !again.Event.Again {
				t.Errorf("%+v", []Event{begun.Event, prompted.Event, stopped.Event, again.Event})
			}
			first := m.AwaitNewest(t, "given at the prompt")
			if !strings.Contains(first.Shown, "given at the start") || strings.Contains(first.Shown, "given after the tool") {
				t.Errorf("the model was first shown\n%s", first.Shown)
			}
			after := m.AwaitNewest(t, "given after the tool")
			if after.N <= first.N || strings.Contains(after.Shown, "given at the end") {
				t.Errorf("after the tool, the model was shown\n%s", after.Shown)
			}
			last := m.AwaitNewest(t, "given at the end")
			for _, r := range []fakemodel.Request{first, after, last} {
				if n := strings.Count(r.Newest, "é"); n < (MaxText-100)/2 {
					t.Errorf("of what was given, the model was shown %d characters:\n%s", n, r.Newest)
				}
			}
			if !strings.HasSuffix(out, "finished") {
				t.Errorf("it printed %q", out)
			}
		})
	}
}

// A session that is idle takes a bell, also before its first prompt, and so does one that works. What
// its human is typing stays.
func TestRealWakes(t *testing.T) {
	for name, prepare := range both() {
		t.Run(name, func(t *testing.T) {
			m, p, adapter, d := start(t, prepare)
			screen := p.Open()
			if name == "codex" { // its session begins with the first prompt
				screen.Submit("SAY hello")
			}
			e := d.await(t, Started).Event
			if name == "codex" {
				d.await(t, Stopped)
			} else if !e.Attended || e.Process != screen.PID {
				t.Errorf("%+v; the terminal has %d", e, screen.PID)
			}
			id, err := process.Find(screen.PID)
			if err != nil {
				t.Fatal(err)
			}
			bell := e.Bell
			bell.Path = p.Path
			t.Setenv("HOME", p.Home) // of who installed it
			ring := func(sentence string) {
				t.Helper()
				if err := adapter.Ring(t.Context(), id, bell, sentence); err != nil {
					t.Fatal(err)
				}
			}
			is := func(want Status) {
				t.Helper()
				if name == "codex" {
					want = Unknown
				}
				awaitState(t, adapter, bell.Home, id, want)
			}

			d.give("UserPromptSubmit", "given at the bell")
			ring("bell one: HOLD one; " + shellCall(name))
			if got := d.await(t, Prompted).Event.Prompt; !strings.Contains(got, "bell one") {
				t.Errorf("what rang is seen as %q", got)
			}
			if r := m.AwaitNewest(t, "bell one"); !strings.Contains(r.Newest, "given at the bell") {
				t.Errorf("with the bell, the model was shown\n%s", r.Newest)
			}
			is(Busy)
			d.give("UserPromptSubmit", "given at work")
			ring("bell two: SAY heard at work;")
			m.Release("one")
			if r := m.AwaitNewest(t, "bell two"); !strings.Contains(r.Newest, "given at work") {
				t.Errorf("with the bell at work, the model was shown\n%s", r.Newest)
			}
			d.await(t, Stopped)
			screen.Await("heard at work")
			is(Idle)

			screen.Type("half typed")
			screen.Await("half typed")
			ring("bell three: SAY heard beside;")
			m.AwaitNewest(t, "bell three")
			screen.Await("heard beside")
			is(Idle)
			screen.Press("Enter")
			m.Await(t, "typed prompt", func(r fakemodel.Request) bool {
				return strings.Contains(r.Newest, "half typed") && !strings.Contains(r.Newest, "bell three")
			})
			for d.await(t, Prompted).Event.Prompt != "half typed" {
			}
		})
	}
}

// awaitState waits until a program says that about its session.
func awaitState(t *testing.T, p Program, home string, of process.ID, want Status) {
	t.Helper()
	for deadline := time.Now().Add(scratch.Patience()); ; <-time.After(20 * time.Millisecond) { // only spares the processor
		s, err := p.State(home, of)
		if err == nil && s.Status == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the session is at %+v %v, not %d", s, err, want)
		}
	}
}

// A session that asks its human says so, and one that is gone is not rung.
func TestRealClaudeAsks(t *testing.T) {
	_, p, adapter, d := start(t, programs.Claude)
	screen := p.Open()
	e := d.await(t, Started).Event
	id, err := process.Find(e.Process)
	if err != nil {
		t.Fatal(err)
	}
	screen.Submit(`CALL Write {"file_path":"` + p.Folder + `/new","content":"x"}`)
	d.await(t, Asks)
	awaitState(t, adapter, e.Bell.Home, id, Waiting)
	screen.Close()
	for id.Alive() {
		<-time.After(5 * time.Millisecond) // only spares the processor
	}
	if err := adapter.Ring(t.Context(), id, e.Bell, "bell"); err == nil {
		t.Error("a session that is gone was rung")
	}
	if s, err := adapter.State(e.Bell.Home, id); err == nil && s.Status == Idle {
		t.Errorf("a session that is gone is %+v", s)
	}
}

// What happens within a subagent is told apart.
func TestRealClaudeSubagent(t *testing.T) {
	_, p, _, d := start(t, programs.Claude)
	p.Run(`CALL Agent {"description":"look","subagent_type":"general-purpose","prompt":"inner: CALL Bash {\\"command\\":\\"echo inner\\"}"}`)
	for {
		if used := d.await(t, UsedTool); strings.Contains(string(used.Input), `"tool_name":"Bash"`) != used.Event.Inner {
			t.Errorf("%+v of %s", used.Event, used.Input)
		} else if used.Event.Inner {
			break
		}
	}
}

// Claude Code's session changes its id when its context is emptied or it is forked, and at no other
// time. Its process stays while its window does.
func TestRealClaudeLife(t *testing.T) {
	_, p, adapter, d := start(t, programs.Claude)
	screen := p.Open()
	first := d.await(t, Started).Event
	screen.Submit("SAY one;")
	d.await(t, Stopped)

	screen.Submit("/clear")
	if e := d.await(t, Ended).Event; e.Source != "clear" || e.Session != first.Session {
		t.Errorf("%+v", e)
	}
	cleared := d.await(t, Started).Event
	if cleared.Source != "clear" || cleared.Session == first.Session || cleared.Process != first.Process {
		t.Errorf("%+v after %+v", cleared, first)
	}
	screen.Submit("SAY two;")
	d.await(t, Stopped)
	id, err := process.Find(cleared.Process)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := adapter.State(cleared.Bell.Home, id); err != nil || s.Session != cleared.Session || s.Folder != p.Folder || s.Socket != cleared.Bell.Socket {
		t.Errorf("%+v %v", s, err)
	}

	screen.Submit("/compact")
	d.await(t, Compacts)
	if e := d.await(t, Started).Event; e.Source != "compact" || e.Session != cleared.Session {
		t.Errorf("%+v", e)
	}
	screen.Close()
	if e := d.await(t, Ended).Event; e.Source == "clear" || e.Session != cleared.Session {
		t.Errorf("%+v", e)
	}

	screen = p.Open("--resume", cleared.Session)
	if e := d.await(t, Started).Event; e.Source != "resume" || e.Session != cleared.Session || e.Process == cleared.Process {
		t.Errorf("%+v", e)
	}
	screen.Close()
	d.await(t, Ended)
	p.Open("--resume", cleared.Session, "--fork-session")
	if e := d.await(t, Started).Event; e.Source != "fork" || e.Session == cleared.Session {
		t.Errorf("%+v", e)
	}
}

// Codex's session begins with a prompt. Its daemon goes on with it when its window is closed.
func TestRealCodexLife(t *testing.T) {
	m, p, adapter, d := start(t, programs.Codex)
	screen := p.Open()
	screen.Submit("SAY one;")
	first := d.await(t, Started).Event
	d.await(t, Stopped)
	screen.Await("Worked for") // while it works, it does nothing of the kind
	screen.Submit("/clear")
	screen.AwaitGone("SAY one")
	screen.Await("? for shortcuts")
	screen.Submit("SAY two;")
	cleared := d.await(t, Started).Event
	if cleared.Source != "clear" || cleared.Session == first.Session {
		t.Errorf("%+v after %+v", cleared, first)
	}
	d.await(t, Stopped)

	screen.Close()
	bell := cleared.Bell
	bell.Path = p.Path
	t.Setenv("HOME", p.Home)
	if err := adapter.Ring(t.Context(), process.ID{}, bell, "bell: SAY woken;"); err != nil {
		t.Fatal(err)
	}
	m.AwaitNewest(t, "bell: SAY woken")
	d.await(t, Stopped)

	screen = p.Open("fork", cleared.Session)
	screen.Submit("SAY four;")
	forked := d.await(t, Started).Event
	if forked.Source != "fork" || forked.Session == cleared.Session || forked.Session == first.Session {
		t.Errorf("%+v", forked)
	}
	d.await(t, Stopped)

	screen.Submit("HOLD three;")
	m.AwaitNewest(t, "HOLD three")
	screen.Press("Escape")
	if e := d.await(t, Stopped).Event; e.Name != "Interrupt" || adapter.Takes(e) {
		t.Errorf("%+v", e)
	}
}
