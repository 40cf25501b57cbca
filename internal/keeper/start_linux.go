package keeper

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"golang.org/x/sys/unix"
)

// maxIdle is how many keepers at most wait for their next command.
const maxIdle = 8

// Pool is the keepers of one process. A keeper that has ended all that was left of a command waits
// for the next one: to start this program anew takes longer than most of what a small command does.
// The zero value is ready for use; Close ends it.
type Pool struct {
	mu     sync.Mutex // guards what follows
	idle   []*worker
	closed bool
}

// worker is a keeper.
type worker struct {
	cmd  *exec.Cmd
	line *net.UnixConn // closing it tells the keeper to end everything
	said chan string   // its reports; closed when the keeper ends
}

// Kept is a command beneath its keeper.
type Kept struct {
	*worker
	pool   *Pool
	group  *Group
	limits Limits
	kill   sync.Once
	ended  chan struct{} // closed when the command or its keeper has ended
	ending Ending        // how it ended; valid once ended is closed
	clean  chan bool     // gets one value: whether the keeper has ended all that was left
}

// beginWithin is how long a keeper may take to say that the command has begun.
const beginWithin = 10 * time.Second

// releaseWithin is how long a keeper may take to end all that is left.
const releaseWithin = 6 * time.Second

// Start runs a command beneath a keeper. It calls `began` with the keeper's process before the
// command begins. If the system cannot start the command, the error is the one that exec would
// give.
func (p *Pool) Start(c Command, began func(pid int)) (*Kept, error) {
	k, err := p.start(c, began)
	if err != nil && c.Group != nil {
		// Where a group may be made, the system may still not let a process into it.
		c.Group.Remove()
		c.Group = nil
		k, err = p.start(c, began)
	}
	return k, err
}

func (p *Pool) start(c Command, began func(pid int)) (*Kept, error) {
	if err := c.Group.rest(c.Limits).uncounted(c.User); err != nil {
		return nil, err
	}
	w, err := p.take()
	if err != nil {
		return nil, err
	}
	began(w.cmd.Process.Pid)
	k := &Kept{
		worker: w, pool: p, group: c.Group, limits: c.Limits, ended: make(chan struct{}), clean: make(chan bool, 1),
		ending: Ending{ExitCode: -1, Signal: syscall.SIGKILL.String()},
	}
	if err := k.begin(c); err != nil {
		return nil, err
	}
	go k.listen() // ends with the run, or with the keeper
	if k.group != nil && k.limits.CPU > 0 {
		go k.watch() // ends with the command
	}
	return k, nil
}

// take returns a keeper that waits for a command, or a new one.
func (p *Pool) take() (*worker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		last := len(p.idle) - 1
		w := p.idle[last]
		p.idle = p.idle[:last]
		if _, err := process.Find(w.cmd.Process.Pid); err == nil {
			return w, nil
		}
		w.end() // somebody has ended it in the meantime
	}
	return newWorker()
}

// give takes back a keeper that has nothing left to do.
func (p *Pool) give(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) == maxIdle {
		w.end()
		return
	}
	p.idle = append(p.idle, w)
}

// Close ends the keepers that wait for a command. It makes the others end when they are released.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.idle {
		w.end()
	}
	p.idle = nil
}

func newWorker() (*worker, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("cannot make a socket for a keeper: %w", err)
	}
	own, its := os.NewFile(uintptr(fds[0]), "keeper"), os.NewFile(uintptr(fds[1]), "starter")
	defer its.Close()
	defer own.Close() // FileConn has made a copy
	conn, err := net.FileConn(own)
	if err != nil {
		return nil, err
	}
	w := &worker{line: conn.(*net.UnixConn), said: make(chan string, 2), cmd: &exec.Cmd{
		Path:        "/proc/self/exe", // this program, even if its file was replaced in the meantime
		Args:        []string{"parley", Verb},
		ExtraFiles:  []*os.File{its},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}}
	if err := w.cmd.Start(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	go func() { // ends with the keeper
		defer close(w.said)
		for lines := bufio.NewScanner(w.line); lines.Scan(); {
			w.said <- lines.Text()
		}
	}()
	return w, nil
}

func (w *worker) end() {
	_ = w.line.Close()
	overdue := time.AfterFunc(releaseWithin, func() { _ = w.cmd.Process.Kill() }) // somebody may have stopped it
	defer overdue.Stop()
	_ = w.cmd.Wait() // how it ends does not matter: its last report says what it leaves
}

// begin has the keeper start the command, and returns an error if it could not. A command may stop
// or end its keeper before the keeper has said anything. In that case, the command has begun.
func (k *Kept) begin(c Command) error {
	_ = k.cmd.Process.Signal(syscall.SIGCONT) // an earlier command may have stopped it
	if err := c.send(k.line); err != nil {
		k.end()
		return fmt.Errorf("its keeper went away: %w", err)
	}
	select {
	case line := <-k.said:
		what, number, _ := strings.Cut(line, " ")
		if errno, err := strconv.Atoi(number); what == reportFailed && err == nil {
			k.pool.give(k.worker)
			return &fs.PathError{Op: "fork/exec", Path: c.Path, Err: syscall.Errno(errno)}
		}
	case <-time.After(beginWithin):
	}
	return nil
}

// listen takes in how the command ended, and whether nothing of it is left.
func (k *Kept) listen() {
	ended := sync.OnceFunc(func() { close(k.ended) })
	defer ended()
	for line := range k.said {
		switch what, _, _ := strings.Cut(line, " "); what {
		case reportExit, reportSignal:
			k.ending = k.limits.parseEnding(line)
			ended()
		case reportClean:
			k.clean <- true
			return
		}
	}
	k.clean <- false
}

func (l Limits) parseEnding(line string) Ending {
	words := append(strings.Fields(line), "", "")
	n, _ := strconv.Atoi(words[1])
	used, _ := strconv.ParseInt(words[2], 10, 64)
	e := Ending{ExitCode: n}
	if words[0] != reportExit {
		e = Ending{ExitCode: -1, Signal: syscall.Signal(n).String()}
	}
	if l.overCPU(e, time.Duration(used)*time.Microsecond) {
		e.Limit = LimitCPU
	}
	return e
}

// cpuEvery is how often watch looks how much processor time a command has used.
const cpuEvery = 200 * time.Millisecond

// watch ends a command that has used up its processor time, together with all that it has started.
// The system itself only limits the time of each single process.
func (k *Kept) watch() {
	looks := time.NewTicker(cpuEvery)
	defer looks.Stop()
	for {
		select {
		case <-k.ended:
			return
		case <-looks.C:
		}
		if k.group.cpu() >= k.limits.CPU {
			k.Kill()
			return
		}
	}
}

// Terminate asks the command, and all that it has started, to end.
func (k *Kept) Terminate() {
	_ = k.cmd.Process.Signal(syscall.SIGCONT) // the command may have stopped its keeper
	_, _ = k.line.Write([]byte{orderTerminate})
}

// Ended returns a channel that is closed when the command has ended.
func (k *Kept) Ended() <-chan struct{} { return k.ended }

// Kill ends the command and all that it has started, wherever these processes have gone.
func (k *Kept) Kill() {
	k.kill.Do(func() { _, _ = k.line.Write([]byte{orderKill}) })
	_ = k.cmd.Process.Signal(syscall.SIGCONT)
}

// Release waits after Kill until everything is gone, and says how the command ended. `left` reports
// that something of the command may live on, and that nobody knows what. In that case somebody has
// ended the keeper, or the keeper could not end everything. The end of the control group does not
// change that: a process that runs as the node's user could usually leave the group before.
func (k *Kept) Release() (e Ending, left bool) {
	overdue := time.AfterFunc(releaseWithin, func() { _ = k.cmd.Process.Kill() })
	clean := <-k.clean
	overdue.Stop()
	if clean {
		k.pool.give(k.worker)
	} else {
		k.end()
	}
	<-k.ended
	if k.group != nil {
		k.ending.Limit = cmp.Or(k.group.hit(k.limits), k.ending.Limit)
		k.group.end()
	}
	return k.ending, !clean
}
