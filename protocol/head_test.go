package protocol_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/protocol"
)

func heads(t testing.TB) []protocol.Head {
	t.Helper()
	m := sample(t)
	return []protocol.Head{
		{Host: "white", Run: "0badcafe", Seq: 7, Hash: protocol.Hash([]byte("a")), Path: m.Path},
		{Host: "black", Run: "00000000", Seq: 1, Hash: protocol.Hash(nil), Path: m.Path},
	}
}

func TestHeadsAreReadAsTheyAreWritten(t *testing.T) {
	want := heads(t)
	got, err := protocol.DecodeHeads(protocol.EncodeHeads(want))
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(protocol.Path{})); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	line := string(protocol.EncodeHeads(want[:1]))
	for _, bad := range []string{
		"", "white", strings.Repeat(line+"\n", protocol.MaxHeads) + line, strings.Replace(line, " 7 ", " 0 ", 1), strings.Replace(line, " 7 ", " 07 ", 1),
		strings.Replace(line, "0badcafe", "0BADCAFE", 1), strings.Replace(line, "white", "../x", 1), line + " x", line + "\n",
	} {
		if _, err := protocol.DecodeHeads([]byte(bad)); err == nil {
			t.Errorf("%.80q is read as a head letter", bad)
		}
	}
}

func FuzzDecodeHeads(f *testing.F) {
	f.Add(protocol.EncodeHeads(heads(f)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if heads, err := protocol.DecodeHeads(data); err == nil {
			if again, err := protocol.DecodeHeads(protocol.EncodeHeads(heads)); err != nil || len(again) != len(heads) {
				t.Errorf("what was read cannot be written: %v", err)
			}
		}
	})
}

func TestResentMessagesAreReadAsTheyAreWritten(t *testing.T) {
	m := sample(t)
	request := protocol.ResendRequest{Host: "white", Want: protocol.Hash(nil), After: m.Path, AfterHash: protocol.Hash([]byte("a"))}
	data, err := protocol.EncodeResendRequest(request)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := protocol.DecodeResendRequest(data); err != nil || got != request {
		t.Errorf("%+v became %+v, %v", request, got, err)
	}
	want := []protocol.Resent{{Path: m.Path, Data: []byte("one\n\ntwo")}, {Path: m.Path, Data: []byte{}}, {Path: m.Path, Data: []byte("\x00")}}
	if data, err = protocol.EncodeResent(want); err != nil {
		t.Fatal(err)
	}
	got, err := protocol.DecodeResent(data)
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(protocol.Path{})); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	for _, bad := range [][]byte{nil, []byte("[]"), data[:len(data)-1], append(bytes.Clone(data), 'x'), []byte(`[{"path":"","size":0}]` + "\n")} {
		if _, err := protocol.DecodeResent(bad); err == nil {
			t.Errorf("%.80q is read as an answer", bad)
		}
	}
}

func FuzzDecodeResent(f *testing.F) {
	m := sample(f)
	data, err := protocol.EncodeResent([]protocol.Resent{{Path: m.Path, Data: []byte("one")}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"host":"white","want":"` + protocol.Hash(nil) + `","after":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := protocol.DecodeResendRequest(data); err == nil && (r.Host == "" || !protocol.IsHash(r.Want)) {
			t.Errorf("%q is read as %+v", data, r)
		}
		messages, err := protocol.DecodeResent(data)
		if err != nil {
			return
		}
		if len(messages) > protocol.MaxResent {
			t.Errorf("%d messages were read", len(messages))
		}
		if again, err := protocol.EncodeResent(messages); err != nil {
			t.Errorf("what was read cannot be written: %v", err)
		} else if _, err := protocol.DecodeResent(again); err != nil {
			t.Errorf("what was written cannot be read: %v", err)
		}
	})
}
