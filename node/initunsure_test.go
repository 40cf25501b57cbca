package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// A user who ends a join when the remote has it already keeps the key, and goes on with "parley
// up". It prevents: a name in the record whose key nobody has any more.
func TestJoinCutShortAfterThePush(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs sh")
	}
	remote := bareRemote(t)
	initHome(t, func(o *homes.Options) { o.Remote = remote })
	hook, reached, end := filepath.Join(remote, "hooks", "post-receive"), filepath.Join(remote, "reached"), filepath.Join(remote, "end")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch reached\nwhile [ ! -e end ]; do sleep 0.02; done\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(end, nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	home := configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
	joined := make(chan error, 1)
	go func() {
		_, err := Init(ctx, homes.Options{Home: home, Version: "test", Alias: "black", Human: "eve", Remote: remote, Join: true, Log: zerolog.New(zerolog.NewTestWriter(t))})
		joined <- err
	}()
	eventually(t, "the remote has the join", func() bool {
		_, err := os.Stat(reached)
		return err == nil
	})
	interrupt()
	said := new(control.Error)
	if err := awaited(t, "the end of the join", joined); !errors.As(err, &said) || !strings.HasPrefix(said.Message, "cannot say whether black has joined: the push was cut short; ") ||
		said.Hint != "go on with it: parley up -d" {
		t.Errorf("%v, hint %q", err, said.Hint)
	}
	if err := errors.Join(os.Remove(hook), os.WriteFile(end, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	n, _ := runNode(t, home)
	m := say(t, n, "all", "here after all")
	eventually(t, "what it says is on the remote", func() bool { return shown(t, remote, m.Path.RepoPath()) != "" })
}

// It prevents: Ctrl-C while the remote is looked at is answered with advice about the URL.
func TestInterruptedInit(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	home := configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
	_, err := Init(ctx, homes.Options{Home: home, Version: "test", Alias: "white", Human: "nat", Remote: bareRemote(t), Log: zerolog.Nop()})
	said := new(control.Error)
	if !errors.As(err, &said) || said.Message != "cannot make a node: interrupted" || said.Hint != "" {
		t.Errorf("%v, hint %q", err, said.Hint)
	}
	if _, err := os.Stat(home.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was left behind: %v", err)
	}
}
