// Package random draws from the system's random source, which does not fail.
package random

import (
	"crypto/rand"
	"encoding/hex"
)

// Fill fills b.
func Fill(b []byte) { _, _ = rand.Read(b) }

// Hex returns a number of random bytes, as hexadecimal digits.
func Hex(bytes int) string {
	b := make([]byte, bytes)
	Fill(b)
	return hex.EncodeToString(b)
}
