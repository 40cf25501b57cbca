package door

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ownTempDir has the commands of a test leave their files in a folder of its own. It fails the test
// if anything is left there.
func ownTempDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	t.Cleanup(func() {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	})
	return dir
}

// filling returns a command whose placeholders are filled in.
func (s switchboard) filling(input, role string, args ...string) Command {
	c := s.command(role, args...)
	c.Placeholders, c.Stdin = true, []byte(input)
	return c
}

func TestRunPrompt(t *testing.T) {
	ownTempDir(t)
	s := newSwitchboard(t)
	for _, test := range []struct {
		input string
		args  []string
		want  []string // the arguments, then standard input
	}{
		{"two\nlines, ψ 'quoted' $(x)", []string{"-p", "{prompt}"}, []string{"-p", "two\nlines, ψ 'quoted' $(x)", ""}},
		{"hi", []string{"--message={prompt}", "x"}, []string{"--message=hi", "x", ""}},
		{"hi", []string{"none"}, []string{"none", "hi"}},
		{"{prompt} {output}", []string{"{prompt}"}, []string{"{prompt} {output}", ""}}, // each placeholder is filled in once
		{"a\x00b", []string{"{prompt}"}, []string{"a␀b", ""}},
		{"--danger", []string{"{prompt}", "-m{prompt}"}, []string{" --danger", "-m--danger", ""}},
		{"", []string{"{prompt}"}, []string{"", ""}},
	} {
		lines := make([]string, len(test.want))
		for i, word := range test.want {
			lines[i] = strconv.Quote(word)
		}
		wantResult(t, Result{Output: strings.Join(lines, "\n")}, runToEnd(t, s.filling(test.input, "tell", test.args...)))
	}
}

// A command that is given plain text keeps the words of its command line as they are.
func TestRunWithoutPlaceholders(t *testing.T) {
	ownTempDir(t)
	c := newSwitchboard(t).command("tell", "{prompt}", "{output}")
	c.Stdin = []byte("hi")
	wantResult(t, Result{Output: "\"{prompt}\"\n\"{output}\"\n\"hi\""}, runToEnd(t, c))
}

func TestRunOutputFile(t *testing.T) {
	ownTempDir(t)
	s := newSwitchboard(t)
	for _, test := range []struct {
		name    string
		args    []string
		max     int
		want    Result
		problem string
	}{
		{"an answer", []string{"write", "{output}", `the\r\nanswer\n\n`, "working"}, 0,
			Result{Output: "the\r\nanswer", Printed: "working"}, ""},
		{"too much", []string{"write", "{output}", `猫猫猫`, ""}, 7, Result{Output: "猫猫", Truncated: true}, ""},
		{"just enough", []string{"write", "{output}", `猫猫猫`, ""}, 9, Result{Output: "猫猫猫"}, ""},
		{"no text", []string{"write", "{output}", `a\xffb\x00\n`, ""}, 0, Result{Output: "a\uFFFDb\x00", Strange: 1}, ""},
		{"empty", []string{"write", "{output}", ``, "I give up"}, 0,
			Result{Failure: Empty, Detail: "wrote no answer to its file", Printed: "I give up"},
			"the command wrote no answer to its file: I give up"},
		{"space", []string{"write", "{output}", `\n \n`, ""}, 0,
			Result{Failure: Empty, Detail: "wrote no answer to its file", Output: "\n "},
			"the command wrote no answer to its file"},
		{"missing", []string{"complain", "0", "{output}"}, 0,
			Result{Failure: Empty, Detail: "wrote no answer to its file", Stderr: "first\nno luck"},
			"the command wrote no answer to its file: no luck"},
		{"failed", []string{"complain", "3", "{output}"}, 0,
			Result{Failure: ExitStatus, ExitCode: 3, Stderr: "first\nno luck"},
			"the command ended with exit code 3: no luck"},
		{"a folder", []string{"misplace", "{output}"}, 0,
			Result{Failure: Empty, Detail: "left an answer that cannot be read (it is no file)", Printed: "thinking\nwell"},
			"the command left an answer that cannot be read (it is no file): well"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := s.filling("", test.args[0], test.args[1:]...)
			c.MaxOutput = test.max
			got := runToEnd(t, c)
			wantResult(t, test.want, got)
			if got.Problem() != test.problem {
				t.Errorf("problem %q, want %q", got.Problem(), test.problem)
			}
		})
	}
}

// The file is new, and alone in a folder that is closed to others. It is named by its whole path,
// even if the system's folder for such files is not.
func TestRunOutputFileIsPrivate(t *testing.T) {
	ownTempDir(t)
	t.Chdir(filepath.Dir(os.TempDir()))
	t.Setenv("TMPDIR", filepath.Base(os.TempDir()))
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	f, err := Command{Argv: []string{"x", "{output}", "--to={output}"}, Placeholders: true}.fill()
	if err != nil {
		t.Fatal(err)
	}
	defer f.remove()
	file := f.Argv[1]
	if !filepath.IsAbs(file) || f.Argv[2] != "--to="+file {
		t.Errorf("words %q", f.Argv)
	}
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
	info, err := os.Stat(filepath.Dir(file))
	if err != nil || filepath.Separator == '/' && info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v %v", info, err)
	}
}

func TestRunOutputFileAfterTimeout(t *testing.T) {
	ownTempDir(t)
	s := newSwitchboard(t)
	c := s.filling("", "write-and-hold", "{output}")
	c.Grace = 20 * time.Millisecond
	cancel, result := inBackground(t, c)
	agent := s.answer()
	cancel()
	wantResult(t, Result{Failure: Canceled, ExitCode: -1, Output: "half"}, <-result)
	agent.wantDead(t)

	c = s.filling("", "hold", "{output}")
	c.Timeout, c.Grace = 50*time.Millisecond, 20*time.Millisecond
	wantResult(t, Result{Failure: TimedOut, ExitCode: -1, Detail: "50ms"}, runToEnd(t, c))

	c = s.filling("", "echo", "{output}")
	c.Argv[0] = "parley-test-no-such-program"
	if got := runToEnd(t, c); got.Failure != NotStarted {
		t.Errorf("got %+v", got)
	}
}

func TestRunPromptTooLong(t *testing.T) {
	ownTempDir(t)
	c := newSwitchboard(t).filling(strings.Repeat("x", 2<<20), "tell", "{output}", "{prompt}")
	got := runToEnd(t, c)
	if got.Failure != NotStarted || !strings.Contains(got.Problem(), "its text is too long for an argument (at most ") ||
		!strings.HasSuffix(got.Problem(), "): use a command that reads standard input instead of {prompt}") {
		t.Errorf("got %v: %s", got.Failure, got.Problem())
	}
}

func TestRunNoPlaceForAnswer(t *testing.T) {
	c := newSwitchboard(t).filling("", "echo", "{output}")
	c.Scratch = filepath.Join(t.TempDir(), "gone")
	got := runToEnd(t, c)
	if got.Failure != NotStarted || !strings.Contains(got.Detail, ": no place for its answer: ") {
		t.Errorf("got %+v", got)
	}
}

// A message must never become code. These are the ways in which an operator might have let it.
func TestCheckPlaceholders(t *testing.T) {
	for _, test := range []struct{ line, want string }{
		{"claude -p {prompt}", ""},
		{"codex exec -c a=b -o {output} {prompt}", ""},
		{"aider --message={prompt}", ""},
		{"sh -c 'claude -p \"$1\" > \"$2\"' sh {prompt} {output}", ""},
		{"python3 bot.py -c {prompt}", ""},
		{"python3 -u bot.py --text {prompt}", ""},
		{"bash ./agent.sh {prompt}", ""},
		{"echo {output} 'to {output}'", ""},
		{"{prompt}", "the program's own name holds a placeholder"},
		{"./{output}", "the program's own name holds a placeholder"},
		{"sh -c 'claude -p {prompt}'", "stands within"},
		{"sh -c 'claude {prompt} x'", "stands within"},
		{"x 'a\nb={prompt}'", "stands within"},
		{"x {prompt}{prompt}", "stands within"},
		{"sh -c {prompt}", "where sh takes a script"},
		{"env -i /bin/bash --norc -lc {prompt}", "where env takes a script"},
		{"Cmd.EXE /C {prompt}", "where Cmd.EXE takes a script"},
		{"pwsh -NoProfile -Command {prompt}", "where pwsh takes a script"},
		{"node --eval {prompt}", "where node takes a script"},
		{"ssh host claude -p {prompt}", "where ssh takes a script"},
	} {
		argv, err := SplitCommand(test.line)
		if err != nil {
			t.Fatal(err)
		}
		err = CheckPlaceholders(argv)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want %q", test.line, err, test.want)
		}
	}
}

func TestRunRefusesScript(t *testing.T) {
	ownTempDir(t)
	c := Command{Argv: []string{"sh", "-c", "{prompt}"}, Stdin: []byte("echo pwned"), Placeholders: true}
	got := runToEnd(t, c)
	want := "cannot start sh: {prompt} stands where sh takes a script, which a message must not write: use a command that reads standard input"
	if got.Failure != NotStarted || got.Problem() != want || got.Output != "" {
		t.Errorf("got %+v", got)
	}
}

// Whatever the text, the words without a placeholder stay, and the number of words stays.
func FuzzFill(f *testing.F) {
	f.Add("-x\x00{prompt}", "--a={prompt}")
	f.Fuzz(func(t *testing.T, text, word string) {
		c := Command{Argv: []string{"x", word, "{prompt}", "last"}, Stdin: []byte(text), Placeholders: true}
		got, err := c.fill()
		defer got.remove()
		if err != nil {
			if CheckPlaceholders(c.Argv) == nil {
				t.Fatal(err)
			}
			return
		}
		if len(got.Argv) != 4 || got.Argv[0] != "x" || got.Argv[3] != "last" || len(got.Stdin) != 0 {
			t.Errorf("words %q", got.Argv)
		}
		if said := got.Argv[2]; strings.HasPrefix(said, "-") || strings.Contains(said, "\x00") || strings.TrimPrefix(said, " ") != strings.TrimPrefix(strings.ReplaceAll(text, "\x00", "␀"), " ") {
			t.Errorf("%q became %q", text, said)
		}
	})
}
