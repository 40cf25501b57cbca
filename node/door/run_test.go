package door

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// endless is a grace period. A test that waits for it fails by its own timeout.
const endless = time.Hour

// runToEnd runs a command to its end.
func runToEnd(t *testing.T, c Command) Result {
	t.Helper()
	r := Run(t.Context(), c)
	if r.Elapsed <= 0 {
		t.Errorf("elapsed %s", r.Elapsed)
	}
	return r
}

func wantResult(t *testing.T, want, got Result) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Result{}, "Elapsed")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRunAnswers(t *testing.T) {
	c := newSwitchboard(t).command("echo")
	c.Stdin = []byte("what is\n\tψ?\n\n")
	wantResult(t, Result{Output: "what is\n\tψ?"}, runToEnd(t, c))
}

func TestRunFailures(t *testing.T) {
	s := newSwitchboard(t)
	for _, test := range []struct {
		command Command
		want    Result
		problem string
	}{
		{
			command: s.command("complain", "3"),
			want:    Result{Failure: ExitStatus, ExitCode: 3, Stderr: "first\nno luck"},
			problem: "the command ended with exit code 3: no luck",
		}, {
			command: s.command("complain", "0"),
			want:    Result{Failure: Empty, Stderr: "first\nno luck"},
			problem: "the command printed nothing: no luck",
		}, {
			command: s.command("spell", " ", `\n\t`, `\n`),
			want:    Result{Failure: Empty, Output: " \n\t"},
			problem: "the command printed nothing",
		}, {
			command: Command{Argv: []string{"parley-test-no-such-program"}},
			want: Result{Failure: NotStarted, ExitCode: -1,
				Detail: "cannot start parley-test-no-such-program: it is in no folder of the node's PATH"},
			problem: "cannot start parley-test-no-such-program: it is in no folder of the node's PATH",
		}, {
			command: Command{},
			want:    Result{Failure: NotStarted, ExitCode: -1, Detail: "cannot start the command: no program is named"},
			problem: "cannot start the command: no program is named",
		},
	} {
		got := runToEnd(t, test.command)
		wantResult(t, test.want, got)
		if got.Problem() != test.problem {
			t.Errorf("problem %q, want %q", got.Problem(), test.problem)
		}
	}
}

func TestRunMissingFolder(t *testing.T) {
	c := newSwitchboard(t).command("echo")
	c.Dir = filepath.Join(t.TempDir(), "gone")
	got := runToEnd(t, c)
	if got.Failure != NotStarted || !strings.Contains(got.Detail, "its folder "+c.Dir+": ") {
		t.Errorf("got %+v", got)
	}
	c.Dir = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(c.Dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got = runToEnd(t, c)
	if got.Failure != NotStarted || !strings.HasSuffix(got.Detail, "its folder "+c.Dir+" is not a folder") {
		t.Errorf("got %+v", got)
	}
}

// The path of a program that is named with a slash begins at Dir, whatever the node's own folder
// is.
func TestRunRelativeProgram(t *testing.T) {
	s := newSwitchboard(t)
	dir := t.TempDir()
	name := "agent" + filepath.Ext(s.self)
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(s.self, filepath.Join(dir, "bin", name)); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	c := s.command("spell", "here")
	c.Argv[0] = "./bin/" + name
	c.Dir = dir
	wantResult(t, Result{Output: "here"}, runToEnd(t, c))
}

// Crosstalk D37.
func TestRunText(t *testing.T) {
	s := newSwitchboard(t)
	for _, test := range []struct {
		spell string
		max   int
		want  Result
	}{
		{`a\xffb\xc3\n`, 0, Result{Output: "a\uFFFDb\uFFFD", Strange: 2}},
		{`a\x00b`, 0, Result{Output: "a\x00b"}},
		{`a\r\nb\x1b[1mc\x07\u0085`, 0, Result{Output: "a\r\nb\x1b[1mc\x07\u0085"}},
		{`dos\r\n\r\n`, 0, Result{Output: "dos"}},
		{`bar\r`, 0, Result{Output: "bar\r"}},
		{`猫猫猫`, 7, Result{Output: "猫猫", Truncated: true}},
		{`猫猫猫`, 9, Result{Output: "猫猫猫"}},
		{`\xff\xff\xff\xff`, 5, Result{Output: "\uFFFD", Truncated: true, Strange: 4}},
	} {
		c := s.command("spell", test.spell)
		c.MaxOutput = test.max
		wantResult(t, test.want, runToEnd(t, c))
	}
}

// Crosstalk C19 and Crosstalk D37.
func TestRunBoundsOutput(t *testing.T) {
	const size = 8 << 20
	got := runToEnd(t, newSwitchboard(t).command("flood", strconv.Itoa(size)))
	want := Result{
		Output:    strings.Repeat("o", defaultMaxOutput),
		Stderr:    strings.Repeat("e", maxStderr-3) + "end",
		Truncated: true,
	}
	wantResult(t, want, got)
}

// It prevents: a seed that the bound of an output cuts in two is not recognised, and stands in the
// record but for its last characters. So does one that comes within the bound because others before
// it were taken out.
func TestRunCutsNoSecret(t *testing.T) {
	const seed = "SUAIBDPBAUTWCWBKIO6XHQNINK5FWJW4OHLXC3HQ2KFE4PEJUA44CNHTC4"
	for _, before := range []string{strings.Repeat("x", 1942), strings.Repeat(seed+" ", 50), strings.Repeat("x", 1942+maxSecret)} {
		c := newSwitchboard(t).command("spell", before+" "+seed+" "+strings.Repeat("y", 2*maxSecret))
		c.MaxOutput = 2000
		if got := runToEnd(t, c); strings.Contains(got.Output, seed[:40]) || len(got.Output) > c.MaxOutput || !got.Truncated {
			t.Errorf("%d bytes, truncated %v: %q", len(got.Output), got.Truncated, got.Output)
		}
	}
}

// A command that reads nothing must not fail for it, nor block the node. Crosstalk C19 and Crosstalk D29.
func TestRunUnreadInput(t *testing.T) {
	c := newSwitchboard(t).command("spell")
	c.Stdin = bytes.Repeat([]byte("x"), 300_000)
	wantResult(t, Result{Failure: Empty}, runToEnd(t, c))
}

// Crosstalk C19.
func TestRunTimesOut(t *testing.T) {
	s := newSwitchboard(t)
	c := s.command("hold")
	c.Timeout = 50 * time.Millisecond
	c.Grace = 50 * time.Millisecond
	got := runToEnd(t, c)
	wantResult(t, Result{Failure: TimedOut, ExitCode: -1, Detail: "50ms"}, got)
	if got.Elapsed < c.Timeout {
		t.Errorf("ended after %s", got.Elapsed)
	}
	if want := "no answer within 50ms: its processes were ended"; got.Problem() != want {
		t.Errorf("problem %q, want %q", got.Problem(), want)
	}
	if got := (Result{Failure: TimedOut, Detail: seconds(defaultTimeout)}).Problem(); got != "no answer within 60 s: its processes were ended" {
		t.Errorf("problem %q", got)
	}
	if got, want := seconds(24*time.Hour), "24h"; got != want {
		t.Errorf("a long time is written %q, want %q", got, want)
	}
}

// inBackground runs a command. It returns a function that cancels the command, and the channel of
// its result.
func inBackground(t *testing.T, c Command) (cancel func(), result <-chan Result) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	ch := make(chan Result, 1)
	go func() { ch <- Run(ctx, c) }()
	return cancel, ch
}

// Crosstalk C19.
func TestRunCanceled(t *testing.T) {
	s := newSwitchboard(t)
	c := s.command("family")
	c.Grace = endless // both end by SIGTERM alone
	cancel, result := inBackground(t, c)
	first, second := s.answer(), s.answer()
	cancel()
	got := <-result
	wantResult(t, Result{Failure: Canceled, ExitCode: -1}, got)
	first.wantDead(t)
	second.wantDead(t)
	if got.Problem() != "the command was stopped before it had answered" {
		t.Errorf("problem %q", got.Problem())
	}
}

func TestRunAlreadyCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantResult(t, Result{Failure: Canceled, ExitCode: -1}, Run(ctx, newSwitchboard(t).command("echo")))
}

// A descendant that keeps standard output open must neither hang the node nor outlive the run.
func TestRunLeftover(t *testing.T) {
	s := newSwitchboard(t)
	c := s.command("parent")
	c.Grace = 30 * time.Millisecond
	s.wantLeftoverEnded(c)
}

// wantLeftoverEnded runs a command that prints "hi" and leaves a process behind. The process must
// not outlive the run.
func (s switchboard) wantLeftoverEnded(c Command) {
	s.t.Helper()
	_, result := inBackground(s.t, c)
	left := s.answer()
	wantResult(s.t, Result{Output: "hi"}, <-result)
	left.wantDead(s.t)
}

// The end of the context cuts the wait for such a descendant short.
func TestRunLeftoverCanceled(t *testing.T) {
	s := newSwitchboard(t)
	c := s.command("parent")
	c.Grace = endless
	cancel, result := inBackground(t, c)
	child := s.answer()
	cancel()
	got := <-result // it is not known here whether the parent had ended by then
	if got.Output != "hi" || got.Failure != None && got.Failure != Canceled {
		t.Errorf("got %+v", got)
	}
	child.wantDead(t)
}

// A descendant that has no part in the output is not waited for. It does not outlive the run
// either.
func TestRunQuietLeftover(t *testing.T) {
	s := newSwitchboard(t)
	c := s.command("quiet-parent")
	c.Grace = endless
	s.wantLeftoverEnded(c)
}

func TestRunManyAtOnce(t *testing.T) {
	s := newSwitchboard(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			c := s.command("echo")
			c.Stdin = []byte(strconv.Itoa(i))
			wantResult(t, Result{Output: strconv.Itoa(i)}, Run(t.Context(), c))
		})
	}
	wg.Wait()
}

// What cannot be started is known before a message waits for it, and not what can.
func TestCheckStart(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"can": 0o700, "may not": 0o600} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"./can 1": "", `"` + dir + `/can"`: "", "'./may not'": "cannot start ./may not: permission denied", "./none": "cannot start ./none: no such file or directory",
		"parley-test-no-such-program": "cannot start parley-test-no-such-program: it is in no folder of the node's PATH",
	} {
		got := ""
		if err := CheckStart(line, dir); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if err := CheckStart("./can", filepath.Join(dir, "gone")); err == nil || !strings.Contains(err.Error(), "its folder") {
		t.Errorf("in a folder that is gone: %v", err)
	}
}

// Tokens of known forms are masked in an answer and in what a failure shows, counted once for each
// place that is shown, and not found again where the bound of the output cuts one.
func TestRunMasksSecrets(t *testing.T) {
	const token = "ghp_" + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"
	got := runToEnd(t, newSwitchboard(t).command("spell", "a "+token+" and "+token))
	if got.Output != "a [secret: github token] and [secret: github token]" || got.Secrets != 2 {
		t.Errorf("%d secrets: %q", got.Secrets, got.Output)
	}
	c := newSwitchboard(t).command("spell", strings.Repeat("x", 1990)+" "+token+strings.Repeat(" y", maxSecret))
	c.MaxOutput = 2000
	if got := runToEnd(t, c); strings.Contains(got.Output, token[:6]) {
		t.Errorf("cut: %q", got.Output)
	}
}
