package door

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/secrets"
	"github.com/parleyfleet/parley/internal/size"
)

// lastDrain is how long output is still read when every process of the group is dead, but a process
// outside of it keeps the pipe open.
const lastDrain = 200 * time.Millisecond

// process is a started command. Its goroutines end with the pipes and the
// command, and finish waits for them.
type process struct {
	family family
	pipes  []*os.File // our ends
	stdout head
	stderr tail
	// printed is the end of standard output, which is kept here if the answer comes from a file.
	printed tail
	meter   *meter
	ended   chan struct{} // closed when the command has ended
	quiet   chan struct{} // closed when it has ended and its outputs are closed
	fed     chan struct{} // closed when nothing more is written to the command
}

// start starts `cmd` as a family of its own, and begins to feed and read it.
func start(cmd *exec.Cmd, f filled) (*process, error) {
	var theirs, ours []*os.File
	closeAll := func(files []*os.File) {
		for _, f := range files {
			f.Close()
		}
	}
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(theirs)
			closeAll(ours)
			return nil, err
		}
		if len(ours) == 0 { // standard input has the other direction
			r, w = w, r
		}
		ours, theirs = append(ours, r), append(theirs, w)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	family, err := startFamily(cmd, f.Command, f.Began)
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return nil, err
	}
	p := &process{
		family:  family,
		pipes:   ours,
		stdout:  head{max: f.MaxOutput + maxSecret},
		stderr:  tail{max: maxStderr + maxSecret},
		printed: tail{max: maxStderr + maxSecret},
		meter:   newMeter(f.MaxPrinted),
		ended:   make(chan struct{}),
		quiet:   make(chan struct{}),
		fed:     make(chan struct{}),
	}
	out := io.Writer(&p.stdout)
	if f.folder != "" {
		out = &p.printed
	}
	p.watch(f.Stdin, out)
	return p, nil
}

// watch starts the goroutines that feed the command, read its output and notice its end.
func (p *process) watch(stdin []byte, stdout io.Writer) {
	go func() {
		defer close(p.fed)
		// An error means that the command reads no further, which it may do.
		_, _ = io.Copy(p.pipes[0], bytes.NewReader(stdin))
		p.pipes[0].Close()
	}()
	go func() {
		p.family.waitLeader()
		close(p.ended)
	}()
	read := make(chan struct{}, 2)
	for i, buffer := range []io.Writer{stdout, &p.stderr} {
		go func() {
			// An error means that finish no longer waits for a process that holds the pipe.
			_, _ = io.Copy(p.meter.counts(buffer), p.pipes[1+i])
			read <- struct{}{}
		}()
	}
	go func() {
		<-read
		<-read
		<-p.ended
		close(p.quiet)
	}()
}

// await waits until the command has ended and closed its outputs, or has to be ended. In the latter
// case it asks the group to end.
func (p *process) await(ctx context.Context, c Command) Failure {
	failure := within(ctx, c.Timeout, p.ended, p.meter.over)
	if failure == None && p.quietWithin(ctx, c.Grace) {
		return None
	}
	p.family.terminate()
	p.quietWithin(context.Background(), c.Grace)
	return failure
}

// within waits until `done` is closed, for `d` at most, and says why it is not waited any longer.
// `over` is closed when the command has printed too much; nil: that does not matter any more.
func within(ctx context.Context, d time.Duration, done, over <-chan struct{}) Failure {
	waits := &patience{left: d}
	waits.Timer = time.NewTimer(waits.step())
	defer waits.Stop()
	for {
		select {
		case <-done:
			return None
		case <-waits.C:
			if waits.over() {
				return TimedOut
			}
		case <-over:
			return Limited
		case <-ctx.Done():
			return Canceled
		}
	}
}

// quietWithin reports whether the command has ended and closed its outputs before `d` has passed or
// `ctx` ends.
func (p *process) quietWithin(ctx context.Context, d time.Duration) bool {
	return within(ctx, d, p.quiet, nil) == None
}

// finish ends what is left of the group, waits for every goroutine and returns the result of the
// command.
func (p *process) finish(failure Failure, f filled) Result {
	p.family.kill() // before release: until then, no other group can have its id
	<-p.ended
	ended := p.family.release()
	if !p.quietWithin(context.Background(), lastDrain) {
		giveUp(p.pipes[1])
		giveUp(p.pipes[2])
	}
	<-p.quiet
	p.pipes[0].Close() // ends a write to a pipe that nobody reads
	<-p.fed
	p.pipes[1].Close()
	p.pipes[2].Close()
	if failure == None && p.meter.isOver() { // this was noticed only after its end
		failure = Limited
	}
	return p.result(failure, ended, f)
}

// giveUp ends a read from f.
func giveUp(f *os.File) {
	if err := f.SetReadDeadline(time.Now()); err != nil {
		f.Close() // no deadlines for pipes on this system
	}
}

func (p *process) result(failure Failure, ended ending, f filled) Result {
	kept, empty := p.stdout, ""
	if f.folder != "" {
		var err error
		kept, err = readAnswer(f.answerFile(), f.MaxOutput+maxSecret, f.User)
		empty = emptiness(err)
	}
	// What was thrown away may have the rest of a secret, whose part here cannot be recognised. So
	// maxSecret bytes next to it are not shown, however short the rest has become.
	answer := func(hidden func(string) string) (text string, strange int, cut bool) {
		data, shown := []byte(hidden(string(kept.data))), f.MaxOutput
		if kept.more {
			shown = min(shown, max(0, len(data)-maxSecret))
		}
		more := kept.more || len(data) > shown
		text, strange, cut = answerText(data[:min(len(data), shown)], more, f.MaxOutput)
		return text, strange, cut || more
	}
	masked := 0
	hiding := func(own func(string) string) func(string) string {
		return func(text string) string {
			text, n := secrets.Mask(own(text))
			masked += n
			return text
		}
	}
	said := func(t tail) string {
		text := hiding(redact.Said)(string(t.data))
		if t.more {
			text = text[min(len(text), maxSecret):]
		}
		return endText([]byte(text), t.more, maxStderr)
	}
	text, strange, cut := answer(hiding(redact.Own))
	answered := masked
	r := Result{
		Output:    text,
		Stderr:    said(p.stderr),
		Printed:   said(p.printed),
		Truncated: cut,
		Strange:   strange,
		Failure:   failure,
		ExitCode:  -1,
		Left:      ended.left,
	}
	switch failure {
	case TimedOut:
		r.Detail = seconds(f.Timeout)
	case Limited:
		r.Detail = "printed more than " + size.Text(f.MaxPrinted)
	case None:
		r.ExitCode = ended.exitCode
		r.Failure, r.Detail = ended.verdict(text)
		if r.Failure == Empty {
			r.Detail = empty
		}
		switch {
		case r.Failure == None:
		case ended.limit != "":
			r.Failure, r.ExitCode, r.Detail = Limited, -1, f.used(ended.limit)
		default:
			r.Limit = f.nearLimit(r.Stderr, r.Printed)
		}
	}
	r.Secrets = answered
	if r.Failure != None {
		r.Secrets = masked
		r.Output, _, _ = answer(hiding(redact.Said))
	}
	return r
}

// patience is a time that is waited for. It counts only time in which this process runs: a run must
// not be thrown away because its node was stopped until after the timeout, or all of the machine
// with it.
type patience struct {
	*time.Timer
	left    time.Duration
	drained bool
}

// patienceStep is how much of a time in which this process is stopped counts at most.
const patienceStep = time.Second

func (p *patience) step() time.Duration { return min(p.left, patienceStep) }

// over reports whether the time has passed. It is asked when the timer has fired. At the end it
// gives lastDrain more: what happened while this process was stopped is noticed in that time.
func (p *patience) over() bool {
	if p.left -= p.step(); p.left <= 0 {
		if p.drained {
			return true
		}
		p.left, p.drained = lastDrain, true
	}
	p.Reset(p.step())
	return false
}

// family is a started command with the processes that it has started, as far as the system lets us
// hold them together. terminate asks them to end, and kill ends them. Both ignore failures, because
// a failure means that no process is left.
type family interface {
	terminate()
	kill()
	// waitLeader blocks until the command itself has ended.
	waitLeader()
	// release waits for the command, after kill, and releases what is held of it.
	release() ending
}

type ending struct {
	exitCode int    // -1 if it did not end by itself
	signal   string // the signal that ended it; "" for none
	limit    string // the limit that ended it; "" if none is known
	left     bool   // some processes that it has started may still live, and nobody knows which
}

func ofState(state *os.ProcessState) ending {
	return ending{exitCode: state.ExitCode(), signal: endedBy(state)}
}

func startAlone(cmd *exec.Cmd, began func(pid int)) (family, error) {
	prepare(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	began(cmd.Process.Pid)
	return adopt(cmd), nil
}
