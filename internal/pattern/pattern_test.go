package pattern

import "testing"

// A pattern finds what its expression finds, at each use.
func TestPattern(t *testing.T) {
	p := New(`^([a-z]+)-([0-9]+)$`)
	for range 2 {
		if m := p.FindStringSubmatch("gate-12"); len(m) != 3 || m[2] != "12" || p.MatchString("gate") || !p.Regexp().MatchString("a-1") {
			t.Errorf("it finds %q", m)
		}
	}
}

// A start compiles nothing. A wrong expression shows at its first use.
func TestNothingIsCompiledBeforeItIsUsed(t *testing.T) {
	p := New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a wrong expression was compiled")
		}
	}()
	p.MatchString("")
}
