package schemas

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A schema is looked up in no folder. In ψ, where the files are, none could be used otherwise.
func TestSchemasAreCheckedInAnyFolder(t *testing.T) {
	psi := filepath.Join(t.TempDir(), "ψ")
	if err := os.Mkdir(psi, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(psi)
	for _, s := range All() {
		if problems, err := s.Problems([]byte("{}\n")); err != nil || len(problems) == 0 {
			t.Errorf("%s: %v, %v", s.Name, problems, err)
		}
	}
}

// The contract asserts times. A day alone, or a time without a zone, is no time.
func TestTimesAreAsserted(t *testing.T) {
	s, err := Find("sync-history")
	if err != nil {
		t.Fatal(err)
	}
	const line = `{"ts":"TS","partner":"mawjs","topic":"ports","raw":1,"lambda":0}` + "\n"
	for ts, valid := range map[string]bool{
		"2026-04-13T12:00:00Z": true, "2026-04-13T12:00:00.123+02:00": true, "2026-04-13": false, "2026-04-13T12:00:00": false, "": false, "2026-13-13T12:00:00Z": false,
	} {
		problems, err := s.Problems([]byte(strings.Replace(line, "TS", ts, 1)))
		if err != nil || (len(problems) == 0) != valid {
			t.Errorf("%q: %v, %v", ts, problems, err)
		}
	}
	problems, err := s.Problems([]byte(line[:10] + "\n\n" + line + strings.Repeat("x", maxLine+1)))
	if err != nil || len(problems) != 3 || !strings.HasPrefix(problems[0], "line 1: ") || !strings.HasPrefix(problems[1], "line 3: ts: ") {
		t.Errorf("of broken lines is said %q, %v", problems, err)
	}
}

// It prevents: a slip in the name of a field, or a score of nobody, passes for a line of a history.
func TestALineOfAHistoryHasOnlyItsFields(t *testing.T) {
	s, err := Find("sync-history")
	if err != nil {
		t.Fatal(err)
	}
	const line = `{"ts":"2026-04-13T12:00:00Z","partner":"mawjs","topic":"ports","raw":1,"lambda":0,"node":"","anchor":"","source":"skills"}` + "\n"
	for from, to := range map[string]string{"": "", `"source"`: `"sauce"`, `"mawjs"`: `""`, `,"node"`: `,"decayed":0.5,"node"`} {
		problems, err := s.Problems([]byte(strings.Replace(line, from, to, 1)))
		if err != nil || (len(problems) == 0) != (from == "") {
			t.Errorf("with %s for %s: %v, %v", to, from, problems, err)
		}
	}
}

func FuzzProblems(f *testing.F) {
	f.Add(`{"topic":"x","items":{}}`)
	f.Add("{\n}")
	f.Fuzz(func(t *testing.T, file string) {
		for _, s := range All() {
			if _, err := s.Problems([]byte(file)); err != nil {
				t.Fatalf("%s cannot check %q: %v", s.Name, file, err)
			}
		}
	})
}
