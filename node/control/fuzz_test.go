package control

import (
	"encoding/json"
	"testing"
)

// FuzzDecodeRequest checks that every request is read, or refused as wrong usage, and that what was
// read can be written and read again.
func FuzzDecodeRequest(f *testing.F) {
	f.Add([]byte(`{"to":["mawjs"],"body":"hello","heard_within":50000000}`))
	f.Add([]byte(`{"re":"b2c3d4e5","body":"\u0000"}`))
	f.Add([]byte(`{"to":null}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Send.decode(data)
		if err != nil {
			if AsError(err).Kind != KindUsage {
				t.Errorf("error of kind %s", AsError(err).Kind)
			}
			return
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Send.decode(again); err != nil {
			t.Errorf("%s: %v", again, err)
		}
	})
}
