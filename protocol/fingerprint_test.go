package protocol

import "testing"

// The vector was computed with other tools: the key decoded from base32, its
// 32 bytes piped through sha256sum and base64.
func TestFingerprint(t *testing.T) {
	const key = "UDHZNLXJ7AJOZ4CFWBMC7BFOOVGLQYIODGCFX7HABPAL33RYVWZUNPIE"
	got, err := Fingerprint(key)
	if want := "SHA256:+71BQLNFqYoSxMyNGtxIK5RnAGFq7M9LxUulUrcPYWg"; err != nil || got != want {
		t.Errorf("Fingerprint = %q, %v, want %q", got, err, want)
	}
	for _, bad := range []string{"", "U", key[:55], "A" + key[1:], key + "A"} {
		if got, err := Fingerprint(bad); err == nil {
			t.Errorf("Fingerprint(%q) = %q, want an error", bad, got)
		}
	}
}
