package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets this test binary play parley, so that scripts run real daemons. Most of the time
// scripts wait for each other, for git and for the clock. So twice as many tests run at a time as
// there are processors, unless -parallel says otherwise, or the race detector keeps the processors
// busy.
func TestMain(m *testing.M) {
	if !raced {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	testscript.Main(scratch.InMemory(m), map[string]func(){"parley": quick, "natswatch": natsWatch, "stranger": stranger, "rawcall": rawCall})
}

// quick is parley with passphrases that cost no work to try. The passphrases of scripts protect
// nothing, and there are many of them.
func quick() {
	p := cli.New(os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	p.PassphraseWork = 1
	os.Exit(play(p))
}

// The scripts tell the command line's stories end to end, with real nodes, real git, real NATS and
// other people's programs.
func TestScript(t *testing.T) {
	params := testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			env.Setenv("HOME", env.WorkDir)
			docs, err := filepath.Abs("../../docs") // files that pages show are written by scripts
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
			"until": scriptUntil, "capture": scriptCapture, "replace": scriptReplace, "count": scriptCount, "push": scriptPush,
		},
		Condition: scriptCondition,
	}
	if raced && !scratch.Longer() {
		params.Dir, params.Files = "", racedScripts()
	}
	testscript.Run(t, params)
}

// racedScripts are the scripts that are played while the race detector looks on: those in which a
// node does much at a time. With it, each of the thousands of commands of all scripts takes a
// tenth of a second to start, and a command has one goroutine. The parts of a node are raced in the
// tests of their packages.
func racedScripts() (files []string) {
	for _, name := range []string{
		"agents", "callers", "chat", "dead_letters", "events", "frame", "frame_agents", "git_only", "hey_exec", "inbox_wait", "join", "kill9", "links",
		"loops", "lost_host", "max_commands", "notify", "parties", "presence", "queue", "restart", "search", "signals", "two_hosts", "waiting", "with_sync",
	} {
		files = append(files, filepath.Join("testdata", "script", name+".txtar"))
	}
	return files
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

// scriptCondition adds conditions to those of testscript. [long] holds if tests that take long are
// asked for, [raced] if the race detector is on,
// [walls] if members of inquiries get walls, [roottests] if tests may do what needs root.
func scriptCondition(cond string) (bool, error) {
	switch cond {
	case "long":
		return scratch.Longer(), nil
	case "raced":
		return raced, nil
	case "walls":
		return keeper.CheckWalls(nil) == nil, nil
	case "roottests":
		return runtime.GOOS == "linux" && os.Geteuid() == 0 && os.Getenv("PARLEY_ROOT_TESTS") != "", nil
	}
	return false, fmt.Errorf("there is no condition %q", cond)
}

// scriptUntil runs a command again and again until its output matches:
// until REGEXP COMMAND ARG…
func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND ARG…")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for deadline, pause := time.Now().Add(scratch.Patience()), 20*time.Millisecond; ; pause = min(pause*3/2, 150*time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		if out := ts.ReadFile("stdout"); err == nil && want.MatchString(out) {
			return
		} else if time.Now().After(deadline) {
			ts.Fatalf("waited %s in vain for %q; the last output was:\n%s%s", scratch.Patience(), args[0], out, ts.ReadFile("stderr"))
		}
		<-time.After(pause) // only spares the processor
	}
}

// scriptPush pushes a clone as a person would. If a node was faster, it pulls and pushes again:
// push CLONE
func scriptPush(ts *testscript.TestScript, neg bool, args []string) {
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

// scriptCapture sets a variable to the first group that matches in the last output: capture NAME
// REGEXP
func scriptCapture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	m := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) < 2 {
		ts.Fatalf("nothing matches %q in:\n%s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], m[1])
}

// scriptReplace replaces text in a file: replace FILE OLD NEW
func scriptReplace(ts *testscript.TestScript, neg bool, args []string) {
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

// scriptCount checks how many lines of the last output, or of a file, match: count N REGEXP [FILE]
func scriptCount(ts *testscript.TestScript, neg bool, args []string) {
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

// natsWatch is somebody else's NATS client. It subscribes to parley.> at the address given, prints
// every letter, and tries to publish a letter of its own.
func natsWatch() {
	refused := make(chan error, 1)
	conn, err := nats.Connect("nats://"+os.Args[1], nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	_, err = conn.Subscribe("parley.>", func(m *nats.Msg) {
		os.Stdout.Write(append(bytes.TrimRight(m.Data, "\n"), "\n=== "+m.Subject+"\n"...))
	})
	if err == nil {
		err = conn.Flush()
	}
	if err == nil {
		err = conn.Publish("parley.home.vm.broadcast", []byte("---\nfrom: stranger\n---\n"))
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("refused: " + (<-refused).Error() + "\n")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	os.Exit(0)
}
