package carrier

import (
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// TestAnInheritedRepositoryIsNotGitsOwn prevents: parley started from a git hook works on
// the repository of the hook.
func TestAnInheritedRepositoryIsNotGitsOwn(t *testing.T) {
	env := gitEnvironment([]string{"GIT_DIR=x", "HOME=y", "GIT_CONFIG_KEY_7=z"})
	if slices.Contains(env, "GIT_DIR=x") || slices.Contains(env, "GIT_CONFIG_KEY_7=z") || !slices.Contains(env, "HOME=y") {
		t.Errorf("environment = %q", env)
	}
}

// FuzzRefusal feeds anything a remote might say to what shows it.
func FuzzRefusal(f *testing.F) {
	f.Add("! a:b\t[remote rejected] (pre-receive hook declined)\nremote: no\n")
	f.Fuzz(func(t *testing.T, output string) {
		e := &gitError{verb: "push", said: output, output: output}
		e.explain(func(s string) string { return s })
		if strings.ContainsAny(e.line, "\n\r\x1b") || len([]rune(e.line)) > maxReason+10 {
			t.Errorf("not fit for one line: %q", e.line)
		}
	})
}

// FuzzTookMain feeds anything a git program might print to what decides whether main
// was pushed.
func FuzzTookMain(f *testing.F) {
	commit := objects.BlobHash(nil)
	line := "\t" + commit.String() + ":" + MainRef + "\t"
	f.Add("To x\n " + line + "a..b\nDone\n")
	f.Add("To x\n!" + line + "[rejected] (fetch first)\nDone\n")
	f.Fuzz(func(t *testing.T, told string) {
		if took(told, commit.String()+":"+MainRef) && (!strings.Contains(told, line) || !strings.Contains(told, "Done\n") && !strings.HasSuffix(told, "Done")) {
			t.Errorf("%q is taken for a push of main", told)
		}
	})
}
