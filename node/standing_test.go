package node

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// orphaned runs a node whose home goes away, and returns how it ended and its home.
func orphaned(t *testing.T, remote string, goAway func(home configs.Home)) (configs.Home, error) {
	t.Helper()
	home := initHome(t, func(o *homes.Options) { o.Remote = remote })
	n, ended := startNodeWith(t, Options{Home: home, Version: "test", Log: zerolog.Nop()})
	addExec(t, n, "echo", "cat")
	m := say(t, n, "echo", "hello")
	answerTo(t, n, m.Path)
	goAway(home)
	if _, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: []string{"echo"}, Body: "into nothing"}); err == nil {
		t.Error("a message was acknowledged that nothing keeps")
	}
	return home, awaited(t, "the end of the node", ended)
}

// It prevents: a node whose home was removed works on, acknowledges what nothing keeps, and brings
// the home back half and open to everybody, so that a new one cannot be made there.
func TestTheHomeIsRemoved(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	home, err := orphaned(t, remote, func(home configs.Home) {
		eventually(t, "nothing is made any more in what is removed", func() bool { return os.RemoveAll(home.Dir) == nil })
	})
	said := new(control.Error)
	if !errors.As(err, &said) || !strings.Contains(said.Message, "the home "+home.Dir+" of this node is gone: ") || !strings.Contains(said.Message, "it was removed or moved") || !strings.Contains(said.Hint, "parley ") {
		t.Errorf("it ended with %v", err)
	}
	if _, err := os.Lstat(home.Dir); !errors.Is(err, fs.ErrNotExist) {
		out, _ := exec.Command("find", home.Dir).Output()
		t.Errorf("the home came back: %v\n%s", err, out)
	}
	if _, err := Init(t.Context(), homes.Options{Home: home, Version: "test", Alias: "second", Human: "nat", Remote: remote, Log: zerolog.Nop()}); err != nil {
		t.Error(err)
	}
}

// It prevents: a node acknowledges what nothing keeps, and works on for good, because a removal of
// its home stopped at a folder in which it had just made a file.
func TestTheHomeIsHalfRemoved(t *testing.T) {
	t.Parallel()
	_, err := orphaned(t, "", func(home configs.Home) {
		if err := os.Rename(home.Journal(), home.Journal()+".old"); err != nil {
			t.Error(err)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "of this node is gone: its journal: it was removed or moved") {
		t.Errorf("it ended with %v", err)
	}
}

// It prevents: a node whose home was replaced writes into the new one, which has another key, or
// takes its socket away.
func TestTheHomeIsReplaced(t *testing.T) {
	t.Parallel()
	var n *Node
	var ended <-chan error
	home, err := orphaned(t, "", func(home configs.Home) {
		if err := os.Rename(home.Dir, home.Dir+".old"); err != nil {
			t.Error(err)
		}
		if _, err := Init(t.Context(), homes.Options{Home: home, Version: "test", Alias: "second", Human: "nat", Fleet: "other", Log: zerolog.Nop()}); err != nil {
			t.Error(err)
		}
		n, ended = startNodeWith(t, Options{Home: home, Version: "test", Log: zerolog.Nop()})
	})
	if err == nil || !strings.Contains(err.Error(), "another folder is in its place") {
		t.Errorf("it ended with %v", err)
	}
	status, err := control.ShowStatus.Ask(t.Context(), control.NewClient(home.Socket(), "test"))
	if err != nil || status.Host != "second" {
		t.Errorf("the new node does not answer: %+v, %v", status.Host, err)
	}
	say(t, n, "all", "hello")
	if files, err := filepath.Glob(filepath.Join(home.Record(), "refs", "parley", "*")); err != nil || len(files) > 0 {
		t.Errorf("the old node has put %v into the new record, %v", files, err)
	}
	select {
	case err := <-ended:
		t.Errorf("the new node ended: %v", err)
	default:
	}
}
