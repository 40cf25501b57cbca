package node

import (
	"path/filepath"
	"testing"
)

func TestRetriesAndDeadLettersAreCounted(t *testing.T) {
	n, _ := trying(t, measured(t, initHome(t, nil)))
	addExec(t, n, "later", counting(filepath.Join(t.TempDir(), "starts"), `test $n -lt 3 && exit 1; echo done`))
	addExec(t, n, "never", "sh -c 'exit 1'")
	for _, agent := range []string{"later", "never"} {
		answerTo(t, n, say(t, n, agent, "do it").Path)
	}
	reaches(t, n, map[string]float64{
		`parley_agent_retries_total{agent="later"}`:      2,
		`parley_agent_retries_total{agent="never"}`:      2,
		`parley_agent_dead_letters_total{agent="never"}`: 1,
	})
	if got := figures(t, n); got[`parley_agent_dead_letters_total{agent="later"}`] != 0 || got[`parley_agent_retries_total{agent="never"}`] != 2 {
		t.Errorf("of what was answered in the end a dead letter is counted, or a retry that was none: %v", got)
	}
}
