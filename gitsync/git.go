package gitsync

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/parleyfleet/parley/internal/span"
)

const (
	// gitTimeout bounds one run of the program. A run that needed longer may
	// take twice as long the next time, up to gitPatience: a slow link must
	// bring a large fetch to its end some time.
	gitTimeout  = 60 * time.Second
	gitPatience = 16 * time.Minute
	// gitLinger is how long git and its helpers may take to end when they are told to,
	// before they are killed.
	gitLinger = 2 * time.Second
)

// gitProgram is the git program working on one repository: the carrier where
// it is installed. Everything that runs it goes through run.
type gitProgram struct {
	dir    string
	remote string

	ssh sync.Once
	env []string // set by ssh

	timeout atomic.Int64 // nanoseconds that the next run may take
}

func newGitProgram(dir, remote string) *gitProgram {
	g := &gitProgram{dir: dir, remote: remote}
	g.timeout.Store(int64(gitTimeout))
	return g
}

// gitError is a run of the git program that failed.
type gitError struct {
	verb   string
	line   string // its last meaningful line
	output string
	err    error
}

func (e *gitError) Error() string { return "git " + e.verb + ": " + e.line }
func (e *gitError) Unwrap() error { return e.err }

// run runs the git program in the repository: no prompts, no inherited
// repository, English messages, everything it writes fsynced, no gc of its own.
// When its time is over, or ctx ends, it is told to end, with all its helpers, and
// killed if that takes longer than gitLinger. It needs git 2.29 or newer.
func (g *gitProgram) run(ctx context.Context, args ...string) (string, error) {
	g.ssh.Do(func() { g.env = append(gitEnvironment(os.Environ()), g.sshEnvironment(context.WithoutCancel(ctx))...) })
	limit := time.Duration(g.timeout.Load())
	tooLong := fmt.Errorf("no answer within %s", span.Text(limit))
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong)
	defer cancel()
	out, err := g.exec(ctx, g.env, args...)
	switch {
	case err == nil:
		g.timeout.Store(int64(gitTimeout))
	case errors.Is(context.Cause(ctx), tooLong):
		g.timeout.Store(int64(min(2*limit, gitPatience)))
	}
	return out, err
}

func (g *gitProgram) exec(ctx context.Context, env []string, args ...string) (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", fmt.Errorf("%w: the git program is not installed; install the package \"git\" of your system (git-scm.com)", ErrRemote)
	}
	fixed := []string{
		"--git-dir=" + g.dir,
		"-c", "core.fsync=all", "-c", "fetch.unpackLimit=1", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "protocol.ext.allow=never", "-c", "core.hooksPath=" + os.DevNull, "-c", "push.gpgSign=false",
	}
	cmd := exec.CommandContext(ctx, program, append(fixed, args...)...)
	cmd.Env = env
	cmd.Dir = filepath.Dir(g.dir)
	cmd.WaitDelay = gitLinger
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	end := ownGroup(cmd)
	if err := cmd.Run(); err != nil {
		line := lastMeaningfulLine(errOut.String())
		if ctx.Err() != nil {
			end()
			err = errors.Join(err, context.Cause(ctx))
			line = context.Cause(ctx).Error()
		} else if line == "" {
			line = err.Error()
		}
		return out.String(), &gitError{verb: args[0], line: g.hide(line), output: out.String() + errOut.String(), err: errors.Join(ErrRemote, err)}
	}
	return out.String(), nil
}

// sshEnvironment keeps ssh from asking questions, unless the user has an own
// idea of how to run it.
func (g *gitProgram) sshEnvironment(ctx context.Context) []string {
	if os.Getenv("GIT_SSH_COMMAND") != "" || os.Getenv("GIT_SSH") != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	own, err := g.exec(ctx, gitEnvironment(os.Environ()), "config", "--get", "core.sshCommand")
	if err == nil && strings.TrimSpace(own) != "" {
		return nil
	}
	return []string{"GIT_SSH_COMMAND=ssh -o BatchMode=yes"}
}

// gitEnvironment is environ without what would point git at another repository.
func gitEnvironment(environ []string) []string {
	local := map[string]bool{
		"GIT_ALTERNATE_OBJECT_DIRECTORIES": true, "GIT_CONFIG": true, "GIT_CONFIG_PARAMETERS": true,
		"GIT_CONFIG_COUNT": true, "GIT_OBJECT_DIRECTORY": true, "GIT_DIR": true, "GIT_WORK_TREE": true,
		"GIT_IMPLICIT_WORK_TREE": true, "GIT_GRAFT_FILE": true, "GIT_INDEX_FILE": true, "GIT_NO_REPLACE_OBJECTS": true,
		"GIT_REPLACE_REF_BASE": true, "GIT_PREFIX": true, "GIT_SHALLOW_FILE": true, "GIT_COMMON_DIR": true,
		"GIT_NAMESPACE": true, "GIT_QUARANTINE_PATH": true, "GIT_DEFAULT_HASH": true,
		"GIT_TERMINAL_PROMPT": true, "SSH_ASKPASS_REQUIRE": true, "LC_ALL": true, "LANGUAGE": true,
	}
	var out []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if !local[name] && !strings.HasPrefix(name, "GIT_CONFIG_KEY_") && !strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
			out = append(out, pair)
		}
	}
	return append(out, "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=never", "LC_ALL=C")
}

// hide takes the password of the remote out of a text.
func (g *gitProgram) hide(text string) string {
	if shown := redact(g.remote); shown != g.remote {
		text = strings.ReplaceAll(text, g.remote, shown)
	}
	return text
}

// lastMeaningfulLine is what a person needs to know of git's complaints.
func lastMeaningfulLine(output string) string {
	const generic = "Could not read from remote repository."
	var last, before string
	for _, line := range strings.Split(output, "\n") {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, line))
		if line == "" || strings.HasPrefix(line, "hint:") || strings.HasPrefix(line, "Please make sure") ||
			strings.HasPrefix(line, "and the repository exists") || strings.HasPrefix(line, "To ") ||
			strings.HasPrefix(line, "warning:") {
			continue
		}
		before, last = last, line
	}
	if strings.HasSuffix(last, generic) && before != "" {
		last = before
	}
	for _, prefix := range []string{"fatal: ", "error: "} {
		last = strings.TrimPrefix(last, prefix)
	}
	return last
}
