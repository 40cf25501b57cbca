package node

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/homes"
)

// A start tells how far it has come, and never more than there is.
func TestStartTellsItsProgress(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	addExec(t, n, "echo", "cat")
	for range 3 {
		answerTo(t, n, say(t, n, "echo", "hello").Path)
	}
	rest(t, n)
	messages := len(everything(t, n))
	stop()
	var told []int
	n, err := Open(t.Context(), Options{Home: home, Progress: func(done, total int) {
		if total != messages {
			t.Errorf("about %d messages, want %d", total, messages)
		}
		told = append(told, done)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer closeNode(t, n)
	if len(told) == 0 || told[len(told)-1] != messages {
		t.Errorf("told %v of %d messages", told, messages)
	}
}

// After a rebuild a node says what the record says, and so does the search.
func TestRebuild(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	home, n, stop := busyHome(t)
	before := answers(t, n)
	if _, err := Rebuild(t.Context(), Options{Home: home}, false, nil); err == nil || !strings.Contains(err.Error(), homes.ErrLocked.Error()) {
		t.Errorf("while the node runs: %v", err)
	}
	stop()
	indexing := 0
	done, err := Rebuild(t.Context(), Options{Home: home}, false, func(done, total int) { indexing = total - done })
	if err != nil || done.Messages != len(everythingIn(before)) || done.Indexed == 0 || indexing != 0 {
		t.Errorf("rebuilt %+v, %d left to be indexed, %v", done, indexing, err)
	}
	if len(archives(t, home)) != 1 {
		t.Errorf("the cache holds %q", archives(t, home))
	}
	n, _ = opened(t, home)
	defer closeNode(t, n)
	if !n.cache.InUse() {
		t.Error("the cache that was made is not used")
	}
	same(t, "rebuilt", before, n)
}

// everythingIn returns those answers that are messages of the log.
func everythingIn(answers []string) []string {
	var messages []string
	for _, a := range answers {
		if strings.HasPrefix(a, "log ") {
			messages = append(messages, a)
		}
	}
	return messages
}
