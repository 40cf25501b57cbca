package carrier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/environ"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/span"
)

const (
	// gitTimeout bounds one run of the program. If a run needs longer, the next one may take twice
	// as long, up to Patience. So even over a slow link, a large fetch comes to its end.
	gitTimeout = 60 * time.Second
	// gitAsking bounds a question to the program that needs no network.
	gitAsking = 10 * time.Second
)

// gitProgram is the git program working on one repository. It is the carrier if git is installed.
// Only the method run starts it.
type gitProgram struct {
	dir    string
	remote string           // as configured; "" if it only works on dir
	at     string           // the remote in the form that git is given: others can see that in the list of processes
	login  *gitremote.Login // the name and password for the remote; nil if the user's own configuration of git has them
	store  *objects.Store   // of dir; nil if nothing is fetched
	link   *linked          // the other host that is the remote; nil if none is

	mu  sync.Mutex // guards env
	env []string   // see environment; nil until it is known

	pieces  atomic.Bool   // much may have to be fetched from another host
	mayAsk  bool          // see MayAsk
	usual   time.Duration // how long a run may usually take
	timeout atomic.Int64  // how long the next run may take, in nanoseconds
	memory  atomic.Int64  // how many bytes a process of a fetch may take; 0: as many as it needs
}

func newGitProgram(dir, remote string, store *objects.Store) *gitProgram {
	g := &gitProgram{dir: dir, remote: remote, store: store, usual: gitTimeout}
	g.at, g.login = gitremote.Split(remote)
	g.timeout.Store(int64(gitTimeout))
	g.memory.Store(usualMemory)
	return g
}

// output is what a run of the git program has written.
type output struct {
	told string // its answer, on standard output
	said string // what it says besides, on standard error
}

type gitError struct {
	verb   string
	line   string // why
	said   string // all that it said
	output string // the same behind what it answered
	err    error
}

func (e *gitError) Error() string { return "git " + e.verb + ": " + e.line }
func (e *gitError) Unwrap() error { return e.err }

// run runs the git program in the repository: without prompts and inherited repository, with
// English messages, with everything fsynced, and without a gc of its own. When its time is over, or
// when ctx ends, it and all its helpers are told to end. If that takes longer than Linger, they are
// killed. It needs git 2.29 or newer.
func (g *gitProgram) run(ctx context.Context, args ...string) (output, error) {
	env, err := g.environment(ctx)
	if err != nil {
		return output{}, err
	}
	limit := time.Duration(g.timeout.Load())
	tooLong := fmt.Errorf("no answer within %s", span.Text(limit))
	ctx, cancel := context.WithTimeoutCause(ctx, limit, tooLong)
	defer cancel()
	out, err := g.carry(ctx, env, args...)
	switch {
	case err == nil:
		g.timeout.Store(int64(g.usual))
	case errors.Is(context.Cause(ctx), tooLong):
		g.timeout.Store(int64(min(2*limit, Patience)))
	}
	return out, err
}

// carry runs git, with a tunnel to the other host if the remote is one.
func (g *gitProgram) carry(ctx context.Context, env []string, args ...string) (output, error) {
	if g.link == nil {
		return g.exec(ctx, env, args...)
	}
	t, err := openTunnel(ctx, g.link.host, g.link.record, g.link.dial)
	if err != nil {
		return output{}, err
	}
	args = append([]string{"-c", "protocol.git.allow=always", "-c", "core.gitProxy=none"}, args...)
	out, err := g.exec(ctx, slices.Concat(env, t.environment(g.at)), args...)
	failed := new(gitError)
	if why := t.close(); why != nil && errors.As(err, &failed) {
		failed.line, failed.err = why.Error(), errors.Join(failed.err, why) // git knows only that the connection has ended
	}
	return out, err
}

// verbOf is the git command in `args`, which stands behind settings for this one run.
func verbOf(args []string) string {
	for args[0] == "-c" {
		args = args[2:]
	}
	return args[0]
}

func (g *gitProgram) exec(ctx context.Context, env []string, args ...string) (output, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return output{}, fmt.Errorf("%w: the git program is not installed; install the package \"git\" of your system (git-scm.com)", ErrRemote)
	}
	fixed := []string{
		"--git-dir=" + g.dir,
		"-c", "core.fsync=all", "-c", "fetch.unpackLimit=1", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "protocol.ext.allow=never", "-c", "core.hooksPath=" + os.DevNull, "-c", "push.gpgSign=false", "-c", "fetch.output=full",
	}
	cmd := exec.CommandContext(ctx, program, slices.Concat(fixed, g.askUs(), args)...)
	cmd.Env = env
	cmd.Dir = filepath.Dir(g.dir)
	cmd.WaitDelay = Linger
	var stdout bytes.Buffer
	stderr := limited{room: maxSaid}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	end := ownGroup(cmd)
	if err = cmd.Start(); err == nil {
		if most := g.mostMemory(verbOf(args)); most > 0 {
			boundMemory(cmd.Process.Pid, most) // before git starts those of its processes that unpack
		}
		err = cmd.Wait()
	}
	if errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		err = nil // git has done its work; a process that it started, such as a shared connection of ssh, stays
	}
	out := output{told: stdout.String(), said: stderr.String()}
	if err != nil {
		line := gathered(linesOf(g.hide(out.said)))
		if ctx.Err() != nil {
			end()
			err = errors.Join(err, context.Cause(ctx))
			line = context.Cause(ctx).Error()
		} else if line == "" {
			line = g.hide(err.Error())
		}
		return out, &gitError{verb: verbOf(args), line: line, said: out.said, output: out.told + out.said, err: errors.Join(ErrRemote, err)}
	}
	return out, nil
}

// mostMemory is how much memory a run may take; 0: as much as it needs. Another host can name refs
// without end, and git keeps them all.
func (g *gitProgram) mostMemory(verb string) uint64 {
	switch {
	case verb == "fetch":
		return uint64(g.memory.Load())
	case g.link == nil:
		return 0
	case verb == "push":
		return patientMemory
	}
	return usualMemory
}

// environment is the environment of the git program: that of this process without what would
// mislead git. ssh asks no questions in it, unless the user has configured how git runs ssh.
func (g *gitProgram) environment(ctx context.Context) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.env != nil {
		return g.env, nil
	}
	env := gitEnvironment(environ.Clean(os.Environ()))
	env = append(env, gitremote.AsksNobody()...)
	own, err := g.ownSSH(ctx, env)
	if err != nil {
		return nil, err
	}
	if !own {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	if g.login != nil {
		env = append(env, loginUser+"="+g.login.User, loginPassword+"="+g.login.Password)
	}
	g.env = env
	return env, nil
}

// ownSSH reports whether the user has configured how git runs ssh. It does not ask git if the remote
// is reached without ssh.
func (g *gitProgram) ownSSH(ctx context.Context, env []string) (bool, error) {
	if os.Getenv("GIT_SSH_COMMAND") != "" || os.Getenv("GIT_SSH") != "" {
		return true, nil
	}
	if g.remote == "" || g.link != nil || gitremote.Folder(g.remote) != "" {
		return false, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, gitAsking, fmt.Errorf("no answer within %s", span.Text(gitAsking)))
	defer cancel()
	own, err := g.exec(ctx, env, "config", "--get", "core.sshCommand")
	if ctx.Err() != nil {
		return false, err
	}
	return err == nil && strings.TrimSpace(own.told) != "", nil // git fails if nothing is configured
}

// gitEnvironment is `environ` without what would point git at another repository.
func gitEnvironment(environ []string) []string {
	local := map[string]bool{
		"GIT_ALTERNATE_OBJECT_DIRECTORIES": true, "GIT_CONFIG": true, "GIT_CONFIG_PARAMETERS": true,
		"GIT_CONFIG_COUNT": true, "GIT_OBJECT_DIRECTORY": true, "GIT_DIR": true, "GIT_WORK_TREE": true,
		"GIT_IMPLICIT_WORK_TREE": true, "GIT_GRAFT_FILE": true, "GIT_INDEX_FILE": true, "GIT_NO_REPLACE_OBJECTS": true,
		"GIT_REPLACE_REF_BASE": true, "GIT_PREFIX": true, "GIT_SHALLOW_FILE": true, "GIT_COMMON_DIR": true,
		"GIT_NAMESPACE": true, "GIT_QUARANTINE_PATH": true, "GIT_DEFAULT_HASH": true,
		"GIT_PROXY_COMMAND": true, "GIT_PROTOCOL": true, "LC_ALL": true, "LANGUAGE": true,
	}
	var out []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if !local[name] && !strings.HasPrefix(name, "GIT_CONFIG_KEY_") && !strings.HasPrefix(name, "GIT_CONFIG_VALUE_") {
			out = append(out, pair)
		}
	}
	return append(out, "LC_ALL=C")
}

// hide removes from a text what would give access to the remote.
func (g *gitProgram) hide(text string) string { return redact.In(text, g.remote) }

// The environment variables with which git is given the name and password for a remote. Only the
// same user can read the environment of a process, while everybody can read its command line.
const (
	loginUser     = "PARLEY_REMOTE_USER"
	loginPassword = "PARLEY_REMOTE_PASSWORD"
)

// askUs makes git ask nobody for the name and password that the remote's URL holds, but take them
// from its environment. It does so only for the server to which they belong.
func (g *gitProgram) askUs() []string {
	if g.login == nil {
		return nil
	}
	const say = `!f() { test "$1" = get && printf 'username=%s\npassword=%s\n' "$` + loginUser + `" "$` + loginPassword + `"; }; f`
	helper := "credential." + g.login.At + ".helper="
	return []string{"-c", helper, "-c", helper + say} // the first setting drops all other helpers, for this server only
}
