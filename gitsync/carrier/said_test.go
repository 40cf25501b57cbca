package carrier

import (
	"strings"
	"testing"
)

func TestRefusalIsOneLine(t *testing.T) {
	said := &limited{room: 88}
	for _, part := range []string{"remote: Writing: 10% (1/10)\n", "remote: no\x1b[31m!", "\n" + strings.Repeat("and this goes on", 10) + " beyond\nall bounds"} {
		if n, err := said.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("Write: %d, %v", n, err)
		}
	}
	if got, want := refusal("hook declined", said.String()), "refused: hook declined: no␛[31m!; …; is goes onand this goes on beyond; all bounds"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := []rune(OneLine(strings.Repeat("é\n", maxLine+10))); len(got) != maxLine || got[1] != ' ' {
		t.Errorf("%d characters", len(got))
	}
}

// Git tells the reason before its last line. Only that line was shown, such as "the remote end hung
// up unexpectedly" for a server that takes no push options, and it was cut before a server's link.
func TestTheWholeReasonIsTold(t *testing.T) {
	for output, want := range map[string]string{
		"":                             "",
		"fatal: a\n":                   "a",
		"error: one\nfatal: two\n\n":   "one; two",
		"hint: x\nerror: y\nhint: z\n": "y",
		"To /x\n":                      "",
		"fatal: the receiving end does not support push options\nfatal: the remote end hung up unexpectedly\n":                                                              "the receiving end does not support push options; the remote end hung up unexpectedly",
		"Host key verification failed.\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n": "Host key verification failed.",
		"fatal: Could not read from remote repository.\n": "Could not read from remote repository.",
		"fatal: \x1b[31mred\u202e\x07":                    "␛[31mred\\u202e␇",
	} {
		if got := gathered(linesOf(output)); got != want {
			t.Errorf("of %q it tells %q, want %q", output, got, want)
		}
	}
	long := strings.Repeat(strings.Repeat("x ", 300)+"\n", 100) + "remote: see https://git.example.org/unblock/1\n" + strings.Repeat("y\nz\n", 5000)
	if got := gathered(linesOf(long)); !strings.Contains(got, "https://git.example.org/unblock/1") || len([]rune(got)) > maxReason+10 {
		t.Errorf("the link is lost, or it is too long: %d characters", len([]rune(got)))
	}
}
