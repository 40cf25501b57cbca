package protocol

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// plainExamples are frontmatters, and whether they are read without the YAML library.
var plainExamples = map[string]bool{
	"from: mawjs\nto: homekeeper\ntype: text\ntimestamp: 2026-05-23T19:01:00.000Z\n": true,
	"to: [a@white, opus/2, b_c]\nchosen: [white/opus/1]\n":                           true,
	"prev: \"0123\"\nseq: 7\nkey: UABC\nsig: \"-_x\"\nre: 2026/05/23/a-b.md\n":       true,
	"via: parley 1.2 (linux)\nx: a:b - c\n":                                          true,
	"empty: \"\"\n":                                                                  true,
	"from: \"a # b: c\"\n":                                                           true,
	"from: a\nfrom: b\n":                                                             false,
	"from: a # b\n":                                                                  false,
	"from: a: b\n":                                                                   false,
	"from: a:\n":                                                                     false,
	"from: &a b\n":                                                                   false,
	"from: *a\n":                                                                     false,
	"from: !!str a\n":                                                                false,
	"from:  a\n":                                                                     false,
	"from: a \n":                                                                     false,
	"from: a\r\n":                                                                    false,
	"from: a":                                                                        false,
	"from: a\n  b\n":                                                                 false,
	"from: 'a'\n":                                                                    false,
	"from: \"a\\n\"\n":                                                               false,
	"from: \"a\" b\"\n":                                                              false,
	"from: \"\n":                                                                     false,
	"from: - a\n":                                                                    false,
	"to:\n  - a\n":                                                                   false,
	"to: []\n":                                                                       false,
	"to: [a,b]\n":                                                                    false,
	"to: [a, [b]]\n":                                                                 false,
	"to: [a: b]\n":                                                                   false,
	"to: [a b]\n":                                                                    false,
	"to: [\"a, b\", c]\n":                                                            false,
	"to: {a: b}\n":                                                                   false,
	"from: ชื่อ\n":                                                                   false,
	"1: a\n":                                                                         false,
	"":                                                                               false,
	strings.Repeat("a", 65) + ": b\n":                                                false,
}

// What is read without the YAML library is read as the library would read it.
func TestPlainFields(t *testing.T) {
	for front, want := range plainExamples {
		if _, plain := plainFields([]byte(front)); plain != want {
			t.Errorf("%q is plain: %v, want %v", front, plain, want)
		}
		wantSame(t, front)
	}
	var many strings.Builder
	for i := range maxPlainFields + 1 {
		many.WriteString(strings.Repeat("x", i+1) + ": y\n")
	}
	if _, plain := plainFields([]byte(many.String())); plain {
		t.Errorf("more than %d fields are read", maxPlainFields)
	}
}

func wantSame(t *testing.T, front string) {
	t.Helper()
	got, plain := plainFields([]byte(front))
	if !plain {
		return
	}
	want, err := yamlFields([]byte(front))
	if err != nil {
		t.Fatalf("%q is no YAML: %v", front, err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(field{})); diff != "" {
		t.Errorf("%q is not read as YAML (-want +got):\n%s", front, diff)
	}
}

// What parley writes itself is read without the library. Names and other texts that need an escape
// or are in other scripts are the exception.
func TestWhatIsWrittenIsPlain(t *testing.T) {
	channel := DeriveChannel("0123456789abcdef0123456789abcdef01234567", "a", "b")
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	data, err := Encode(&Message{
		Path: NewPath(channel, at, 7), From: "nat", To: []Address{{Name: "mawjs", Host: "white"}, {Name: "opus"}}, Type: TypeText, Timestamp: at,
		Act: ActHey, Re: "2026/05/23/190000000Z-00000001.md", Hops: 1, Host: "oracle-world", Run: "0badcafe", Seq: 7,
		Prev: strings.Repeat("0e", 32), Key: "UABC", Sig: "-_x", Body: "How far is the moon?",
	})
	if err != nil {
		t.Fatal(err)
	}
	front, _, err := split(data)
	if err != nil {
		t.Fatal(err)
	}
	if _, plain := plainFields(front); !plain {
		t.Errorf("this is not plain:\n%s", front)
	}
}

// BenchmarkDecodeFrontmatter measures what it costs to read the fields of a usual message, and
// beside that what it costs the YAML library.
func BenchmarkDecodeFrontmatter(b *testing.B) {
	front := []byte("from: nat\nto: all\ntype: text\ntimestamp: 2026-05-23T19:01:00.000Z\nhost: oracle-world\nrun: 0badcafe\nseq: 7\n" +
		"prev: " + strings.Repeat("ab", 32) + "\nkey: U" + strings.Repeat("A", 55) + "\nsig: " + strings.Repeat("a", 86) + "\n")
	for name, read := range map[string]func([]byte) (fields, error){"parley": parseFrontmatter, "yaml": yamlFields} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := read(front); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzPlainFields(f *testing.F) {
	for front := range plainExamples {
		f.Add(front)
	}
	f.Fuzz(wantSame)
}

// A field may be taken for text that needs no look of the library. It prevents that such a field is
// written otherwise than it was signed, or than YAML reads it.
func TestPlainTextIsWhatYAMLTakesForText(t *testing.T) {
	words := regexp.MustCompile(`^[\p{L}\p{N}./][\p{L}\p{N} ./@=+()_-]*$`)
	parts := []string{"", "0", "1", "9", "a", "b", "e", "f", "x", "o", "X", "-", "_", ".", "/", " ", "+", "=", "e5", "0x", "t", "Z", "q", "inf", "ก", "٣", "é", "~", ":", "2026-05-23", "true", "..."}
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				s := a + b + c
				if got, want := plainScalar(s), words.MatchString(s); got != want {
					t.Errorf("%q is a plain scalar: %v, want %v", s, got, want)
				}
				if !plainScalar(s) || strings.HasSuffix(s, " ") || strings.Contains(s, "---") || !pathOrHash(s) && !isWord(s) {
					continue
				}
				if fs, err := yamlFields([]byte("key: " + s + "\n")); err != nil || fs.text("key") != s || numberLike.MatchString(s) {
					t.Errorf("%q was taken for text: %v, %v", s, fs, err)
				}
				var read struct{ Key any }
				if err := yaml.Unmarshal([]byte("key: "+s+"\n"), &read); err != nil {
					t.Errorf("%q was taken for text: %v", s, err)
				} else if _, text := read.Key.(string); !text && !oldBool(s) {
					t.Errorf("%q was taken for text and is %T", s, read.Key)
				}
			}
		}
	}
	for _, s := range []string{strings.Repeat("0123456789abcdef", 4), "1a2b3c4d", "2026/05/23/190100000Z-b2c3d4e5.md"} {
		if !pathOrHash(s) {
			t.Errorf("%q needs a look of the library", s)
		}
	}
}
