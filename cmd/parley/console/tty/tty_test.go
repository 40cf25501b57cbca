package tty

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// newRun prepares a run of the console as a command.
func newRun(t *testing.T) *clitest.Run {
	t.Helper()
	r := clitest.New(t, func(p *cli.Program) *cobra.Command {
		return cli.NewRoot(p, &cobra.Command{Use: "console", RunE: func(cmd *cobra.Command, _ []string) error { return Run(cmd.Context(), p) }})
	})
	clitest.On(&r.Recorder, control.ShowStatus.Verb, clitest.SomeStatus())
	return r
}

// console is a console of some size at which a test presses keys. Its node is the recorder of a run.
type console struct {
	*testing.T
	*model
	run     *clitest.Run
	decided []string // the gates that were to be decided
}

func newConsole(t *testing.T, width, height int) *console {
	r := newRun(t)
	r.AtTerminal(width)
	c := &console{T: t, run: r, model: newModel(t.Context(), &r.Recorder, r.Program.View(), answers{status: clitest.SomeStatus()})}
	c.decide = func(g control.Gate) tea.Cmd {
		c.decided = append(c.decided, g.Path)
		return nil
	}
	c.tell(tea.WindowSizeMsg{Width: width, Height: height})
	return c
}

// tell gives the model messages, and returns what the last one has it do.
func (c *console) tell(all ...tea.Msg) (cmd tea.Cmd) {
	for _, msg := range all {
		cmd = c.update(msg)
		c.arrange()
	}
	return cmd
}

// does is tell, and tells the model too what comes of it.
func (c *console) does(msg tea.Msg) {
	c.Helper()
	cmd := c.tell(msg)
	if cmd == nil {
		c.Fatalf("%v does nothing", msg)
	}
	c.tell(cmd())
}

func press(key string) tea.KeyPressMsg {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "pgdown": tea.KeyPgDown, "tab": tea.KeyTab, "backspace": tea.KeyBackspace}
	if code, is := codes[key]; is {
		return tea.KeyPressMsg{Code: code}
	}
	return tea.KeyPressMsg{Code: []rune(key)[0], Text: key}
}

func (c *console) keys(keys ...string) {
	for _, key := range keys {
		c.tell(press(key))
	}
}

func (c *console) types(text string) {
	for _, r := range text {
		c.tell(press(string(r)))
	}
}

func (c *console) wants(text string) {
	c.Helper()
	if shown := c.View().Content; !strings.Contains(shown, text) {
		c.Errorf("%q is not shown:\n%s", text, shown)
	}
}

func messageOf(n int, from string, to []string, body string) control.Message {
	m := clitest.Message(body)
	m.Path = protocol.NewPath(m.Channel, m.Timestamp.Add(time.Duration(n)*time.Minute), uint32(n))
	m.Timestamp, m.From, m.To = m.Path.Time(), from, to
	return m
}

// fleetOfStrangers is what a node tells of a fleet in which some words are hostile, wide or long.
func (c *console) fleetOfStrangers() {
	at := clitest.Message("").Timestamp
	long := strings.Repeat("Donaudampfschifffahrt", 20)
	talk := []control.Message{
		messageOf(1, "nat", []string{"mawjs"}, "where do we stand?"),
		messageOf(2, "mawjs", []string{"nat"}, "at the harbour\nand further"),
		messageOf(3, "e\x1b[2Jvil", []string{"nat"}, "\x1b]0;title\a\u202eright to left\u202c\rgone"),
		messageOf(4, "名前", []string{"all"}, "สวัสดี 世界 👩\u200d🚀 שלום"),
		messageOf(5, "volt", []string{"nat", "mawjs", "critic"}, long),
	}
	talk[0].Host, talk[0].Stage, talk[1].Act, talk[1].Stage = "here", protocol.StageAnswered, protocol.ActReply, protocol.StageRead
	talk[2].Signature, talk[3].ChannelName = protocol.SignatureUnverified, "議事録\x1b[31m"
	talk[4].Stage, talk[4].Addressees = protocol.StageHeard, []control.Addressee{{Name: "mawjs", Woken: true}, {Name: "critic"}}
	for _, m := range talk {
		c.tell(m)
	}
	work := control.AgentWork{Running: 1, Queued: 2}
	c.tell(answers{
		status: clitest.SomeStatus(),
		people: []control.Participant{
			{Name: "calc", Kind: "agent", Host: "oracle-world", Here: true, State: control.HostHere, Since: at, AgentWork: work, Door: "exec"},
			{Name: "mawjs", Kind: "agent", Host: "white", State: control.HostLive, Since: at, Presence: control.AgentRunning, Address: "192.0.2.7:4223", RTT: 312999,
				Waits: &protocol.Waits{For: protocol.WaitsForHuman, Time: at}},
			{Name: "nat", Kind: "human", Host: "oracle-world", State: control.HostHere, Since: at, Gates: 1},
			{Name: "volt", Kind: "agent", Host: "black", State: control.HostAway, Since: at, Address: "bl\x1back:1"},
		},
		jobs: []control.Job{
			{Agent: "calc", Path: talk[0].Path, From: "nat", State: control.JobRunning, Since: at, Attempt: 1, Of: 3, Text: "where do we stand?"},
			{Agent: "calc", Path: talk[1].Path, From: "e\x1bvil", State: control.JobWaiting, Why: control.WhyBusy, Place: 1, Since: at, Text: "\u202egnol " + long},
		},
		dead:  []control.DeadLetter{{Message: talk[4], Agent: "critic", Host: "white", Time: at, Problem: "the command ended with exit code 3 \x1b[31m", Attempts: 3}},
		gates: control.GateList{Human: "nat", HasKey: true, Gates: []control.Gate{someGate()}},
	})
}

func someGate() control.Gate {
	return control.Gate{
		ID: "1f2e3d4c", Path: clitest.MessagePath, For: "invite", Title: "invite of calc@oracle-world", Party: "pa\x1b[2Jnes", By: "mawui", Host: "oracle-world", Here: true,
		Channel: "adfe0356-0f71-49a9-80a0-fb76883cd974", Outcome: "pending", Time: clitest.Message("").Timestamp, Deciders: []protocol.Name{"nat"},
		Shown: "PARTY INVITE | topic: panes\nPAYLOAD:\n" + strings.Repeat("x", 300) + "\n\x1b[2J\u202egnorw si tahw\u202c\nJoin this collaboration? Accept, reject, or defer.",
	}
}

// places are what a person opens, with the keys that lead there.
var places = []struct {
	name string
	keys []string
}{
	{"talk", []string{"esc"}}, {"filtered", []string{"/", "h", "a", "r", "b", "enter"}}, {"answering", []string{"up", "r", "o", "k"}}, {"fleet", []string{"2"}}, {"queue", []string{"3"}},
	{"gates", []string{"4"}}, {"gate", []string{"4", "enter"}}, {"the end of the gate", []string{"4", "enter", "G"}}, {"keys", []string{"?"}},
	{"thread", nil}, {"the end of the thread", nil},
}

func at(t *testing.T, width, height int, color bool, place string) *console {
	c := newConsole(t, width, height)
	c.view.Out.Color = color
	c.fleetOfStrangers()
	if strings.Contains(place, "thread") {
		tree := clitest.SomeThread()
		for i := range tree {
			tree[i].Path = messageOf(i, "", nil, "").Path
		}
		tree[1].Body = "a tab\there, " + strings.Repeat("and a sentence that goes on. ", 10)
		c.tell(opened{path: tree[1].Path, tree: tree})
		if place != "thread" {
			c.keys("G")
		}
	}
	for _, one := range places {
		if one.name == place && one.keys != nil && place != "talk" {
			c.keys(one.keys...)
		}
	}
	return c
}

// It prevents: screens that tear at a size, and words of strangers that a terminal obeys. All places are
// shown at a usual, a large and a tiny terminal.
func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 10}} {
		width, height := size[0], size[1]
		var all strings.Builder
		for _, place := range places {
			shown := at(t, width, height, false, place.name).View().Content
			fmt.Fprintf(&all, "== %s\n", place.name)
			lines := strings.Split(shown, "\n")
			if len(lines) != height {
				t.Errorf("%s has %d lines in %d", place.name, len(lines), height)
			}
			for _, line := range lines {
				if got := term.Width(line); got > width {
					t.Errorf("%s: %d columns in %d: %q", place.name, got, width, line)
				}
				if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e }) {
					t.Errorf("%s: a terminal would obey %q", place.name, line)
				}
				fmt.Fprintln(&all, strings.TrimRight(line, " "))
			}
			coloured := at(t, width, height, true, place.name).View().Content
			if diff := cmp.Diff(shown, ansi.ReplaceAllString(coloured, "")); diff != "" {
				t.Errorf("%s is another one in colour (-plain +colour):\n%s", place.name, diff)
			}
		}
		golden := filepath.Join("testdata", fmt.Sprintf("%dx%d.txt", width, height))
		if *update {
			if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), all.String()); diff != "" {
			t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", golden, diff)
		}
	}
}

// An answer goes as the human into the thread. It prevents: what was typed is lost if it cannot be sent,
// or sent twice by two presses of Enter.
func TestAnswer(t *testing.T) {
	c := newConsole(t, 80, 24)
	c.fleetOfStrangers()
	c.keys("up", "up", "up", "r")
	c.wants("to mawjs@white: ")
	c.types("well")
	c.tell(tea.PasteMsg{Content: " done\r\nand gone"})
	clitest.On(&c.run.Recorder, control.Send, control.Message{}, control.Errorf(control.KindUnavailable, "parley up -d", "no node is running"))
	send := c.tell(press("enter"))
	if again := c.tell(press("enter")); again != nil {
		t.Error("a second Enter sends it once more")
	}
	c.tell(send())
	c.wants("no node is running (parley up -d)")
	c.wants("to mawjs@white: well done")
	clitest.On(&c.run.Recorder, control.Send, clitest.Message(""))
	c.does(press("enter"))
	c.wants("sent: stored")
	want := `send {"as":"nat","re":"` + messageOf(2, "", nil, "").Path.String() + `","act":"reply","body":"well done\nand gone","heard_within":1000000000}`
	if got := c.run.Asked; len(got) != 2 || got[1] != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	c.keys("2", "r")
	c.wants("to calc@oracle-world: ")
}

// It prevents: a book that somebody pastes hangs the screen, and what is pasted while a message is being
// sent changes it.
func TestMuchIsPasted(t *testing.T) {
	c := newConsole(t, 60, 10)
	c.answer("calc@white", control.SendRequest{})
	c.tell(tea.PasteMsg{Content: strings.Repeat("\u200bx", 500_000) + " the end"})
	c.wants("the end")
	c.input.busy = true
	c.tell(tea.PasteMsg{Content: "more"})
	if n := len(c.input.text); n != 1_000_008 {
		t.Errorf("%d characters stand there", n)
	}
}

// What is chosen stays chosen. It prevents: an answer to another message than the one under the eyes,
// because some came meanwhile, a filter changed, or the terminal did.
func TestChosenStays(t *testing.T) {
	c := newConsole(t, 80, 10)
	for i := range kept {
		c.tell(messageOf(i, "mawjs", []string{"nat"}, fmt.Sprint("number ", i)))
	}
	c.wants("▸ 13:40  mawjs@white → nat        number 999")
	c.keys("up", "up")
	for i := range 5 {
		c.tell(messageOf(kept+i, "volt", []string{"nat"}, "new"))
	}
	c.tell(tea.WindowSizeMsg{Width: 60, Height: 8})
	if got := c.listed()[c.lists[tabTalk].chosen()].message.Body; got != "number 997" {
		t.Errorf("%q is chosen", got)
	}
	c.wants("number 997")
	c.keys("G")
	c.tell(messageOf(kept+9, "volt", []string{"nat"}, "the newest"))
	c.wants("the newest")
	if len(c.talk) != kept || len(c.seen) != kept {
		t.Errorf("%d messages are kept, %d known", len(c.talk), len(c.seen))
	}
}

// A thread that is open follows what comes, and what is for the human counts as read once its end was
// shown, not before. It prevents: a thread that was left opens by itself when its answer comes late.
func TestThread(t *testing.T) {
	c := newConsole(t, 60, 12)
	c.fleetOfStrangers()
	tree := []control.ThreadMessage{
		{Message: messageOf(1, "nat", []string{"mawjs"}, "where do we stand?")},
		{Message: messageOf(2, "mawjs", []string{"nat"}, strings.Repeat("long\n", 30)+"the end"), Depth: 1},
	}
	clitest.On(&c.run.Recorder, control.Thread, tree)
	c.keys("home", "g")
	c.does(press("enter"))
	read := func() (paths []protocol.Path) {
		for mark := c.markRead(); mark != nil; mark = c.markRead() {
			c.tell(mark())
			paths = append(paths, protocol.Path{})
		}
		return paths
	}
	read()
	marked := func(want ...string) {
		t.Helper()
		var got []string
		for _, asked := range c.run.Asked {
			if strings.HasPrefix(asked, "shown ") {
				got = append(got, asked)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("marked as read (-want +got):\n%s", diff)
		}
	}
	first := `shown {"as":"nat","paths":["` + tree[0].Path.String() + `"]}`
	marked(first)
	c.keys("G")
	c.wants("the end")
	read()
	marked(first, `shown {"as":"nat","paths":["`+tree[1].Path.String()+`"]}`)

	tree = slices.Insert(tree, 1, control.ThreadMessage{Message: messageOf(3, "volt", []string{"nat"}, "between"), Depth: 1})
	c.tell(opened{path: tree[0].Path, tree: tree, again: true})
	c.wants("the end")
	if c.over.tree[c.over.chosen()].From != "mawjs" {
		t.Error("another message is chosen, because one came before it")
	}
	c.keys("esc")
	c.tell(opened{path: tree[0].Path, tree: tree, again: true})
	c.wants("TIME")
}

// It prevents: the console signs, or has something signed that was not opened.
func TestGateIsDecidedAtTheTerminal(t *testing.T) {
	c := newConsole(t, 80, 24)
	c.fleetOfStrangers()
	c.keys("4", "r")
	if c.over != nil || len(c.decided) > 0 {
		t.Error("a gate is decided from a list")
	}
	c.keys("enter", "G")
	c.wants("parley gates accept 1f2e3d4c")
	c.keys("a")
	if len(c.decided) != 1 || c.decided[0] != clitest.MessagePath {
		t.Errorf("decides %q", c.decided)
	}
	c.tell(visited{})
	c.wants("pending")
}

// What happens is asked for once at a time, and messages that changed with it. It prevents: a node that is
// asked for everything at each of a thousand events.
func TestEventsAreGathered(t *testing.T) {
	c := newConsole(t, 80, 24)
	m := messageOf(1, "nat", []string{"mawjs"}, "hello")
	c.tell(m)
	ask := c.tell(control.Event{Kind: control.EventBegun})
	for range 1000 {
		if c.tell(control.Event{Kind: control.EventStage, Stage: &control.StageChange{Path: m.Path, Stage: protocol.StageRead}}) != nil {
			t.Fatal("asks while it asks")
		}
	}
	c.tell(ask())
	changed := m
	changed.Stage = protocol.StageRead
	clitest.On(&c.run.Recorder, control.Show, changed)
	clitest.On(&c.run.Recorder, control.ShowStatus.Verb, clitest.SomeStatus())
	c.does(rested{})
	c.wants("read")
	shows := slices.DeleteFunc(slices.Clone(c.run.Asked), func(asked string) bool { return !strings.HasPrefix(asked, "show ") })
	if len(shows) != 1 {
		t.Errorf("asked %q", shows)
	}
	if c.tell(rested{}) != nil {
		t.Error("asks although nothing happened")
	}
}

// It prevents: a console that looks alive and shows what was an hour ago.
func TestNodeGoesAndComesBack(t *testing.T) {
	c := newConsole(t, 80, 24)
	c.wants("● nat@here · lab · live")
	c.tell(lost{control.Errorf(control.KindUnavailable, "", "gone")}, lost{})
	c.wants("○ nat@here · lab · connection lost: waiting for the node")
	c.tell(control.Event{Kind: control.EventBegun})
	c.wants("live")
}

func TestNoConsole(t *testing.T) {
	for _, test := range []struct {
		name string
		with func(r *clitest.Run)
		want string
	}{
		{"in a pipe", func(*clitest.Run) {}, "cannot open the console: there is no terminal that could show it\nhint: run it at a terminal"},
		{"by an agent", func(r *clitest.Run) { r.Env["PARLEY_AGENT"] = "mawjs" }, "cannot open the console: mawjs is an agent"},
	} {
		r := newRun(t)
		test.with(r)
		if code := r.Do("console"); code != cli.ExitFailed || !strings.Contains(r.Err.String(), test.want) {
			t.Errorf("%s: exit %d, %s", test.name, code, r.Err.String())
		}
	}
}

// Both streams of the node are followed, and after the end of one begun anew.
func TestWatch(t *testing.T) {
	r := newRun(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.By(
		control.Log.By(func(ctx context.Context, _ control.LogRequest, yield func(control.Message) error) error {
			if err := yield(clitest.Message("hello")); err != nil {
				return err
			}
			return yield(clitest.Message("again"))
		}),
		control.Events.By(func(ctx context.Context, _ control.EventsRequest, yield func(control.Event) error) error {
			<-ctx.Done()
			return nil
		}),
	)
	tells := make(chan tea.Msg)
	done := make(chan bool)
	go func() {
		watch(ctx, &r.Recorder, func(msg tea.Msg) { tells <- msg })
		close(done)
	}()
	for range 2 {
		var bodies []string
		for msg := <-tells; msg != (lost{}); msg = <-tells {
			for _, one := range msg.(told) {
				bodies = append(bodies, one.(control.Message).Body)
			}
		}
		if diff := cmp.Diff([]string{"hello", "again"}, bodies); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
	}
	cancel()
	<-done
}
