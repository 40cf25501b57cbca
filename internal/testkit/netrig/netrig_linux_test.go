package netrig

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A host that should reach a repository may need long for it on a busy machine.
const (
	should    = time.Minute
	shouldNot = time.Second
)

// reaches reports whether a host reaches a repository within a time.
func reaches(h *Host, r *Remote, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	return h.Command(ctx, "git", "ls-remote", r.URL).Run() == nil
}

// It prevents: tests of partitions that test nothing because the network is whole.
func TestFaultsAreReal(t *testing.T) {
	n := Open(t)
	r, white, black := n.Remote(t), n.Host("white"), n.Host("black")
	if !reaches(white, r, should) || !reaches(black, r, should) {
		t.Fatal("a whole network carries nothing")
	}
	for name, faults := range map[string][]Fault{
		"there":  {Drop(white, r.Host)},
		"back":   {Drop(r.Host, white)},
		"reset":  {Reset(white, r.Host)},
		"apart":  Apart([]*Host{white}, []*Host{black, r.Host}),
		"losing": {Lose(99)},
	} {
		n.Break(faults...)
		if reaches(white, r, shouldNot) {
			t.Errorf("%s: white still reaches the repository", name)
		}
		within := should
		if name == "losing" {
			within = shouldNot
		}
		if got := reaches(black, r, within); got != (name != "losing") {
			t.Errorf("%s: black reaches the repository: %v", name, got)
		}
	}
	n.Break()
	if !reaches(white, r, should) {
		t.Error("a mended network carries nothing")
	}
	n.Divert(white, r.Host, 9418, black)
	if reaches(white, r, shouldNot) || !reaches(black, r, should) {
		t.Error("white was not diverted, or black was")
	}
	n.Straight()
	n.Hide(black)
	if !reaches(black, r, should) {
		t.Error("a host behind a NAT reaches nothing")
	}
	n.Hide(r.Host)
	if reaches(white, r, shouldNot) {
		t.Error("a host behind a NAT can be dialled")
	}
}

// It prevents: namespaces and daemons that stay behind after the tests.
func TestNothingStays(t *testing.T) {
	name := ""
	t.Run("a network", func(t *testing.T) {
		n := Open(t)
		n.Remote(t)
		name = n.name
	})
	out, err := exec.Command("ip", "netns", "list").CombinedOutput()
	if name != "" && (err != nil || bytes.Contains(out, []byte(name))) {
		t.Errorf("left behind: %v\n%s", err, out)
	}
	if !strings.HasPrefix(name, prefix) && name != "" {
		t.Errorf("the network is called %s", name)
	}
}
