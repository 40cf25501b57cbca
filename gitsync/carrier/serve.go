package carrier

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/internal/environ"
)

const (
	mostPoints = 64               // at which a fetch may rest
	apart      = 1000             // commits between two of them, at least
	idleLimit  = 2 * time.Minute  // without a byte; git sends some every 5 s
	mostPushed = 512 << 20        // bytes of one push
	pointsIn   = 30 * time.Second // to find them
)

// Served is what this host serves to others.
type Served struct {
	Shared string // the repository that the fleet shares; "" if another host has it
	Record string // this host's own record, from which others may only fetch
	// Pushed is called after each push.
	Pushed func()
}

// Answer is the line with which a host answers a Request.
type Answer struct {
	Error string `json:"error,omitempty"` // why not; "" for yes
}

// Serve reads a Request from another host, and answers it. The git program does the work, with no
// setting of the user's and no hook. It sees main and the claims, and nothing else can be fetched or
// pushed. Main only goes forward. It ends with `ctx`, when nothing has moved for two minutes, and after
// Patience, which is as long as the other host waits.
func (s Served) Serve(ctx context.Context, conn net.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	if err := conn.SetReadDeadline(time.Now().Add(askedWithin)); err != nil {
		return err
	}
	in := bufio.NewReaderSize(conn, maxAsked)
	line, err := in.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("cannot read what is asked: %w", err)
	}
	var r Request
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("cannot read what is asked: %w", err)
	}
	moving := &movingConn{conn}
	in = bufio.NewReader(io.MultiReader(io.LimitReader(in, int64(in.Buffered())), moving))
	dir, why := s.folder(r)
	said, err := json.Marshal(Answer{why})
	if err == nil {
		_, err = moving.Write(append(said, '\n'))
	}
	if err != nil || why != "" {
		return errors.Join(err, errors.New(why))
	}
	if r.Service == ServicePoints {
		return points(ctx, dir, r.Have, moving)
	}
	err = pack(ctx, dir, r, in, moving)
	if r.Service == ServicePush && s.Pushed != nil {
		s.Pushed()
	}
	return err
}

// folder is the repository that a request is about, or why there is none.
func (s Served) folder(r Request) (dir, why string) {
	_, missing := exec.LookPath("git")
	switch known := r.Service == ServiceFetch || r.Service == ServicePush || r.Service == ServicePoints; {
	case !known:
		return "", "this host does not know what is asked"
	case missing != nil:
		return "", "the git program is not installed on this host"
	case r.Record && r.Service == ServicePush:
		return "", "nobody may push into the record of another host"
	case r.Record:
		return s.Record, ""
	case s.Shared == "":
		return "", "this host has no repository that the fleet shares"
	}
	return s.Shared, ""
}

// serving is the git program working on a repository for others.
func serving(ctx context.Context, dir string, args ...string) *exec.Cmd {
	hidden := "transfer.hideRefs=" // all refs but these
	fixed := []string{
		"-c", hidden + "refs", "-c", hidden + "!" + MainRef, "-c", hidden + "!refs/parley/claims", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsync=all",
		"-c", "receive.denyNonFastForwards=true", "-c", "receive.denyDeletes=true", "-c", "receive.fsckObjects=true", "-c", fmt.Sprintf("receive.maxInputSize=%d", mostPushed),
		"-c", "gc.auto=6700", "-c", "maintenance.auto=true", "-c", "pack.threads=2", "-c", "core.bigFileThreshold=16m", "-c", "uploadpack.allowReachableSHA1InWant=true",
	}
	cmd := exec.CommandContext(ctx, "git", append(fixed, args...)...)
	cmd.Env = append(gitEnvironment(environ.Clean(os.Environ())), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	cmd.Dir = dir
	cmd.WaitDelay = Linger
	return cmd
}

// pack runs git for a fetch or push of another host.
func pack(ctx context.Context, dir string, r Request, in *bufio.Reader, out io.Writer) error {
	ctx, refuse := context.WithCancelCause(ctx)
	defer refuse(nil)
	cmd := serving(ctx, dir, strings.TrimPrefix(r.Service, "git-"), dir)
	cmd.Env = append(cmd.Env, "GIT_PROTOCOL="+r.Protocol)
	said := &limited{room: maxLine}
	cmd.Stdout, cmd.Stderr = out, said
	end := ownGroup(cmd)
	defer end()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot run git: %w", err)
	}
	most := uint64(patientMemory)
	if r.Service == ServicePush {
		most = usualMemory
	}
	boundMemory(cmd.Process.Pid, most)
	go func() { // ends with the connection, or with git's input
		defer stdin.Close()
		from, err := io.Reader(in), error(nil)
		if r.Service == ServicePush {
			from, err = orders(ctx, dir, in)
		}
		if err != nil {
			refuse(err)
			return
		}
		_, _ = io.Copy(stdin, from)
	}()
	if err := cmd.Wait(); err != nil {
		if why := context.Cause(ctx); why != nil {
			return tellNo(out, why)
		}
		return fmt.Errorf("git %s: %w: %s", strings.TrimPrefix(r.Service, "git-"), err, OneLine(said.String()))
	}
	return nil
}

// tellNo says in git's protocol why a push is not let in.
func tellNo(out io.Writer, why error) error {
	said := "\x03" + OneLine(why.Error()) // the third band is that of what ends a push
	_, err := fmt.Fprintf(out, "%04x%s", len("0000")+len(said), said)
	return errors.Join(why, err)
}

// points writes commits of main, each some way after the one before, from a commit that the other
// host has up to the tip.
func points(ctx context.Context, dir, have string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, pointsIn)
	defer cancel()
	args := []string{"rev-list", "--first-parent", "--reverse", MainRef}
	if plumbing.IsHash(have) && serving(ctx, dir, "cat-file", "-e", have+"^{commit}").Run() == nil {
		args = append(args, "^"+have)
	}
	all, err := serving(ctx, dir, args...).Output()
	if err != nil {
		return fmt.Errorf("git rev-list: %w", err)
	}
	lines := bytes.Fields(all)
	step := max(apart, len(lines)/mostPoints+1)
	for i := step - 1; i < len(lines); i += step {
		if _, err := fmt.Fprintf(out, "%s\n", lines[i]); err != nil {
			return err
		}
	}
	return nil
}

// movingConn is a connection on which something has to move.
type movingConn struct{ net.Conn }

// Read implements io.Reader.
func (m *movingConn) Read(p []byte) (int, error) {
	if err := m.SetReadDeadline(time.Now().Add(idleLimit)); err != nil {
		return 0, err
	}
	return m.Conn.Read(p)
}

// Write implements io.Writer.
func (m *movingConn) Write(p []byte) (int, error) {
	if err := m.SetDeadline(time.Now().Add(idleLimit)); err != nil {
		return 0, err
	}
	return m.Conn.Write(p)
}
