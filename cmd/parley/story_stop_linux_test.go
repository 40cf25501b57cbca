package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A node gets SIGTERM while people speak, an agent works on something long, and
// the remote is away or does not answer. It prevents: a message that was taken and
// is in no commit afterwards; a node that does not end.
func TestSIGTERMUnderLoad(t *testing.T) {
	for name, trouble := range map[string]func(t *testing.T, remote string){
		"the remote answers": func(*testing.T, string) {},
		"the remote is gone": func(t *testing.T, remote string) {
			if err := os.Rename(remote, remote+".away"); err != nil {
				t.Fatal(err)
			}
		},
		"the remote is slow": func(t *testing.T, remote string) {
			hook := filepath.Join(remote, "hooks", "pre-receive")
			if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(hook, []byte("#!/bin/sh\nsleep 60\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := sharedRepository(t)
			h := newStoryHost(t, "white", "--remote", remote)
			h.start()
			h.must("agent", "add", "mawjs", "--inbox")
			h.must("agent", "add", "slow", "--exec", "sleep 60")
			h.until("all is pushed", func() bool { s := h.status().Record; return s.Unrecorded+s.Unpushed == 0 })
			trouble(t, remote)
			h.must("hey", "--as", "nat", "slow", "take your time")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			all := newSaid()
			var senders sync.WaitGroup
			for n := range 8 {
				senders.Go(func() { h.talk(ctx, "mawjs", fmt.Sprint("sender ", n), false, all) })
			}
			h.until("many are stored", func() bool {
				all.mu.Lock()
				defer all.mu.Unlock()
				return len(all.all) > 200
			})
			began := time.Now()
			if err := h.up.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			select {
			case <-h.ended:
			case <-time.After(scriptPatience):
				t.Fatalf("it has not ended after %s", scriptPatience)
			}
			t.Logf("ended after %s; %d messages were stored", time.Since(began).Round(time.Millisecond), len(all.all))
			senders.Wait()
			if !h.up.ProcessState.Success() {
				t.Errorf("the node ended with %s", h.up.ProcessState)
			}
			h.up = nil
			files := filesInGit(t, h.home.Record())
			for p := range all.all {
				if _, ok := files[p]; !ok {
					t.Errorf("%s was stored and is in no commit", p)
				}
			}
			gitOut(t, h.home.Record(), "fsck", "--strict", "--no-dangling")
		})
	}
}
