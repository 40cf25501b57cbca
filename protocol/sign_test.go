package protocol_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

func sign(t testing.TB, m *protocol.Message) []byte {
	t.Helper()
	data, err := protocol.Sign(m, testRecord, testKey(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// check decodes `data` as a file at `p` and checks its signature. A file that cannot be read counts
// as refused.
func check(p protocol.Path, record string, data []byte) protocol.Signature {
	m, err := protocol.Decode(p, data)
	if err != nil {
		return protocol.SignatureRefused
	}
	state, _ := protocol.CheckSignature(m, record, data)
	return state
}

func TestSignedMessagesAreValid(t *testing.T) {
	g := newGenerator(2)
	for range 200 {
		m := g.message(t)
		g.node(m)
		data := sign(t, m)
		if state := check(m.Path, testRecord, data); state != protocol.SignatureValid {
			t.Fatalf("%s, want valid:\n%s", state, data)
		}
		front, _, _ := bytes.Cut(data[len("---\n"):], []byte("\n---\n"))
		lines := bytes.Split(front, []byte("\n"))
		if last := lines[len(lines)-1]; !bytes.HasPrefix(last, []byte("sig: ")) {
			t.Fatalf("sig is not the last field but %q", last)
		}
	}
}

func TestSigningTwiceGivesTheSameFile(t *testing.T) {
	m := sample(t)
	first := sign(t, m)
	if second := sign(t, m); !bytes.Equal(first, second) {
		t.Errorf("got\n%s\nthen\n%s", first, second)
	}
}

// If a byte could change, one bit of a signature could be turned without breaking it. Then two
// files would be valid for one message.
func TestNoByteOfASignedFileCanChange(t *testing.T) {
	m := sample(t)
	data := sign(t, m)
	spoiled := func(what string, at int, data []byte) {
		if state := check(m.Path, testRecord, data); state == protocol.SignatureValid {
			t.Errorf("valid with %s at byte %d:\n%s", what, at, data)
		}
	}
	for i := range data {
		for bit := range 8 {
			flipped := bytes.Clone(data)
			flipped[i] ^= 1 << bit
			spoiled("a flipped bit", i, flipped)
		}
		spoiled("a byte less", i, append(bytes.Clone(data[:i]), data[i+1:]...))
	}
	for i := range len(data) + 1 {
		for _, b := range []byte(" \r\n\"A") {
			longer := append(append(bytes.Clone(data[:i]), b), data[i:]...)
			if !bytes.Equal(longer, data) {
				spoiled("a byte more", i, longer)
			}
		}
	}
}

func TestSignedMessageDoesNotFitElsewhere(t *testing.T) {
	m := sample(t)
	data := sign(t, m)
	for _, p := range []string{
		"00000000-0f71-49a9-80a0-fb76883cd974/" + testRel,
		testChannel + "/2026/05/23/190100000Z-b2c3d4e6.md",
		testChannel + "/2026/05/24/190100000Z-b2c3d4e5.md",
	} {
		if state := check(path(t, p), testRecord, data); state != protocol.SignatureRefused {
			t.Errorf("at %s: %s, want refused", p, state)
		}
	}
	if state := check(m.Path, strings.Repeat("0", 40), data); state != protocol.SignatureRefused {
		t.Errorf("in another record: %s, want refused", state)
	}
}

func TestSignatureIsRefused(t *testing.T) {
	m := sample(t)
	data := string(sign(t, m))
	sigLine := "sig: " + m.Sig + "\n"
	keyLine := "key: " + m.Key + "\n"
	other, err := testKey(t, 2).PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{
		"sig without key":         strings.Replace(data, keyLine, "", 1),
		"key without sig":         strings.Replace(data, sigLine, "", 1),
		"sig not last":            strings.Replace(data, sigLine, sigLine+"x: y\n", 1),
		"sig first":               strings.Replace(strings.Replace(data, sigLine, "", 1), "---\n", "---\n"+sigLine, 1),
		"sig quoted":              strings.Replace(data, sigLine, `sig: "`+m.Sig+"\"\n", 1),
		"sig with comment":        strings.Replace(data, sigLine, "sig: "+m.Sig+" # x\n", 1),
		"sig line with CR":        strings.Replace(data, sigLine, "sig: "+m.Sig+"\r\n", 1),
		"sig padded":              strings.Replace(data, sigLine, "sig: "+m.Sig+"==\n", 1),
		"sig cut short":           strings.Replace(data, sigLine, "sig: "+m.Sig[:40]+"\n", 1),
		"sig of nothing":          strings.Replace(data, sigLine, "sig: AA\n", 1),
		"sig no base64":           strings.Replace(data, sigLine, "sig: \"?!\"\n", 1),
		"another key":             strings.Replace(data, keyLine, "key: "+other+"\n", 1),
		"key no key":              strings.Replace(data, keyLine, "key: alice\n", 1),
		"field added":             strings.Replace(data, keyLine, "human: nat\n"+keyLine, 1),
		"field gone":              strings.Replace(data, "hops: 1\n", "", 1),
		"field changed":           strings.Replace(data, "from: nat", "from: nit", 1),
		"body changed":            strings.Replace(data, "moon", "noon", 1),
		"CRLF":                    strings.ReplaceAll(data, "\n", "\r\n"),
		"byte order mark":         "\ufeff" + data,
		"newline at the end gone": strings.TrimSuffix(data, "\n"),
		"newline more at the end": data + "\n",
	} {
		if file == data {
			t.Fatalf("%s: the test spoils nothing", name)
		}
		if state := check(m.Path, testRecord, []byte(file)); state != protocol.SignatureRefused {
			t.Errorf("%s: %s, want refused\n%s", name, state, file)
		}
	}
}

func TestSignedMessageNeedsHostRunAndSeq(t *testing.T) {
	for name, spoil := range map[string]func(*protocol.Message){
		"host": func(m *protocol.Message) { m.Host = "" },
		"run":  func(m *protocol.Message) { m.Run = "" },
		"seq":  func(m *protocol.Message) { m.Seq = 0 },
	} {
		m := sample(t)
		spoil(m)
		if state := check(m.Path, testRecord, sign(t, m)); state != protocol.SignatureRefused {
			t.Errorf("without %s: %s, want refused", name, state)
		}
	}
}

func TestRefusalSaysWhy(t *testing.T) {
	m := sample(t)
	data := bytes.Replace(sign(t, m), []byte("moon"), []byte("noon"), 1)
	state, err := protocol.CheckSignature(m, testRecord, data)
	if state != protocol.SignatureRefused || err == nil {
		t.Errorf("got %s, %v", state, err)
	}
}

func TestUnsignedIsUnverified(t *testing.T) {
	m := sample(t)
	if state := check(m.Path, testRecord, []byte(encode(t, m))); state != protocol.SignatureUnverified {
		t.Errorf("got %s, want unverified", state)
	}
}

func TestSignRefusesWhatCannotBeWritten(t *testing.T) {
	m := sample(t)
	m.To = nil
	if data, err := protocol.Sign(m, testRecord, testKey(t, 1)); err == nil {
		t.Errorf("was signed:\n%s", data)
	}
}

func letter(t *testing.T) *protocol.Letter {
	t.Helper()
	l := &protocol.Letter{
		Subject: "parley.fleet.white.ask.neo.status", Host: "white", Re: "AAAA", Data: []byte("a\nb"),
		Time: time.Date(2026, 5, 23, 19, 1, 0, 123_000_000, time.UTC),
	}
	if err := l.Seal(testRecord, testKey(t, 1)); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLetter(t *testing.T) {
	l := letter(t)
	if err := l.Open(testRecord); err != nil {
		t.Errorf("a sealed letter does not open: %v", err)
	}
	l.Time = l.Time.In(time.FixedZone("", -3600))
	if err := l.Open(testRecord); err != nil {
		t.Errorf("the zone of a letter's time matters: %v", err)
	}
	if err := l.Open(strings.Repeat("0", 40)); err == nil {
		t.Error("it opens in another record")
	}
}

func TestSpoiledLetterDoesNotOpen(t *testing.T) {
	other, err := testKey(t, 2).PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*protocol.Letter){
		"subject":    func(l *protocol.Letter) { l.Subject = "parley.fleet.white.bell" },
		"host":       func(l *protocol.Letter) { l.Host = "neo" },
		"key":        func(l *protocol.Letter) { l.Key = other },
		"no key":     func(l *protocol.Letter) { l.Key = "" },
		"time":       func(l *protocol.Letter) { l.Time = l.Time.Add(time.Millisecond) },
		"re":         func(l *protocol.Letter) { l.Re = "" },
		"data":       func(l *protocol.Letter) { l.Data = []byte("a\nc") },
		"more data":  func(l *protocol.Letter) { l.Data = append(l.Data, 0) },
		"no sig":     func(l *protocol.Letter) { l.Sig = "" },
		"loose bits": func(l *protocol.Letter) { l.Sig = looseBits(t, l.Sig) },
		"sig folded": func(l *protocol.Letter) { l.Sig = l.Sig[:10] + "\n" + l.Sig[10:] },
		// The data's first line must not pass for a part of re.
		"cut elsewhere": func(l *protocol.Letter) { l.Re, l.Data = "AAAA\na", []byte("b") },
	} {
		l := letter(t)
		spoil(l)
		if err := l.Open(testRecord); err == nil {
			t.Errorf("%s: it opens", name)
		}
	}
}

// A message's signature must not pass for a letter's, nor a letter's for a message's.
func TestLetterIsNoMessage(t *testing.T) {
	m := sample(t)
	data := sign(t, m)
	unsigned := bytes.Replace(data, []byte("sig: "+m.Sig+"\n"), nil, 1)
	l := &protocol.Letter{Subject: m.Path.String(), Key: m.Key, Sig: m.Sig, Data: unsigned}
	if err := l.Open(testRecord); err == nil {
		t.Error("a message's signature opens a letter")
	}
	if err := l.Seal(testRecord, testKey(t, 1)); err != nil {
		t.Fatal(err)
	}
	forged := bytes.Replace(data, []byte(m.Sig), []byte(l.Sig), 1)
	if state := check(m.Path, testRecord, forged); l.Key != m.Key || bytes.Equal(forged, data) || state != protocol.SignatureRefused {
		t.Errorf("a letter's signature makes a message %s", state)
	}
}

// looseBits changes the bits of the last character that no byte uses.
func looseBits(t *testing.T, sig string) string {
	t.Helper()
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(digits, sig[len(sig)-1])
	loose := sig[:len(sig)-1] + string(digits[last^1])
	a, err := base64.RawURLEncoding.DecodeString(sig)
	b, err2 := base64.RawURLEncoding.DecodeString(loose)
	if err != nil || err2 != nil || !bytes.Equal(a, b) {
		t.Fatal("the last character has no loose bits")
	}
	return loose
}

func FuzzCheckSignature(f *testing.F) {
	m := sample(f)
	p, data := m.Path, sign(f, m)
	f.Add(data, testRecord)
	f.Add(bytes.Replace(data, []byte("sig: "), []byte("sig:  "), 1), testRecord)
	f.Add([]byte("---\nfrom: a\nto: b\ntype: text\ntimestamp: 2026-05-23T19:00:00Z\nkey: \"\"\nsig: \"\"\n---\n"), "")
	f.Add([]byte("---\nsig: x\n---\n"), "")
	f.Fuzz(func(t *testing.T, file []byte, record string) {
		if state := check(p, record, file); state == protocol.SignatureValid && (!bytes.Equal(file, data) || record != testRecord) {
			t.Errorf("valid, though never signed, in record %q:\n%s", record, file)
		}
	})
}

// BenchmarkSign measures what a node's writer does for every message.
func BenchmarkSign(b *testing.B) {
	m := sample(b)
	for b.Loop() {
		sign(b, m)
	}
}

// What Sign returns is what Encode writes of the signed message.
func TestSignWritesAsEncodeDoes(t *testing.T) {
	g := newGenerator(5)
	for range 200 {
		m := g.message(t)
		g.node(m)
		signed := sign(t, m)
		if again, err := protocol.Encode(m); err != nil || !bytes.Equal(signed, again) {
			t.Fatalf("signed as\n%s\nencoded as\n%s\n%v", signed, again, err)
		}
	}
	m := sample(t)
	m.Body = "---\nsig: x\n---"
	if signed := sign(t, m); !bytes.Contains(signed, []byte("\n---\n\n---\nsig: x\n---\n")) {
		t.Errorf("the body was taken for frontmatter:\n%s", signed)
	}
}
