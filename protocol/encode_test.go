package protocol_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/protocol"
)

func TestEncodeIsTheSeedsForm(t *testing.T) {
	m := &protocol.Message{
		From: "alice", To: []protocol.Address{{Name: "concierge"}}, Type: protocol.TypeText, Act: protocol.ActHey,
		Timestamp: time.Date(2026, 5, 23, 21, 0, 0, 0, time.FixedZone("", 7200)), Body: "Message body here.",
	}
	const want = "---\nfrom: alice\nto: concierge\ntype: text\ntimestamp: 2026-05-23T19:00:00.000Z\n---\n\nMessage body here.\n"
	if got := encode(t, m); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	receipt := &protocol.Message{
		From: "concierge", To: []protocol.Address{{Name: "alice"}, {Name: "ops-bot", Host: "white"}}, Type: protocol.TypeRead,
		Act: protocol.ActRead, Ref: testRel, Timestamp: m.Timestamp,
	}
	const wantReceipt = "---\nfrom: concierge\nto: [alice, ops-bot@white]\ntype: read\ntimestamp: 2026-05-23T19:00:00.000Z\nref: " + testRel + "\n---\n"
	if got := encode(t, receipt); got != wantReceipt {
		t.Errorf("got\n%s\nwant\n%s", got, wantReceipt)
	}
}

func encode(t *testing.T, m *protocol.Message) string {
	t.Helper()
	data, err := protocol.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestEncodeLeavesOutWhatTheBodySays(t *testing.T) {
	m := sample(t)
	m.Act, m.Body = "accept", "ACCEPT | from: mawjs"
	if got := encode(t, m); strings.Contains(got, "\nact:") {
		t.Errorf("act stands although the body says it:\n%s", got)
	}
	m.Act = "reply"
	if got := encode(t, m); !strings.Contains(got, "\nact: reply\n") {
		t.Errorf("act does not stand although the body says something else:\n%s", got)
	}
}

func TestEncodeRefusesWhatAReaderWouldSkipOrMisread(t *testing.T) {
	for name, spoil := range map[string]func(*protocol.Message){
		"nobody addressed":      func(m *protocol.Message) { m.To = nil },
		"no sender":             func(m *protocol.Message) { m.From = "" },
		"sender with host":      func(m *protocol.Message) { m.From = "nat@white" },
		"sender with newline":   func(m *protocol.Message) { m.From = "nat\nto: x" },
		"padded sender":         func(m *protocol.Message) { m.From = " nat" },
		"sender not UTF-8":      func(m *protocol.Message) { m.From = "\xff" },
		"addressee with @":      func(m *protocol.Message) { m.To[0].Name = "a@b" },
		"host with @":           func(m *protocol.Message) { m.To[0].Host = "a@b" },
		"empty addressee":       func(m *protocol.Message) { m.To[0].Name = "" },
		"reads as alias:name":   func(m *protocol.Message) { m.To[0] = protocol.Address{Name: "http://x"} },
		"no type":               func(m *protocol.Message) { m.Type = "" },
		"unknown type":          func(m *protocol.Message) { m.Type = "retract" },
		"receipt without ref":   func(m *protocol.Message) { m.Type = protocol.TypeRead },
		"text with ref":         func(m *protocol.Message) { m.Ref = testRel },
		"no time":               func(m *protocol.Message) { m.Timestamp = time.Time{} },
		"year 10000":            func(m *protocol.Message) { m.Timestamp = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"year -1":               func(m *protocol.Message) { m.Timestamp = time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC) },
		"negative hops":         func(m *protocol.Message) { m.Hops = -1 },
		"act with space":        func(m *protocol.Message) { m.Act = "Hey You" },
		"body not UTF-8":        func(m *protocol.Message) { m.Body = "\xff\xfe" },
		"body ends in newline":  func(m *protocol.Message) { m.Body = "a\n" },
		"request of no form":    func(m *protocol.Message) { m.Request = "job 7" },
		"human not UTF-8":       func(m *protocol.Message) { m.Human = "n\xfft" },
		"extra not UTF-8":       func(m *protocol.Message) { m.Extra = []protocol.Field{{Key: "x", Value: "\xff"}} },
		"extra with odd name":   func(m *protocol.Message) { m.Extra = []protocol.Field{{Key: "a: b", Value: "c"}} },
		"extra with own name":   func(m *protocol.Message) { m.Extra = []protocol.Field{{Key: "from", Value: "c"}} },
		"extra that is sig":     func(m *protocol.Message) { m.Extra = []protocol.Field{{Key: "sig", Value: "c"}} },
		"extra twice":           func(m *protocol.Message) { m.Extra = []protocol.Field{{Key: "x", Value: "1"}, {Key: "x", Value: "2"}} },
		"too long":              func(m *protocol.Message) { m.Human = strings.Repeat("x", protocol.MaxFrontmatter) },
		"choice without a host": func(m *protocol.Message) { m.Chosen = []protocol.Choice{{}} },
	} {
		t.Run(name, func(t *testing.T) {
			m := sample(t)
			spoil(m)
			if data, err := protocol.Encode(m); err == nil {
				t.Errorf("was written:\n%s", data)
			}
		})
	}
}

func TestFrontmatterLimitIsTheSameOnBothSides(t *testing.T) {
	m := sample(t)
	m.Human = ""
	bare := len(encode(t, m)) - len("---\n---\n\n\n") - len(m.Body)
	m.Human = strings.Repeat("x", protocol.MaxFrontmatter-bare-len("human: \n"))
	data := encode(t, m)
	if _, err := protocol.Decode(m.Path, []byte(data)); err != nil {
		t.Errorf("a frontmatter of exactly the limit: %v", err)
	}
	if _, err := protocol.Decode(m.Path, []byte(strings.Replace(data, "human: ", "human: x", 1))); err == nil {
		t.Error("a frontmatter of one byte more was read")
	}
}

func TestRoundTrip(t *testing.T) {
	g := newGenerator(1)
	for range 1000 {
		m := g.message(t)
		data, err := protocol.Encode(m)
		if err != nil {
			t.Fatalf("%v\n%+v", err, m)
		}
		back, err := protocol.Decode(m.Path, data)
		if err != nil {
			t.Fatalf("%v\n%s", err, data)
		}
		if diff := sameMessage(m, back); diff != "" {
			t.Fatalf("(-written +read)\n%s\n%s", diff, data)
		}
		if !strings.HasSuffix(string(data), "\n") || (m.Body != "" && strings.HasSuffix(string(data), "\n\n")) {
			t.Fatalf("the file does not end in exactly one newline: %q", data[max(0, len(data)-20):])
		}
		readIndependently(t, m, data)
	}
}

// readIndependently reads the frontmatter as any YAML program would. Parley insists on literal
// text, and such a program does not.
func readIndependently(t *testing.T, m *protocol.Message, data []byte) {
	t.Helper()
	front, _, _ := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
	var read map[string]any
	if err := yaml.Unmarshal([]byte(front), &read); err != nil {
		t.Fatalf("an independent reader fails: %v\n%s", err, front)
	}
	want := map[string]any{"from": m.From, "type": string(m.Type), "timestamp": m.Timestamp}
	for key, value := range map[string]string{
		"ref": m.Ref, "via": m.Via, "re": m.Re, "host": string(m.Host), "run": m.Run, "prev": m.Prev,
		"request": m.Request, "human": m.Human, "key": m.Key, "sig": m.Sig,
	} {
		if value != "" {
			want[key] = value
		}
	}
	for _, f := range m.Extra {
		want[f.Key] = f.Value
	}
	for key, value := range want {
		if !reflect.DeepEqual(read[key], value) {
			t.Fatalf("an independent reader takes %s for %#v, want %#v\n%s", key, read[key], value, front)
		}
	}
	checkNamesRead(t, read["to"], m.Names())
}

func checkNamesRead(t *testing.T, got any, want []string) {
	t.Helper()
	if len(want) == 1 {
		if got != want[0] {
			t.Fatalf("an independent reader takes to for %#v, want %q", got, want[0])
		}
		return
	}
	list := make([]any, len(want))
	for i, name := range want {
		list[i] = name
	}
	if !reflect.DeepEqual(got, list) {
		t.Fatalf("an independent reader takes to for %#v, want %q", got, want)
	}
}

// number matches what some YAML reader takes for a number, a date or a broken one. YAML 1.1 and 1.2
// differ. The float of one reader overflows where that of another does not.
var number = regexp.MustCompile(`^[-+]?(\.?[0-9][0-9_.]*([eE][-+]?[0-9]+)?|0[xX][0-9A-Fa-f_]+|0[oO][0-7_]+|0[bB][01_]+|\._|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*)$`)

func TestQuote(t *testing.T) {
	for _, s := range append(append(trapNames(), colonNames()...), "", " ", "a\nb", "a\u0085b", "\x7f", "\x00") {
		q := protocol.Quote(s)
		if number.MatchString(s) && q == s {
			t.Errorf("%s stands plain, some reader takes it for a number or a date", s)
		}
		checkQuoted(t, s, q)
	}
	for _, s := range []string{"alice", "ops-bot@white", testRel, "Nat Weerawan", "日本語", "v1.2 final", "1st", "2fast", "0badcafe", "0xyz"} {
		if q := protocol.Quote(s); q != s {
			t.Errorf("%s is needlessly quoted: %s", s, q)
		}
	}
}

// checkQuoted reads `q` back as a field's value and as one of a list.
func checkQuoted(t *testing.T, s, q string) {
	t.Helper()
	var read struct {
		A any   `yaml:"a"`
		B []any `yaml:"b"`
	}
	if err := yaml.Unmarshal([]byte("a: "+q+"\nb: ["+q+", "+q+"]\n"), &read); err != nil {
		t.Errorf("Quote(%q) = %s: %v", s, q, err)
		return
	}
	if read.A != s || !reflect.DeepEqual(read.B, []any{s, s}) {
		t.Errorf("Quote(%q) = %s, read as %#v and %#v", s, q, read.A, read.B)
	}
}
