// Package scripts plays scripts that tell a story end to end: with parley as the test binary itself
// plays it, with real nodes, real git, real NATS and other people's programs. A group of commands has
// its scripts in testdata/script, and a file with a TestMain and a TestScript.
package scripts

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/rogpeppe/go-internal/testscript"
)

// Main runs the tests of a package and ends. Programs that they start by name are this test binary:
// parley, rawcall, and those in more. Most of the time scripts wait for each other, for git and for
// the clock. So twice as many tests run at a time as there are processors, unless -parallel says
// otherwise, or the race detector keeps the processors busy.
func Main(m *testing.M, parley func(*cli.Program) int, more map[string]func()) {
	if !scratch.Raced {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	programs := map[string]func(){"rawcall": rawCall, "parley": func() {
		p := cli.New(os.Stdin, os.Stdout, os.Stderr, os.Getenv)
		p.Unwatched = os.Getenv("WATCHED") == "" // an agent program may have started the tests
		p.PassphraseWork = 1                     // the passphrases of scripts protect nothing, and there are many of them
		os.Exit(parley(p))
	}}
	maps.Copy(programs, more)
	testscript.Main(scratch.InMemory(m), programs)
}

// Play plays the scripts of a package. While the race detector looks on, it plays only those in
// raced, in which a node does much at a time: with it, each of the thousands of commands of all
// scripts takes a tenth of a second to start, and a command has one goroutine. The parts of a node
// are raced in the tests of their packages.
func Play(t *testing.T, raced ...string) {
	params := testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv("HOME", env.WorkDir)
			docs, err := filepath.Abs("../../../docs") // files that pages show are written by scripts
			if err != nil {
				return err
			}
			env.Setenv("DOCS", docs)
			env.Setenv("PARLEY_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(env.WorkDir, "gitconfig"))
			env.Defer(func() { stopNodes(t, env.WorkDir) })
			return os.WriteFile(filepath.Join(env.WorkDir, "gitconfig"),
				[]byte("[user]\n\tname = alice\n\temail = alice@example.org\n[init]\n\tdefaultBranch = main\n[pull]\n\trebase = true\n"), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"until": until, "capture": capture, "replace": replace, "count": count, "push": push,
		},
		Condition: condition,
	}
	if scratch.Raced && !scratch.Longer() {
		for _, name := range raced {
			params.Files = append(params.Files, filepath.Join(params.Dir, name+".txtar"))
		}
		params.Dir = ""
	}
	testscript.Run(t, params)
}

// stopNodes stops the nodes that a script has left in the background, whether the script ended well
// or not. It waits until they are gone.
func stopNodes(t *testing.T, dir string) {
	sockets, err := filepath.Glob(filepath.Join(dir, "*", "control.sock"))
	if err != nil {
		t.Error(err)
	}
	for _, socket := range sockets {
		ctx, cancel := context.WithTimeout(context.Background(), scratch.Patience())
		if _, err := control.Stop.Ask(ctx, control.NewClient(socket, "")); err == nil {
			for conn, err := control.Dial(ctx, socket); err == nil; conn, err = control.Dial(ctx, socket) {
				_ = conn.Close()
				<-time.After(20 * time.Millisecond) // only spares the processor
			}
		}
		cancel()
	}
}

// condition adds conditions to those of testscript. [long] holds if tests that take long are asked
// for, [raced] if the race detector is on, [walls] if members of inquiries get walls, [roottests] if
// tests may do what needs root.
func condition(cond string) (bool, error) {
	switch cond {
	case "long":
		return scratch.Longer(), nil
	case "raced":
		return scratch.Raced, nil
	case "walls":
		return keeper.CheckWalls(nil) == nil, nil
	case "roottests":
		return runtime.GOOS == "linux" && os.Geteuid() == 0 && os.Getenv("PARLEY_ROOT_TESTS") != "", nil
	}
	return false, fmt.Errorf("there is no condition %q", cond)
}

// until runs a command again and again until its output matches, in pauses longer than its start:
// until REGEXP COMMAND ARG…
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND ARG…")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for deadline, pause := time.Now().Add(scratch.Patience()), 50*time.Millisecond; ; pause = min(pause*3/2, 200*time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		if out := ts.ReadFile("stdout"); err == nil && want.MatchString(out) {
			return
		} else if time.Now().After(deadline) {
			ts.Fatalf("waited %s in vain for %q; the last output was:\n%s%s", scratch.Patience(), args[0], out, ts.ReadFile("stderr"))
		}
		<-time.After(pause) // only spares the processor
	}
}

// push pushes a clone as a person would. If a node was faster, it pulls and pushes again:
// push CLONE
func push(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: push CLONE")
	}
	for deadline := time.Now().Add(scratch.Patience()); ; {
		ts.Check(ts.Exec("git", "-C", args[0], "pull", "--quiet", "--rebase"))
		if err := ts.Exec("git", "-C", args[0], "push", "--quiet"); err == nil {
			return
		} else if time.Now().After(deadline) {
			ts.Fatalf("waited %s in vain for a push: %v\n%s", scratch.Patience(), err, ts.ReadFile("stderr"))
		}
	}
}

// capture sets a variable to the first group that matches in the last output: capture NAME
// REGEXP
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	m := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) < 2 {
		ts.Fatalf("nothing matches %q in:\n%s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], m[1])
}

// replace replaces text in a file: replace FILE OLD NEW
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s does not contain %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], unescape(args[2]))), 0o600))
}

func unescape(s string) string { return strings.NewReplacer(`\n`, "\n", `\r`, "\r").Replace(s) }

// count checks how many lines of the last output, or of a file, match: count N REGEXP [FILE]
func count(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: count N REGEXP [FILE]")
	}
	file := "stdout"
	if len(args) == 3 {
		file = args[2]
	}
	found := len(regexp.MustCompile("(?m)"+args[1]).FindAllString(ts.ReadFile(file), -1))
	if got := strings.TrimSpace(args[0]); got != strconv.Itoa(found) {
		ts.Fatalf("%d lines match %q, want %s, in:\n%s", found, args[1], got, ts.ReadFile(file))
	}
}
