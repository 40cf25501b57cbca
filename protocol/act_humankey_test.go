package protocol

import (
	"testing"
	"time"

	"github.com/nats-io/nkeys"
)

func userKey(t testing.TB) nkeys.KeyPair {
	t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// It prevents: a key of a human that whoever has the host's key puts in the place of
// another one, or takes to another host, human or record.
func TestHumanKeyProof(t *testing.T) {
	first, next := userKey(t), userKey(t)
	h := HumanKey{Host: "white", Human: "nat"}
	if err := h.Prove("record", first, nil); err != nil {
		t.Fatal(err)
	}
	if err := h.Check("record"); err != nil {
		t.Errorf("the first key: %v", err)
	}
	after := HumanKey{Host: "white", Human: "nat", Open: true}
	if err := after.Prove("record", next, first); err != nil {
		t.Fatal(err)
	}
	read, err := SayHumanKey.Parse(SayHumanKey.Format(after))
	if err != nil || read != after {
		t.Fatalf("%+v, %v", read, err)
	}
	if err := read.Check("record"); err != nil {
		t.Errorf("the next key: %v", err)
	}
	for name, change := range map[string]func(h *HumanKey){
		"another host":                  func(h *HumanKey) { h.Host = "black" },
		"another human":                 func(h *HumanKey) { h.Human = "zoe" },
		"another key before":            func(h *HumanKey) { h.After, _ = userKey(t).PublicKey() },
		"said to be under a passphrase": func(h *HumanKey) { h.Open = false },
		"the same key":                  func(h *HumanKey) { h.After = h.Key },
		"without the word before":       func(h *HumanKey) { h.Agreed = "AAAA" },
	} {
		changed := after
		change(&changed)
		if changed.Check("record") == nil {
			t.Errorf("%s: it holds", name)
		}
	}
	if after.Check("another record") == nil {
		t.Error("it holds in another record")
	}
}

// It prevents: a decision of a human that counts for something else than they saw.
func TestHumanDecision(t *testing.T) {
	key := userKey(t)
	gate, err := ParsePath("01234567-89ab-cdef-0123-456789abcdef/2026/05/23/190100000Z-b2c3d4e5.md")
	if err != nil {
		t.Fatal(err)
	}
	d := HumanDecision{
		RecordID: "record", Human: "nat", Host: "white", Gate: gate, GateHash: "5f", Act: ActAccept, Reason: "yes\nof course", Until: exampleTime, TakesBack: "ab",
	}
	sig, err := d.Sign(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Check(sig); err != nil {
		t.Errorf("as it was signed: %v", err)
	}
	for name, change := range map[string]func(d *HumanDecision){
		"another record": func(d *HumanDecision) { d.RecordID = "other" }, "another human": func(d *HumanDecision) { d.Human = "zoe" },
		"another host": func(d *HumanDecision) { d.Host = "black" }, "another gate": func(d *HumanDecision) { d.Gate = Path{} },
		"another text": func(d *HumanDecision) { d.GateHash = "60" }, "the contrary": func(d *HumanDecision) { d.Act = ActReject },
		"another reason": func(d *HumanDecision) { d.Reason = "yes" }, "another time": func(d *HumanDecision) { d.Until = d.Until.Add(time.Hour) },
		"taking back another": func(d *HumanDecision) { d.TakesBack = "" }, "another key": func(d *HumanDecision) { d.Key = exampleKey },
	} {
		changed := d
		change(&changed)
		if changed.Check(sig) == nil {
			t.Errorf("%s: it holds", name)
		}
	}
	if d.Check("") == nil {
		t.Error("it holds without a signature")
	}
}

// It prevents: the end of a key that leaves other decisions in than whoever agreed to it saw.
func TestHumanEnd(t *testing.T) {
	key := userKey(t)
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	a, b := Hash([]byte("a")), Hash([]byte("b"))
	end := HumanEnd{Host: "white", Of: "white", Human: "nat", Key: public, Counts: []string{b, a, b}}
	if err := end.Agree("record", key); err != nil {
		t.Fatal(err)
	}
	read, err := RevokeHuman.Parse(RevokeHuman.Format(end))
	if err != nil {
		t.Fatal(err)
	}
	if err := read.Check("record"); err != nil {
		t.Errorf("as it was said: %v", err)
	}
	read.Counts = read.Counts[:1]
	if read.Check("record") == nil {
		t.Error("it holds with a decision less")
	}
}
