package door

import (
	"os/exec"
	"runtime"
	"sync"
	"testing"
)

// kill -9 of the node ends the commands that it runs.
func TestNodeKilled(t *testing.T) {
	s := newSwitchboard(t)
	node := exec.Command(s.command("node").Argv[0])
	node.Env = append(node.Environ(), s.command("node").Env...)
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	agent := s.answer()
	if err := node.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = node.Wait() // it was killed, and Wait calls that an error
	agent.wantDead(t)
}

// The parent-death signal comes when the thread that forked ends. It prevents: Run does not hold
// that thread, one of these goroutines gets it and ends it, and the command is killed under way.
func TestThreadsEnd(t *testing.T) {
	s := newSwitchboard(t)
	const commands = 24                             // one alone is often kept by luck: its thread blocks in waitid
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8)) // and more than one processor to move to
	var results [commands]<-chan Result
	var agents [commands]call
	for i := range commands {
		_, results[i] = inBackground(t, s.command("obey"))
	}
	for i := range commands {
		agents[i] = s.answer()
	}
	for range 50 {
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { runtime.LockOSThread() }) // a thread ends with the goroutine that is locked to it
		}
		wg.Wait()
	}
	for i := range commands {
		agents[i].Close() // tells it to answer
	}
	for i := range commands {
		wantResult(t, Result{Output: "done"}, <-results[i])
	}
}
