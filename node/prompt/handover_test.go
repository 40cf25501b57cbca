package prompt

import (
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// A hand-over takes at most 9,000 bytes, whatever is written, and what is written stays within its
// fence (R70).
func FuzzHandOver(f *testing.F) {
	f.Add("hello", "zoe", 3, true)
	f.Add(strings.Repeat("é", 4000), "a\nb", 9, false)
	f.Add("\x1b[2J\u202e"+strings.Repeat("x\n", 3000), strings.Repeat("n", 200), 2, true)
	f.Fuzz(func(t *testing.T, body, from string, n int, again bool) {
		h := HandOver{Agent: "one", Host: "white"}
		p := protocol.NewPath(protocol.DeriveChannel("record", "zoe", "one"), time.Unix(1_700_000_000, 0).UTC(), 1)
		shown := 0
		for range min(max(n, 1), 12) {
			if h.Add(ShownMessage{Path: p, From: from, To: []string{"one"}, Body: body, Act: protocol.ActHey, Signature: protocol.SignatureValid, At: time.Unix(1_700_000_000, 0)}, again) {
				shown++
			} else {
				h.Left++
			}
		}
		text := h.Text("0a1b2c3d4e5f60718293a4b5c6d7e8f9")
		if shown == 0 || len(from) < 100 && len(text) > handOverSize {
			t.Errorf("%d messages in %d bytes", shown, len(text))
		}
		if !strings.HasSuffix(text, "parley reply "+Path(p)+" 'TEXT'\n") || strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("told: %q", text)
		}
	})
}
