package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "alias", 5},
		{"alias", "", 5},
		{"alias", "alias", 0},
		{"alias", "alas", 1},
		{"alias", "aliases", 2},
		{"fleet", "flete", 2}, // two letters that change places are two changes
		{"kitten", "sitting", 3},
		{"grün", "grun", 1}, // letters count, not bytes
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
