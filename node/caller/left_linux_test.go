package caller

import (
	"crypto/rand"
	"os/exec"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// At a start, what earlier runs of this home have left is ended, and nothing else: no run of this
// node, nothing that holds a standing token, and nothing of another home.
func TestEndLeft(t *testing.T) {
	book := func(key string) *Book {
		return New(Options{Key: []byte(key), Serves: func(protocol.Name) (time.Time, bool) { return time.Time{}, true }})
	}
	// Nobody else on this machine has this key, so that what others run is not ended.
	key := rand.Text()
	here, earlier, other := book(key), book(key), book(rand.Text())
	run := func(b *Book) string { return b.Begin("mawjs", protocol.Path{}, time.Minute).Token }
	t.Setenv(tokenVariable, "") // what this test was started with does not matter
	for name, c := range map[string]struct {
		token string
		ends  bool
	}{
		"of an earlier node": {run(earlier), true},
		"of this node":       {run(here), false},
		"of another home":    {run(other), false},
		"a standing one":     {here.Standing("mawjs"), false},
		"cut":                {run(earlier)[1:], false},
		"none":               {"", false},
	} {
		cmd := exec.Command("cat")
		cmd.Env = append(cmd.Environ(), tokenVariable+"="+c.token)
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		want := 0
		if c.ends {
			want = 1
		}
		if got := here.EndLeft(); got != want {
			t.Errorf("%s: %d processes were ended, want %d", name, got, want)
		}
		input.Close()
		if err := cmd.Wait(); (err != nil) != c.ends {
			t.Errorf("%s: it ended with %v", name, err)
		}
	}
}
