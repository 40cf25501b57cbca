package protocol_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/protocol"
)

const plainFile = "---\nfrom: alice\nto: concierge\ntype: text\ntimestamp: 2026-05-23T19:00:00.000Z\n---\n\nHello.\nBye.\n"

func decode(t *testing.T, file string) *protocol.Message {
	t.Helper()
	m, err := protocol.Decode(testPath(t), []byte(file))
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	return m
}

func plainMessage(t *testing.T) *protocol.Message {
	t.Helper()
	return &protocol.Message{
		Path: testPath(t), From: "alice", To: []protocol.Address{{Name: "concierge"}}, Type: protocol.TypeText,
		Timestamp: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC), Act: protocol.ActHey, Body: "Hello.\nBye.",
	}
}

func TestDecodeReadsWhatOthersWrite(t *testing.T) {
	for name, file := range map[string]string{
		"plain":              plainFile,
		"byte order mark":    "\ufeff" + plainFile,
		"no last newline":    strings.TrimSuffix(plainFile, "\n"),
		"no blank line":      strings.Replace(plainFile, "---\n\n", "---\n", 1),
		"spaces after ---":   strings.ReplaceAll(plainFile, "---\n", "--- \t\n"),
		"list of one":        strings.Replace(plainFile, "concierge", "[concierge]", 1),
		"block list":         strings.Replace(plainFile, " concierge", "\n  - concierge", 1),
		"flat block list":    strings.Replace(plainFile, " concierge", "\n- concierge", 1),
		"quoted":             strings.Replace(plainFile, "concierge", `"concierge"`, 1),
		"comment":            strings.Replace(plainFile, "type:", "# a comment\ntype:", 1),
		"quoted time":        strings.Replace(plainFile, "2026-05-23T19:00:00.000Z", `"2026-05-23T19:00:00.000Z"`, 1),
		"time without ms":    strings.Replace(plainFile, "00.000Z", "00Z", 1),
		"time to the minute": strings.Replace(plainFile, ":00.000Z", "Z", 1),
		"time with offset":   strings.Replace(plainFile, "19:00:00.000Z", "21:00:00+02:00", 1),
		"nested unknown":     strings.Replace(plainFile, "type:", "meta:\n  a: {b: [c, d]}\n  e: null\ntype:", 1),
		"unknown list":       strings.Replace(plainFile, "type:", "tags: [a, [b], {c: d}]\ntype:", 1),
		"other order":        "---\ntype: text\ntimestamp: 2026-05-23T19:00:00Z\nto: concierge\nfrom: alice\n---\n\nHello.\nBye.\n",
	} {
		t.Run(name, func(t *testing.T) {
			if diff := sameMessage(plainMessage(t), decode(t, file)); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, file)
			}
		})
	}
}

func TestDecodeCRLF(t *testing.T) {
	m := decode(t, strings.ReplaceAll(plainFile, "\n", "\r\n"))
	want := plainMessage(t)
	want.Body = "Hello.\r\nBye."
	if diff := sameMessage(want, m); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecodeFileThatEndsAfterTheFrontmatter(t *testing.T) {
	front := strings.TrimSuffix(plainFile, "\n\nHello.\nBye.\n")
	for _, end := range []string{"", "\n", "\n\n", "\r\n"} {
		if m := decode(t, front+end); m.Body != "" {
			t.Errorf("ending %q: body %q", end, m.Body)
		}
	}
}

func TestDecodeTo(t *testing.T) {
	for written, want := range map[string][]protocol.Address{
		"a":                     {{Name: "a"}},
		"[a, b@white]":          {{Name: "a"}, {Name: "b", Host: "white"}},
		"\n  - a\n  - 'b c'":    {{Name: "a"}, {Name: "b c"}},
		`"a, b"`:                {{Name: "a, b"}},
		"a, b":                  {{Name: "a, b"}},
		"all":                   {{Name: "all"}},
		"white:mawjs":           {{Name: "mawjs", Host: "white"}},
		"123":                   {{Name: "123"}},
		"yes":                   {{Name: "yes"}},
		"null":                  {{Name: "null"}},
		"1e3":                   {{Name: "1e3"}},
		"[0x1f, 1_000, ~, on]":  {{Name: "0x1f"}, {Name: "1_000"}, {Name: "~"}, {Name: "on"}},
		"2026-05-23":            {{Name: "2026-05-23"}},
		"Steve's Mac@My Host":   {{Name: "Steve's Mac", Host: "My Host"}},
		"junior-developer@mac1": {{Name: "junior-developer", Host: "mac1"}},
	} {
		m := decode(t, strings.Replace(plainFile, " concierge", strings.TrimSuffix(" "+written, " "), 1))
		if diff := cmp.Diff(want, m.To); diff != "" {
			t.Errorf("to: %s (-want +got)\n%s", written, diff)
		}
	}
}

func TestDecodeKeepsUnknownFields(t *testing.T) {
	m := decode(t, strings.Replace(plainFile, "type:", "subject: Moon\nnumber: 1e3\ntype:", 1))
	want := []protocol.Field{{Key: "subject", Value: "Moon"}, {Key: "number", Value: "1e3"}}
	if diff := cmp.Diff(want, m.Extra); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecodeRefusesAndNamesTheField(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"from missing":         {"from: alice\n", "", "from"},
		"from empty":           {"from: alice", "from:", "from"},
		"from a list":          {"from: alice", "from: [alice]", "from"},
		"from a map":           {"from: alice", "from: {a: b}", "from"},
		"from control":         {"from: alice", `from: "a\u0007"`, "from"},
		"from newline":         {"from: alice", `from: "a\nb"`, "from"},
		"from too long":        {"from: alice", "from: " + strings.Repeat("a", 256), "from"},
		"to missing":           {"to: concierge\n", "", "to"},
		"to empty":             {"to: concierge", "to:", "to"},
		"to empty list":        {"to: concierge", "to: []", "to"},
		"to nested":            {"to: concierge", "to: [[a]]", "to"},
		"to one bad":           {"to: concierge", "to: [a, '']", "to"},
		"to host empty":        {"to: concierge", "to: a@", "to"},
		"to name empty":        {"to: concierge", "to: '@white'", "to"},
		"type missing":         {"type: text\n", "", "type"},
		"type unknown":         {"type: text", "type: retract", "type"},
		"type in capitals":     {"type: text", "type: Text", "type"},
		"ref missing":          {"type: text", "type: read", "ref"},
		"timestamp missing":    {"timestamp: 2026-05-23T19:00:00.000Z\n", "", "timestamp"},
		"timestamp a day":      {"2026-05-23T19:00:00.000Z", "2026-05-23", "timestamp"},
		"timestamp no zone":    {"2026-05-23T19:00:00.000Z", "2026-05-23T19:00:00", "timestamp"},
		"timestamp impossible": {"2026-05-23T19:00:00.000Z", "2026-02-30T19:00:00Z", "timestamp"},
		"timestamp year 10000": {"2026-05-23T19:00:00.000Z", "9999-12-31T23:00:00-05:00", "timestamp"},
		"timestamp year -1":    {"2026-05-23T19:00:00.000Z", "0000-01-01T00:00:00+05:00", "timestamp"},
		"no frontmatter":       {"---\nfrom", "from", "---"},
		"never closed":         {"Z\n---\n", "Z\n", "---"},
		"no YAML":              {"from: alice", "from: [alice", "YAML"},
		"tab as indentation":   {"from: alice", "a:\n\tb: c", "YAML"},
		"no fields":            {"from: alice\nto: concierge\ntype: text\ntimestamp: 2026-05-23T19:00:00.000Z\n", "just a line\n", "fields"},
		"empty":                {"from: alice\nto: concierge\ntype: text\ntimestamp: 2026-05-23T19:00:00.000Z\n", "", "fields"},
		"field twice":          {"from: alice", "from: alice\nfrom: bob", "repeats"},
		"unknown field twice":  {"from: alice", "x: a\nx: b\nfrom: alice", "repeats"},
		"field twice, quoted":  {"from: alice", "from: alice\n\"from\": bob", "repeats"},
		"list as a name":       {"from: alice", "[a]: b\nfrom: alice", "plain name"},
		"anchor":               {"from: alice", "from: &a alice", "anchor"},
		"alias":                {"from: alice\nto: concierge", "from: &a alice\nto: *a", "anchor"},
		"tag":                  {"from: alice", "from: !!str alice", "tag"},
		"own tag":              {"from: alice", "from: !x alice", "tag"},
		"anchor, deep":         {"from: alice", "x: {y: [&a z]}\nfrom: alice", "anchor"},
		"tag on a key":         {"from: alice", "!!str from: alice", "tag"},
		"merge":                {"from: alice", "x: &b {c: d}\n<<: *b\nfrom: alice", "anchor"},
		"too long":             {"from: alice", "x: " + strings.Repeat("a", protocol.MaxFrontmatter) + "\nfrom: alice", "longer"},
		"too many lines":       {"from: alice", strings.Repeat("#\n", protocol.MaxFrontmatter) + "from: alice", "longer"},
		"no UTF-8":             {"from: alice", "from: \xff", "UTF-8"},
		"NUL":                  {"from: alice", "from: al\x00ice", "YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			file := strings.Replace(plainFile, c.old, c.new, 1)
			m, err := protocol.Decode(testPath(t), []byte(file))
			if err == nil {
				t.Fatalf("was read as %+v\n%s", m, file)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error does not say %q: %v", c.want, err)
			}
		})
	}
	if _, err := protocol.Decode(testPath(t), nil); err == nil {
		t.Error("an empty file was read")
	}
}

func TestSillyOptionalFieldsDoNotMakeAFileUnreadable(t *testing.T) {
	silly := []string{
		"hops: many", "hops: -5", "hops: 99999999999999999999", "hops: [1]", "seq: -1", "seq: 99999999999999999999", "seq: 1.5", "seq: {a: b}",
		"host: Not A Name", "host: all", "host: [white]", "act: '!!'", "act: [hey]", "act: \"\"",
		"chosen: nobody", "chosen: {a: b}", "chosen: [a/b, [c]]", "chosen: white/opus/-1",
	}
	for _, line := range silly {
		m := decode(t, strings.Replace(plainFile, "type:", line+"\ntype:", 1))
		if diff := sameMessage(plainMessage(t), m); diff != "" {
			t.Errorf("%s (-want +got)\n%s", line, diff)
		}
	}
}

func TestDecodeChosen(t *testing.T) {
	opus := protocol.Instance{Host: "white", Tier: "opus", N: 2}
	for written, want := range map[string][]protocol.Choice{
		"white/opus/2":                      {{Instance: opus}},
		"neo=white/opus/2":                  {{Agent: "neo", Instance: opus}},
		"[white/opus/2, a=b=white/opus/2]":  {{Instance: opus}, {Agent: "a=b", Instance: opus}},
		"[nonsense, neo=white/opus/2, a=b]": {{Agent: "neo", Instance: opus}},
	} {
		m := decode(t, strings.Replace(plainFile, "type:", "chosen: "+written+"\ntype:", 1))
		if diff := cmp.Diff(want, m.Chosen); diff != "" {
			t.Errorf("chosen: %s (-want +got)\n%s", written, diff)
		}
	}
}

func TestDecodeTakesBodiesAsTheyAre(t *testing.T) {
	head, _, _ := strings.Cut(plainFile, "Hello.")
	for written, want := range map[string]string{
		"---\nfrom: x\n---\ny\n": "---\nfrom: x\n---\ny",
		"\n\nlate\n":             "\n\nlate",
		"a  \n":                  "a  ",
		"a\r\nb\r\n":             "a\r\nb\r",
		"a\n\n\n":                "a\n\n",
		"\xff\xfe\n":             "\xff\xfe",
	} {
		if m := decode(t, head+written); m.Body != want {
			t.Errorf("%q was read as %q, want %q", written, m.Body, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(plainFile))
	f.Add([]byte(strings.ReplaceAll(plainFile, "\n", "\r\n")))
	g := newGenerator(3)
	for range 30 {
		if m := g.message(f); len(m.Body) < 1000 {
			if data, err := protocol.Encode(m); err == nil {
				f.Add(data)
			}
		}
	}
	f.Add(bytes.Repeat([]byte("["), 100))
	f.Add([]byte("---\na: &a [*a]\n---\n"))
	p := testPath(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := protocol.Decode(p, data)
		if err != nil {
			return
		}
		again, err := protocol.Encode(m)
		if err != nil {
			return
		}
		back, err := protocol.Decode(p, again)
		if err != nil {
			t.Fatalf("%v\n%s", err, again)
		}
		if diff := sameMessage(m, back); diff != "" {
			t.Fatalf("(-first +again)\n%s\n%s", diff, again)
		}
		if third, err := protocol.Encode(back); err != nil || !bytes.Equal(again, third) {
			t.Fatalf("%v; written\n%s\nthen\n%s", err, again, third)
		}
	})
}

func FuzzQuote(f *testing.F) {
	for _, s := range append(trapNames(), colonNames()...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		checkQuoted(t, s, protocol.Quote(s))
	})
}
