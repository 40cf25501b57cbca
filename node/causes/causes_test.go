package causes

import (
	"slices"
	"strings"
	"testing"
)

// Each cause has words, an area that doctor shows or a message of its own, and its place. A host of a
// later version may tell a word that is not in the table. What others call themselves runs nothing in
// a shell.
func TestTable(t *testing.T) {
	seen := map[ID]bool{}
	for _, c := range table {
		f := Of(c.id, Facts{Here: "black", Host: "white", Agent: "mawjs", ID: "b2c3d4e5", Text: "why"})
		if f.Verdict == "" || f.Command == "" || strings.ContainsAny(f.Verdict+f.Reason+f.Command, "{}") || seen[c.id] {
			t.Errorf("%+v", f)
		}
		if seen[c.id] = true; c.area != Message && !slices.Contains(Areas(), c.area) {
			t.Errorf("%s is in the area %s", c.id, c.area)
		}
		if (f.On == "white") != c.there || f.Host != "white" {
			t.Errorf("%s of another host: %+v", c.id, f)
		}
	}
	later := Of("moonstruck", Facts{Here: "black", Host: "white", Agent: "mawjs", Text: "full moon"})
	if later.Verdict != "mawjs on white: moonstruck" || later.Reason != "full moon" || later.Command != "" {
		t.Errorf("a word of a later version: %+v", later)
	}
	if f := Of(Paused, Facts{Here: "black", Host: "black", Agent: "x; rm -rf /"}); f.Command != "parley agent resume 'x; rm -rf /'" || f.On != "" || f.Host != "" {
		t.Errorf("a name that is a command: %+v", f)
	}
	all := []Found{later, Of(Away, Facts{}), Of(Paused, Facts{})}
	if Sort(all); all[0].Cause != Paused || all[2].Cause != "moonstruck" || Worst(all) != Yellow || Worst(nil) != Green {
		t.Errorf("in order: %+v", all)
	}
}
