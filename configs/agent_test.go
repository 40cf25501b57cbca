package configs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/protocol"
)

type duration = time.Duration

var added = time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)

func agents(dir string) []Agent {
	return []Agent{
		{
			Name: "mawjs", Door: DoorExec, Dir: dir, Timeout: 90 * time.Second, Attempts: 5, Rerun: RerunAsk, RunReplies: true,
			Tiers: []Tier{
				{Name: "haiku", Count: 5, Exec: "python3 -c 'print(\"ψ: #1\")\n\tprint(2)\n'"},
				{Name: "2.5-flash", Count: 1, Exec: "true"},
				{Name: "lines", Count: 1, Exec: "\n x\n"}, // a block of YAML would lose the first line
			},
			DispatchSince: strings.Repeat("0123456789", 4), Added: added,
			Env:    Variables{"PATH", "AWS_*", "NOTE=a: #b, \"c\"", "NO=", "yes"},
			Limits: Limits{Nice: 10, Memory: 2e9, CPU: 10 * time.Minute, Files: 1024, Processes: 200, NoNetwork: true, Output: 1 << 20},
		},
		{Name: "null", Door: DoorInbox},
		{
			Name: "sage", Door: DoorExec, Input: InputPrompt, Profile: "no", Preset: "claude", Paused: true,
			Open:    "claude --append-system-prompt {context}",
			Accepts: AcceptVerified, WakesOn: []protocol.Act{"hey", "sync-check"}, Examiner: ExaminerMechanical, Soul: "nat",
			Tiers: []Tier{{Name: "default", Count: 1, Exec: "codex exec -o {output} {prompt}"}},
		},
	}
}

// A slip that would have an agent run nothing, or everything, is refused.
func TestWhoWakesAnAgent(t *testing.T) {
	for _, c := range []struct {
		change func(*Agent)
		want   string
	}{
		{func(a *Agent) { a.Examiner = "me" }, `"me" does not say who answers sync-checks: use mechanical`},
		{func(a *Agent) { a.Door, a.Tiers, a.Examiner = DoorInbox, nil, ExaminerMechanical }, ""},
		{func(a *Agent) { a.Soul = "Na t" }, "soul: "},
		{func(a *Agent) { a.Accepts = "signed" }, `"signed" is not whose mail an agent can accept: use anyone or verified`},
		{func(a *Agent) { a.WakesOn = []protocol.Act{"heyy"} }, `"heyy" is no act: use some of hey, tell`},
		{func(a *Agent) { a.WakesOn = []protocol.Act{"note"} }, `"note" is a notice, for which nothing is run`},
		{func(a *Agent) { a.WakesOn = []protocol.Act{"hey", "hey"} }, `"hey" stands twice`},
		{func(a *Agent) { a.Door, a.Tiers, a.Accepts = DoorInbox, nil, AcceptVerified }, "it decides itself"},
		{func(a *Agent) { a.Door, a.Tiers, a.WakesOn = DoorInbox, nil, []protocol.Act{"hey"} }, "nothing wakes it"},
		{func(a *Agent) { a.Accepts, a.WakesOn = AcceptAnyone, []protocol.Act{"reply", "invite"} }, ""},
	} {
		a := Agent{Name: "sage", Door: DoorExec, Tiers: []Tier{{Name: "default", Count: 1, Exec: "cat"}}}
		c.change(&a)
		err := a.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("validated with %v, want %q", err, c.want)
		}
	}
}

// It prevents: a command that asks for a prompt is given its own placeholder.
func TestPlaceholderNeedsPrompt(t *testing.T) {
	a := Agent{Name: "sage", Door: DoorExec, Tiers: []Tier{{Name: "default", Count: 1, Exec: "aider --message {prompt}"}}}
	if err := a.Validate(); err == nil || !strings.Contains(err.Error(), "input: prompt") {
		t.Errorf("validated: %v", err)
	}
	a.Input = InputPrompt
	if err := a.Validate(); err != nil {
		t.Error(err)
	}
	for _, input := range []string{"stdin", "Prompt"} {
		a.Input = input
		if err := a.Validate(); err == nil {
			t.Errorf("input %q was let through", input)
		}
	}
}

func TestAgents(t *testing.T) {
	dir := t.TempDir()
	want := agents(dir)
	for _, a := range []Agent{want[2], want[1], want[0]} {
		if err := WriteAgent(dir, a); err != nil {
			t.Fatal(err)
		}
	}
	wantPrivate(t, filepath.Join(dir, "mawjs.yaml"))
	for _, name := range []string{".hidden.yaml", durable.TempPrefix + "1", "mawjs.yaml~"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadAgents(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	want[1].Timeout = time.Second
	if err := WriteAgent(dir, want[1]); err != nil {
		t.Fatal(err)
	}
	if got, err = ReadAgents(dir); err != nil || !cmp.Equal(want, got) {
		t.Errorf("written again: %v %v", got, err)
	}
}

// People read what the program writes, too.
func TestAgentText(t *testing.T) {
	got, err := renderAgent(agents("/srv/mawjs")[0])
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/agent.golden"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadAgentsPartly(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"good.yaml":  "name: good\ndoor: inbox\n",
		"other.yaml": "name: good\ndoor: inbox\n",
		"bad.yaml":   "name: bad\ndoor: window\n",
		"short.yml":  "name: short\ndoor: inbox\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadAgents(dir)
	if diff := cmp.Diff([]Agent{{Name: "good", Door: DoorInbox}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, part := range []string{
		"bad.yaml: line 2: door: ",
		`other.yaml: name: is "good", but the file is called other.yaml`,
		"short.yml: the file of an agent ends in .yaml",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not said in: %v", part, err)
		}
	}
	if got, err := ReadAgents(filepath.Join(dir, "gone")); got != nil || err != nil {
		t.Errorf("no folder: %v %v", got, err)
	}
	if _, err := ReadAgents(filepath.Join(dir, "good.yaml")); err == nil {
		t.Error("a file for a folder: no error")
	}
}

func TestWriteAgentRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, a := range []Agent{
		{Name: "../x", Door: DoorInbox},
		{Name: "all", Door: DoorInbox},
		{Name: "x", Door: DoorExec, Tiers: []Tier{{Name: "a", Count: 1, Exec: "a\x00b"}}},
		{Name: "x", Door: DoorExec, Tiers: []Tier{{Name: "a", Count: 1, Exec: strings.Repeat("x", maxFileBytes)}}},
	} {
		if err := WriteAgent(dir, a); err == nil || !strings.HasPrefix(err.Error(), "cannot write the agent ") {
			t.Errorf("%q: %v", a.Name, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v %v", entries, err)
	}
}

// The file of an agent that is removed is kept, and so is that of a later agent of the same name.
func TestRemoveAgent(t *testing.T) {
	dir := t.TempDir()
	a := Agent{Name: "bc", Door: DoorInbox}
	remove := func(now time.Time) error {
		t.Helper()
		if err := WriteAgent(dir, a); err != nil {
			t.Fatal(err)
		}
		return RemoveAgent(dir, a.Name, now)
	}
	zone := time.FixedZone("", 7*3600)
	for _, now := range []time.Time{added.In(zone), added.Add(time.Millisecond)} {
		if err := remove(now); err != nil {
			t.Fatal(err)
		}
	}
	if err := remove(added); !errors.Is(err, fs.ErrExist) {
		t.Errorf("at the same time: %v", err)
	}
	if got, err := ReadAgents(dir); err != nil || len(got) != 1 {
		t.Errorf("the agent that could not be removed is gone: %v %v", got, err)
	}
	for _, name := range []string{"bc-20260523T190100.000Z.yaml", "bc-20260523T190100.001Z.yaml"} {
		if data, err := os.ReadFile(filepath.Join(dir, "removed", name)); err != nil || len(data) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
	}
	err := RemoveAgent(dir, protocol.Name("nobody"), added)
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "cannot remove the agent nobody: ") {
		t.Errorf("nobody: %v", err)
	}
}

func FuzzAgent(f *testing.F) {
	for _, a := range agents("/srv/mawjs") {
		data, err := renderAgent(a)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("name: bc\ndoor: exec\ntiers: [{name: a, exec: \"b\\t\\n #: ' \\u2028\"}]\nadded: 2026-05-23T19:01:00.5+07:00\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, problems := parseAgent(data)
		if len(problems) > 0 {
			return
		}
		text, err := renderAgent(a)
		if err != nil {
			return // it is larger than a file may be
		}
		again, problems := parseAgent(text)
		if err := asError("", problems); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(a, again); diff != "" {
			t.Errorf("(-want +got):\n%s\n%s", diff, text)
		}
	})
}
