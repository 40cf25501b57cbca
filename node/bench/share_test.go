package bench

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// newStand is a stand in a folder of its own.
func newStand(t *testing.T) *stand {
	t.Helper()
	git := toolsOf(t.TempDir(), true)
	if git.git == "" {
		t.Skip("needs the git program")
	}
	return &stand{options: Options{Quick: true}, tools: git, dir: t.TempDir()}
}

// It prevents: a bench that calls a push good because parley says so. Git alone tells what came to
// the shared repository, and when.
func TestSharedRepositoryNotesPushes(t *testing.T) {
	s := newStand(t)
	r, err := s.newShared(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) {
		t.Helper()
		if _, err := s.tools.run(t.Context(), s.path("work"), args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(s.path("work"), 0o700); err != nil {
		t.Fatal(err)
	}
	git("init", "--quiet")
	letters, err := s.lettersOfADay(t.Context(), "record", 4)
	if err != nil {
		t.Fatal(err)
	}
	sent := &sentMessages{at: map[string]time.Time{}}
	for _, l := range letters[:3] { // the first push begins main, and comes without any message that was sent
		if err := s.tools.commitOne(t.Context(), s.path("work"), l); err != nil {
			t.Fatal(err)
		}
		git("push", "--quiet", r.dir, "HEAD:main")
	}
	for _, l := range letters[1:] {
		sent.at[l.Path.RepoPath()] = time.Now().Add(-time.Hour)
	}
	h := &hosts{shared: r}
	pushes, err := r.pushes()
	if err != nil || len(pushes) != 3 || pushes[1].old != pushes[0].new || pushes[2].old != pushes[1].new {
		t.Errorf("the pushes are %v, %v", pushes, err)
	}
	took, err := h.slowness(t.Context(), sent)
	if err != nil || len(took) != 2 || percentile(took, 1) < time.Hour-time.Minute {
		t.Errorf("the messages took %v, %v", took, err)
	}
	// letters[0] is there and was not sent. letters[3] was sent and is not there.
	if wrong, note, err := h.wrong(t.Context(), sent); err != nil || wrong != 2 || note != "1 missing, 0 double, 1 that nobody sent" {
		t.Errorf("wrong are %d: %q, %v", wrong, note, err)
	}
}

// Real nodes share a repository. No message is lost or doubled, with the bus and without it.
func TestHostsShare(t *testing.T) {
	newStand(t)
	dir := t.TempDir()
	figures, err := Record(0).Run(t.Context(), Options{Dir: dir, Quick: true, Only: []string{"push_wrong_bus", "push_wrong_git"}})
	if err != nil || len(figures) != 2 {
		t.Fatalf("%v, %v", figures, err)
	}
	for _, f := range figures {
		if f.Value == nil || *f.Value != 0 || f.OK == nil || !*f.OK {
			t.Errorf("%s: %s", f.Name, f.Note)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
