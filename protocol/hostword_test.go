package protocol_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parleyfleet/parley/protocol"
)

const (
	keyOne = "UCFIRY65OQE7DFP5KLNS2PF2LVZMUZYJX4OZIEQ36N2IQANUB5XVZ45L"
	runEnd = "0badcafe 7 abababababababababababababababababababababababababababababababab"
)

// words are bodies as they are written, by act.
func words(t testing.TB) map[protocol.Act]string {
	t.Helper()
	r := protocol.Rotation{Host: "white", Until: time.Date(2026, 5, 24, 19, 1, 0, 0, time.UTC)}
	if err := r.Prove(testRecord, keyOne, testKey(t, 3)); err != nil {
		t.Fatal(err)
	}
	return map[protocol.Act]string{
		protocol.ActHostVouch:  "HOST-VOUCH | host: oracle-world\nknows: white " + keyOne + "\nknows: black " + keyOne,
		protocol.ActHostRotate: "HOST-ROTATE | host: white\nkey: " + r.Key + "\nuntil: 2026-05-24T19:01:00.000Z\nproof: " + r.Proof,
		protocol.ActHostRevoke: "HOST-REVOKE | host: oracle-world\nrevokes: white " + keyOne + "\nlast: 00000000 1 " + strings.Repeat("0", 64) + "\nlast: " + runEnd,
		protocol.ActHostJoin:   hostBody,
		protocol.ActHostAgents: "HOST-AGENTS | host: white\nhuman: nat",
	}
}

func TestHostWords(t *testing.T) {
	for act, body := range words(t) {
		w, err := protocol.ParseHostWord(act, body+"\na line of a later version")
		if err != nil {
			t.Errorf("%s: %v", act, err)
			continue
		}
		if got := protocol.FormatHostWord(act, w); got != body {
			t.Errorf("%s: got\n%s\nwant\n%s", act, got, body)
		}
		if want := strings.Fields(body)[3]; w.Speaker().String() != want {
			t.Errorf("%s: said by %s, want %s", act, w.Speaker(), want)
		}
		if !act.HostWord() || act.Mail() || protocol.ParseAct(string(act)) != act {
			t.Errorf("%s must be no mail", act)
		}
	}
}

func TestHostWordsRefused(t *testing.T) {
	proof := strings.Split(words(t)[protocol.ActHostRotate], "\n")[3]
	for act, bodies := range map[protocol.Act][]string{
		protocol.ActHostVouch: {
			"", "HOST-VOUCH | host: a", "HOST-VOUCH | host: A\nknows: white " + keyOne, "HOST-VOUCH | host: a\nknows: white",
			"HOST-VOUCH | host: a\nknows: white " + keyOne + " ", "HOST-VOUCH | host: a\nknows: white UAKEY", "HOST-VOUCH | host: a\nknows: Wh " + keyOne,
			"HOST-VOUCH | host: a" + manyLines("\nknows: a%s "+keyOne, protocol.MaxVouched+1),
		},
		protocol.ActHostRotate: {
			"", "HOST-ROTATE | host: a", "HOST-ROTATE | host: a\nkey: " + keyOne + "\n" + proof,
			"HOST-ROTATE | host: a\nkey: " + keyOne + "\nuntil: tomorrow\n" + proof, "HOST-ROTATE | host: a\nkey: UAKEY\nuntil: 2026-05-24T19:01:00.000Z\n" + proof,
			"HOST-ROTATE | host: a\nkey: " + keyOne + "\nuntil: 2026-05-24T19:01:00.000Z",
		},
		protocol.ActHostRevoke: {
			"", "HOST-REVOKE | host: a", "HOST-REVOKE | host: a\nrevokes: b", "HOST-REVOKE | host: a\nrevokes: b " + keyOne + "\nrevokes: c " + keyOne,
			"HOST-REVOKE | host: a\nrevokes: b " + keyOne + "\nlast: " + runEnd + "\nlast: " + runEnd,
			"HOST-REVOKE | host: a\nrevokes: b " + keyOne + "\nlast: 0badcafe 0 " + strings.Repeat("a", 64),
			"HOST-REVOKE | host: a\nrevokes: b " + keyOne + "\nlast: 0badcafe -1 " + strings.Repeat("a", 64),
			"HOST-REVOKE | host: a\nrevokes: b " + keyOne + "\nlast: 0BADCAFE 1 " + strings.Repeat("a", 64),
			"HOST-REVOKE | host: a\nrevokes: b " + keyOne + "\nlast: 0badcafe 1 " + strings.Repeat("a", 63),
			"HOST-REVOKE | host: a\nrevokes: b " + keyOne + "\nlast: 0badcafe 99999999999999999999 " + strings.Repeat("a", 64),
		},
	} {
		for _, body := range bodies {
			if w, err := protocol.ParseHostWord(act, body); err == nil {
				t.Errorf("%s: %.200q was read as %+v", act, body, w)
			}
		}
	}
}

// manyLines repeats a line, each with another letter sequence in it.
func manyLines(line string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Replace(line, "%s", strings.Repeat("b", i%50)+strings.Repeat("c", i/50), 1))
	}
	return b.String()
}

// A proof holds for one record, host, old key and new key, and for no other.
func TestRotationProof(t *testing.T) {
	r := protocol.Rotation{Host: "white"}
	if err := r.Prove(testRecord, keyOne, testKey(t, 3)); err != nil {
		t.Fatal(err)
	}
	if err := r.Check(testRecord, keyOne); err != nil {
		t.Fatal(err)
	}
	old, err := testKey(t, 4).PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	other := r
	other.Host = "black"
	own := r
	own.Key = keyOne
	for name, err := range map[string]error{
		"another record":  r.Check(strings.Repeat("f", 40), keyOne),
		"another old key": r.Check(testRecord, old),
		"another host":    other.Check(testRecord, keyOne),
		"another new key": own.Check(testRecord, old),
		"the same key":    own.Check(testRecord, keyOne),
	} {
		if err == nil {
			t.Errorf("the proof holds for %s", name)
		}
	}
}

func TestFounder(t *testing.T) {
	h := protocol.HostState{Host: "white", Key: keyOne, Humans: []protocol.Name{"nat", "yes"}}
	data, err := protocol.FormatFounder(h)
	if err != nil {
		t.Fatal(err)
	}
	got, err := protocol.ParseFounder(data)
	if diff := cmp.Diff(h, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for name, text := range map[string]string{
		"nothing": "", "no key": "---\nalias: a\nhumans: [b]\n---\n", "no human": "---\nalias: a\nkey: " + keyOne + "\n---\n",
		"no alias": "---\nkey: " + keyOne + "\nhumans: [b]\n---\n", "another kind of key": "---\nalias: a\nkey: SU\nhumans: [b]\n---\n",
	} {
		if h, err := protocol.ParseFounder([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", name, h)
		}
	}
}

// FuzzHostWord reads any body as each of the words: nothing panics, and what is
// read is written so that it is read again.
func FuzzHostWord(f *testing.F) {
	for act, body := range words(f) {
		f.Add(string(act), body)
		f.Add(string(act), strings.ReplaceAll(body, "\n", "\r\n"))
	}
	f.Fuzz(func(t *testing.T, text, body string) {
		act := protocol.Act(text)
		w, err := protocol.ParseHostWord(act, body)
		if err != nil {
			return
		}
		if r, ok := w.(protocol.Rotation); ok {
			_ = r.Check(testRecord, keyOne)
		}
		again, err := protocol.ParseHostWord(act, protocol.FormatHostWord(act, w))
		if err != nil {
			t.Fatalf("%v\n%q", err, protocol.FormatHostWord(act, w))
		}
		if diff := cmp.Diff(w, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-first +again)\n%s", diff)
		}
	})
}
