package homes

import (
	"bytes"
	"testing"

	"github.com/nats-io/nkeys"
)

// It prevents: signatures that are made quickly and are not those of the key.
func TestQuickKeySignsAsThePairDoes(t *testing.T) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	quick, err := newQuickKey(pair)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte("what is signed")
	want, err := pair.Sign(data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := quick.Sign(data)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the signature is %x, want %x: %v", got, want, err)
	}
	wantKey, err := pair.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	if public, err := quick.PublicKey(); err != nil || public != wantKey {
		t.Errorf("the public key is %s, want %s: %v", public, wantKey, err)
	}
	if err := pair.Verify(data, got); err != nil {
		t.Error(err)
	}
}
