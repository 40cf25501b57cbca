package hosts

import (
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

func FuzzCertified(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, err := certified(data)
		if _, printed := protocol.Fingerprint(key); err == nil && printed != nil {
			t.Errorf("%q is made for %q, which is no key", data, key)
		}
	})
}
