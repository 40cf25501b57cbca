package psi_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/psi"
)

// Work-with W13: maw, node and soul are read. Anything else that is kept there is no error.
func TestContacts(t *testing.T) {
	got, err := psi.ParseContacts([]byte(`{"contacts": {
		"mawjs": {"maw": "mawjs", "node": " white ", "soul": "Nat", "mine": 1}, "mawjs-oracle": {"soul": "bo"}, "volt-oracle": {"soul": "unknown"}
	}, "other": []}`))
	want := map[string]psi.Contact{"mawjs": {Maw: "mawjs", Node: "white", Soul: "nat"}, "volt": {}}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"", "[]", `{"contacts": []}`, `{"contacts": {"mawjs": "white"}}`, `{"contacts": {"mawjs": {"soul": 1}}}`} {
		if got, err := psi.ParseContacts([]byte(bad)); err == nil {
			t.Errorf("%q has %v", bad, got)
		}
	}
}

func FuzzContacts(f *testing.F) {
	f.Add([]byte(`{"contacts": {"mawjs": {"maw": "mawjs", "node": "white", "soul": "nat"}, "volt-oracle": {}}}`))
	f.Add([]byte(`{"contacts": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := psi.ParseContacts(data)
		if again, errAgain := psi.ParseContacts(data); (err == nil) != (errAgain == nil) || err == nil && !maps.Equal(first, again) {
			t.Errorf("%v and %v", first, again)
		}
		for _, c := range first {
			if c.Soul != strings.TrimSpace(c.Soul) || c.Soul == "unknown" {
				t.Errorf("the soul %q", c.Soul)
			}
		}
	})
}
