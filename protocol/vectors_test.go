package protocol_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/protocol"
)

// vectors are what another implementation must compute alike. The file is
// written by hand and from outside of this package; no test writes it.
type vectors struct {
	Derive []struct {
		Record  string             `json:"record"`
		Names   []string           `json:"names"`
		Channel protocol.ChannelID `json:"channel"`
	} `json:"derive"`
	Select []struct {
		Rel     string      `json:"rel"`
		Indexes map[int]int `json:"indexes"` // by the size of the group
	} `json:"select"`
	Sign []struct {
		Seed   string        `json:"seed"` // nkey of the kind user; no host uses it
		Key    string        `json:"key"`
		Record string        `json:"record"`
		Path   protocol.Path `json:"path"`
		File   string        `json:"file"`
	} `json:"sign"`
}

func readVectors(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Derive) == 0 || len(v.Select) == 0 || len(v.Sign) == 0 {
		t.Fatal("a kind of vector is missing")
	}
	return v
}

func TestVectorsDerive(t *testing.T) {
	for _, v := range readVectors(t).Derive {
		if got := protocol.DeriveChannel(v.Record, v.Names...); got != v.Channel {
			t.Errorf("%s %q: got %s, want %s", v.Record, v.Names, got, v.Channel)
		}
	}
}

func TestVectorsSelect(t *testing.T) {
	for _, v := range readVectors(t).Select {
		for size, want := range v.Indexes {
			if got := protocol.Select(v.Rel, size); got != want {
				t.Errorf("%s of %d: got %d, want %d", v.Rel, size, got, want)
			}
		}
	}
}

func TestVectorsSign(t *testing.T) {
	for _, v := range readVectors(t).Sign {
		m, err := protocol.Decode(v.Path, []byte(v.File))
		if err != nil {
			t.Fatal(err)
		}
		if state, err := protocol.CheckSignature(m, v.Record, []byte(v.File)); state != protocol.SignatureValid || m.Key != v.Key {
			t.Errorf("%s: %s, %v", v.Path, state, err)
		}
		key, err := nkeys.FromSeed([]byte(v.Seed))
		if err != nil {
			t.Fatal(err)
		}
		m.Key, m.Sig = "", ""
		again, err := protocol.Sign(m, v.Record, key)
		if err != nil || string(again) != v.File {
			t.Errorf("%s: %v; signed again it is\n%s\nwant\n%s", v.Path, err, again, v.File)
		}
	}
}

func TestVectorsLetters(t *testing.T) {
	text, err := os.ReadFile("testdata/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Letters []struct {
			Record, Seed, Key, Subject, Re, Data, Sig string
			Host                                      protocol.Name
			Time                                      time.Time
		}
	}
	if err := json.Unmarshal(text, &v); err != nil || len(v.Letters) == 0 {
		t.Fatal(err, len(v.Letters))
	}
	for _, want := range v.Letters {
		key, err := nkeys.FromSeed([]byte(want.Seed))
		if err != nil {
			t.Fatal(err)
		}
		l := protocol.Letter{Subject: want.Subject, Host: want.Host, Time: want.Time, Re: want.Re, Data: []byte(want.Data)}
		if err := l.Seal(want.Record, key); err != nil || l.Key != want.Key || l.Sig != want.Sig {
			t.Errorf("%s: sealed as %s by %s, %v", want.Subject, l.Sig, l.Key, err)
		}
		if err := l.Open(want.Record); err != nil {
			t.Error(err)
		}
	}
}
