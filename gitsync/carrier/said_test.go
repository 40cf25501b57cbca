package carrier

import (
	"strings"
	"testing"
)

func TestRefusalIsOneLine(t *testing.T) {
	said := &limited{room: 44}
	for _, part := range []string{"remote: Writing: 10% (1/10)\n", "remote: no\x1b[31m!", "\n and this goes on and on beyond all bounds"} {
		if n, err := said.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("Write: %d, %v", n, err)
		}
	}
	if got, want := refusal("hook declined", said.String()), "refused: hook declined: no[31m!"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := []rune(OneLine(strings.Repeat("é\n", maxLine+10))); len(got) != maxLine || got[1] != ' ' {
		t.Errorf("%d characters", len(got))
	}
}
