//go:build linux || darwin

package door

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in the answer's place must not hang the node.
func TestReadAnswerNeverBlocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answer")
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if kept, err := readAnswer(file, 10, nil); err == nil || len(kept.data) > 0 {
		t.Errorf("got %q, %v", kept.data, err)
	}
}

// If a link is in the answer's place, the file to which it leads is not the command's answer.
func TestReadAnswerFollowsNoLink(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answer")
	if err := syscall.Symlink("/etc/hosts", file); err != nil {
		t.Fatal(err)
	}
	if kept, err := readAnswer(file, 10, nil); err == nil || len(kept.data) > 0 {
		t.Errorf("got %q, %v", kept.data, err)
	}
}
