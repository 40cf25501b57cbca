package protocol

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"fmt"

	"github.com/nats-io/nkeys"
)

// Fingerprint is a public nkey in the short form that people compare by eye or by telephone:
// "SHA256:" and the unpadded base64 of the SHA-256 of the 32 bytes of the ed25519 key. It returns
// an error for text that decodes to a key but is not the usual spelling of that key.
func Fingerprint(publicKey string) (string, error) {
	raw, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(publicKey))
	if err == nil && len(raw) == ed25519.PublicKeySize {
		if text, err := nkeys.Encode(nkeys.PrefixByteUser, raw); err == nil && string(text) == publicKey {
			sum := sha256.Sum256(raw)
			return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:]), nil
		}
	}
	return "", fmt.Errorf("cannot take the fingerprint of %q: it is no public user nkey", publicKey)
}
