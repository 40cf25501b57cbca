package door

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestTail(t *testing.T) {
	buffer := tail{max: 4}
	for _, s := range []string{"a", "bc", "def", "", "ghijklm"} {
		if n, err := buffer.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if string(buffer.data) != "jklm" || !buffer.more {
		t.Errorf("kept %q, more %v", buffer.data, buffer.more)
	}
	if got := endText([]byte("\xab\xe7\x8c\xab!\n"), true, 8); got != "猫!" {
		t.Errorf("got %q", got)
	}
}

func TestLastWords(t *testing.T) {
	r := Result{Failure: ExitStatus, ExitCode: 1, Stderr: "a\n" + strings.Repeat("猫", 200) + "\n \n"}
	want := "the command ended with exit code 1: " + strings.Repeat("猫", 100) + "…"
	if got := r.Problem(); got != want {
		t.Errorf("got %q", got)
	}
}

func TestFailureNames(t *testing.T) {
	for f, want := range map[Failure]string{None: "none", Canceled: "canceled", 99: "failure(99)", -1: "failure(-1)"} {
		if f.String() != want {
			t.Errorf("%d is %q, want %q", int(f), f, want)
		}
	}
}

// Whatever a command prints, the kept output is text and stays within its bounds.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("猫\r\n\x00\xff"), uint8(5), true)
	f.Fuzz(func(t *testing.T, data []byte, max uint8, whole bool) {
		kept := head{max: int(max)}
		kept.Write(data)
		text, _, cut := answerText(kept.data, kept.more, int(max))
		end := endText(data, !whole, int(max))
		for _, s := range []string{text, end} {
			if !utf8.ValidString(s) || len(s) > int(max) || strings.HasSuffix(s, "\n") {
				t.Errorf("%q of %q, at most %d", s, data, max)
			}
		}
		if strings.ContainsFunc(end, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
			t.Errorf("%q has control characters", end)
		}
		if !utf8.Valid(data) || len(data) > int(max) {
			return
		}
		if rest, same := strings.CutPrefix(string(data), text); cut || !same || strings.Trim(rest, "\r\n") != "" {
			t.Errorf("%q became %q", data, text)
		}
		if plain := !strings.ContainsFunc(string(data), unicode.IsControl); plain && end != string(data) {
			t.Errorf("%q became %q", data, end)
		}
	})
}
