package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The program begins what agents' commands wait for before it makes its slow parts ready. It
// prevents: an import that has each run of a member wait for all of these parts.
func TestWallsAndKeepersBeginSooner(t *testing.T) {
	for verb, late := range map[string][]string{
		"be-walled": {"/jsonschema"},
		"keep-run":  {"/jsonschema"},
	} {
		cmd := exec.CommandContext(t.Context(), "parley", verb) // TestMain put it in PATH
		cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
		out, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "init runtime ") {
			t.Fatalf("%s: %v: %s", verb, err, out)
		}
		for _, part := range late {
			if strings.Contains(string(out), part) {
				t.Errorf("%s waits for %s", verb, part)
			}
		}
	}
}
