package door

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/internal/environ"
	"github.com/parleyfleet/parley/internal/shortage"
)

// Run runs a command and returns what came of it; the result has the failures. It blocks until the
// command has ended: at most for its timeout and twice its grace. While the system is too short of
// files, processes or memory to start it, Run tries again. The package comment says what it
// guarantees. It may be called from any number of goroutines.
func Run(ctx context.Context, c Command) Result {
	c = c.withDefaults()
	var r Result
	var begin time.Time
	err := shortage.Outlast(ctx, c.Short, func() (err error) {
		begin = time.Now()
		r, err = run(ctx, c)
		return err
	})
	switch {
	case err == nil:
	case shortage.Is(err) && ctx.Err() != nil:
		r = Result{Failure: Canceled, ExitCode: -1}
	default:
		r = Result{Failure: NotStarted, Detail: c.notStarted(err).Error(), ExitCode: -1}
	}
	r.Elapsed = time.Since(begin)
	return r
}

func (c Command) notStarted(err error) error {
	program := "the command"
	if len(c.Argv) > 0 && c.Argv[0] != "" {
		program = c.Argv[0]
	}
	return fmt.Errorf("cannot start %s: %w", program, cause(err))
}

// CheckStart says why a command line cannot be started in a folder, as far as that shows before: its
// program or the folder is not there, or may not be used.
func CheckStart(line, dir string) error {
	argv, err := SplitCommand(line)
	if err != nil {
		return err
	}
	c := Command{Argv: argv, Dir: dir}
	cmd, err := c.build()
	if err == nil {
		_, err = exec.LookPath(cmd.Path)
	}
	if err != nil {
		return c.notStarted(err)
	}
	return nil
}

func run(ctx context.Context, c Command) (Result, error) {
	if ctx.Err() != nil {
		return Result{Failure: Canceled, ExitCode: -1}, nil
	}
	f, err := c.fill()
	if err != nil {
		return Result{}, err
	}
	defer f.remove()
	cmd, err := f.build()
	if err != nil {
		return Result{}, err
	}
	// Linux sends the parent-death signal when the THREAD that forked ends, not
	// the process. While this goroutine holds the thread, no other goroutine can
	// end it by exiting locked to it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := start(cmd, f)
	if f.argument && errors.Is(err, syscall.E2BIG) {
		err = tooLong("with the environment, for what the system allows this process")
	}
	if err != nil {
		return Result{}, err
	}
	failure := p.await(ctx, c)
	return p.finish(failure, f), nil
}

func (f filled) build() (*exec.Cmd, error) {
	cmd, err := f.Command.build()
	if err == nil && f.argument {
		err = checkArguments(cmd)
	}
	return cmd, err
}

func (c Command) build() (*exec.Cmd, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("no program is named")
	}
	dir, err := c.workDir()
	if err != nil {
		return nil, err
	}
	program := c.Argv[0]
	if strings.ContainsAny(program, `/`+string(filepath.Separator)) && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	cmd := exec.Command(program)
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	cmd.Args = c.Argv
	cmd.Dir = dir
	if !c.Bare {
		cmd.Env = environ.Clean(cmd.Environ())
	}
	if _, err := os.Stat(os.TempDir()); err != nil { // whoever started the node has taken it away
		cmd.Env = slices.DeleteFunc(cmd.Env, func(pair string) bool { return strings.HasPrefix(pair, "TMPDIR=") })
	}
	cmd.Env = append(cmd.Env, c.Env...)
	return cmd, nil
}

// workDir is the absolute working directory. It is checked here whether the directory exists,
// because the system's own error would look like that of a missing program.
func (c Command) workDir() (string, error) {
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("its folder %s: %w", dir, cause(err))
	}
	if !info.IsDir() {
		return "", fmt.Errorf("its folder %s is not a folder", dir)
	}
	return dir, nil
}

// cause is what the system said, without the names that have been given already.
func cause(err error) error {
	var lookup *exec.Error
	var path *fs.PathError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("it is in no folder of the node's PATH")
	case errors.As(err, &lookup):
		return cause(lookup.Err)
	case errors.As(err, &path) && err == error(path):
		return path.Err
	}
	return err
}
