package bus

import (
	"bytes"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// What a stranger sends as the first line neither crashes nor grows, and not a byte of
// what follows it is taken.
func FuzzFirstLines(f *testing.F) {
	f.Add([]byte(`{"link":1,"version":"x","time":"2026-05-23T19:01:00Z","takes":true,"probe":true}`+"\nINFO"), "black")
	f.Add([]byte(`{"link":1,"cause":"key","reason":"\u0000\ufffd"}`+"\n"), "black")
	f.Add([]byte(`CONNECT {"name":"black-x"}`+"\r\nPING"), "black")
	f.Add(bytes.Repeat([]byte("{"), 2*maxHello), "white")
	f.Fuzz(func(t *testing.T, data []byte, alias string) {
		var asks hello
		r := bytes.NewReader(data)
		err := readLine(r, &asks)
		if taken := len(data) - r.Len(); taken > maxHello+1 {
			t.Errorf("%d bytes were taken", taken)
		}
		if end := bytes.IndexByte(data, '\n'); err == nil && r.Len() != len(data)-end-1 {
			t.Errorf("%d bytes are left, want all behind the first line", r.Len())
		}
		var says welcome
		if readLine(bytes.NewReader(data), &says) == nil {
			if says.known() == "" || len(said(says.Reason)) > 3*maxSaid {
				t.Errorf("a refusal %q is told as %q", says.Cause, says.known())
			}
		}
		if checkConnect(data, protocol.Name(alias), "x") == nil && !bytes.HasPrefix(data, []byte("CONNECT {")) {
			t.Errorf("%q is no CONNECT of %s", data, alias)
		}
	})
}
