package keeper

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Command is what a keeper runs.
type Command struct {
	Path  string   // the program
	Args  []string // its words, its name first
	Dir   string
	Env   []string
	Files [3]*os.File // standard input, output and error
	User  *User       // nil: as this process
	Group *Group      // the control group that it runs in; nil: none
}

// Kept is a command beneath its keeper.
type Kept struct {
	cmd    *exec.Cmd
	orders *os.File // closed: end everything
	group  *Group
	ended  chan struct{} // closed when the command has ended, or its keeper
	ending Ending        // how, once ended is closed
}

const (
	orderBegin     = 'b'
	orderTerminate = 't'
)

const (
	reportBegan  = "began"
	reportFailed = "failed"
	reportExit   = "exit"
	reportSignal = "signal"
)

// beginWithin is how long a keeper may take to say that the command has begun.
const beginWithin = 10 * time.Second

// releaseWithin is how long a keeper may take to end all that is left.
const releaseWithin = 6 * time.Second

// Start runs a command beneath a keeper. began is told the keeper's process before
// the command begins. An error of the system in starting the command is the one
// that exec would give.
func Start(c Command, began func(pid int)) (*Kept, error) {
	k, err := start(c, began)
	if err != nil && c.Group != nil {
		// Where a group may be made nothing may be allowed into it.
		c.Group.Remove()
		c.Group = nil
		k, err = start(c, began)
	}
	return k, err
}

func start(c Command, began func(pid int)) (*Kept, error) {
	ordersIn, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	reports, reportsOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, ordersIn.Close(), orders.Close())
	}
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", // this program, also where its file was replaced meanwhile
		Args: append([]string{"parley", Verb, c.User.String(), c.Path}, c.Args...),
		Dir:  c.Dir, Env: c.Env, Stdin: c.Files[0], Stdout: c.Files[1], Stderr: c.Files[2],
		ExtraFiles:  []*os.File{ordersIn, reportsOut},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if c.Group != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(c.Group.folder.Fd())
	}
	err = cmd.Start()
	ordersIn.Close()
	reportsOut.Close()
	if err != nil {
		orders.Close()
		reports.Close()
		return nil, err
	}
	k := &Kept{cmd: cmd, orders: orders, group: c.Group, ended: make(chan struct{}), ending: Ending{ExitCode: -1, Signal: syscall.SIGKILL.String()}}
	began(cmd.Process.Pid)
	said := make(chan string, 2)
	go func() { // ends with the keeper
		defer reports.Close()
		defer close(said)
		for lines := bufio.NewScanner(reports); lines.Scan(); {
			said <- lines.Text()
		}
	}()
	if err := k.begin(said, c.Path); err != nil {
		k.Kill()
		k.Release()
		return nil, err
	}
	go func() { // likewise
		defer close(k.ended)
		for line := range said {
			if line != reportBegan {
				k.ending = parseEnding(line)
				return
			}
		}
	}()
	return k, nil
}

// begin has the keeper start the command, and returns why it could not. A command may
// stop or end its keeper before that has said a word: then it has begun.
func (k *Kept) begin(said <-chan string, path string) error {
	if _, err := k.orders.Write([]byte{orderBegin}); err != nil {
		return fmt.Errorf("its keeper went away: %w", err)
	}
	select {
	case line := <-said:
		what, number, _ := strings.Cut(line, " ")
		if errno, err := strconv.Atoi(number); what == reportFailed && err == nil {
			return &fs.PathError{Op: "fork/exec", Path: path, Err: syscall.Errno(errno)}
		}
	case <-time.After(beginWithin):
	}
	return nil
}

// parseEnding reads how the command ended.
func parseEnding(line string) Ending {
	what, number, _ := strings.Cut(line, " ")
	n, _ := strconv.Atoi(number)
	if what == reportExit {
		return Ending{ExitCode: n}
	}
	return Ending{ExitCode: -1, Signal: syscall.Signal(n).String()}
}

// Terminate asks the command, and what it has started, to end.
func (k *Kept) Terminate() {
	_ = k.cmd.Process.Signal(syscall.SIGCONT) // the command may have stopped its keeper
	_, _ = k.orders.Write([]byte{orderTerminate})
}

// Ended is closed when the command has ended.
func (k *Kept) Ended() <-chan struct{} { return k.ended }

// Kill ends the command and all that it has started, wherever it has gone.
func (k *Kept) Kill() {
	_ = k.orders.Close()
	_ = k.cmd.Process.Signal(syscall.SIGCONT)
}

// Release waits until all is gone, after Kill, and says how the command ended. left
// reports that some of it may live on, and nobody knows what: somebody has ended
// the keeper, or it could not end them all. The end of the control group does not
// change that: who runs as the node's user could mostly leave it before.
func (k *Kept) Release() (e Ending, left bool) {
	overdue := time.AfterFunc(releaseWithin, func() { _ = k.cmd.Process.Kill() })
	err := k.cmd.Wait()
	overdue.Stop()
	left = err != nil
	if k.group != nil {
		k.group.end()
	}
	select {
	case <-k.ended:
		return k.ending, left
	default:
		return Ending{ExitCode: -1}, left // it never began
	}
}
