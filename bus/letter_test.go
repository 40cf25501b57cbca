package bus

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/protocol"
)

func FuzzDecodeHeard(f *testing.F) {
	channel := protocol.DeriveChannel(testRecord, "a", "b")
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	f.Add(encodeHeard([]protocol.Path{protocol.NewPath(channel, at, 1), protocol.NewPath(channel, at, 2)}))
	f.Add(encodeWoken("mawjs", []protocol.Path{protocol.NewPath(channel, at, 1)}))
	f.Add([]byte(""))
	f.Add([]byte("\n"))
	f.Add(bytes.Repeat([]byte("\n"), maxHeard))
	f.Fuzz(func(t *testing.T, data []byte) {
		if agent, paths, err := decodeWoken(data); err == nil {
			again, same, err := decodeWoken(encodeWoken(agent, paths))
			if diff := cmp.Diff(paths, same, cmp.AllowUnexported(protocol.Path{})); err != nil || again != agent || diff != "" {
				t.Errorf("written and read again: %v (-want +got):\n%s", err, diff)
			}
		}
		paths, err := decodeHeard(data)
		if err != nil {
			return
		}
		if len(paths) == 0 || len(paths) > maxHeard {
			t.Fatalf("%d paths", len(paths))
		}
		again, err := decodeHeard(encodeHeard(paths))
		if diff := cmp.Diff(paths, again, cmp.AllowUnexported(protocol.Path{})); err != nil || diff != "" {
			t.Errorf("written and read again: %v (-want +got):\n%s", err, diff)
		}
	})
}

func FuzzDecodePresence(f *testing.F) {
	f.Add([]byte(`{"host":"white","live":true,"since":"2026-05-23T19:01:00Z","version":"1","agents":["mawjs"]}`))
	f.Add([]byte(`{"host":"white","agents":null}`))
	f.Add([]byte(`{"host":"WHITE"}`))
	f.Add([]byte(`{"host":"white","wants":["black","oracle-world"]}`))
	f.Add([]byte(`{"host":"white","wants":[]}`))
	f.Add([]byte(`{"host":"white","at":{"mawjs":"running","x":""}}`))
	f.Add([]byte(`{"host":"white","at":{}}`))
	f.Add([]byte(`{"host":"white","since":"9999-12-31T23:59:59+23:59"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := decodePresence(data)
		if err != nil {
			return
		}
		written, err := encodePresence(p)
		if err != nil {
			return // a time that JSON cannot hold in UTC
		}
		again, err := decodePresence(written)
		if err != nil {
			t.Fatalf("cannot read %s again: %v", written, err)
		}
		if diff := cmp.Diff(p, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("written and read again (-want +got):\n%s", diff)
		}
	})
}

// A letter survives its journey in headers, and nothing that arrives there
// crashes or proves what it should not.
func FuzzReadLetter(f *testing.F) {
	signer := newHost(f, newFleet(), "white")
	b := &Bus{opts: signer.opts}
	b.opts.Now = time.Now
	if err := b.setIdentity(signer.opts.Key); err != nil {
		f.Fatal(err)
	}
	good, err := b.seal(b.letter("parley.dawn.white.bell", "", []byte("x")), "parley.dawn.white.bell")
	if err != nil {
		f.Fatal(err)
	}
	h := good.Header
	f.Add(h.Get(protocol.HeaderHost), h.Get(protocol.HeaderKey), h.Get(protocol.HeaderTime), h.Get(protocol.HeaderSig), good.Data)
	f.Add("", "", "", "", []byte(nil))
	f.Add("white", "U", "2026-05-23T19:01:00.000Z", "_", []byte("x"))
	f.Fuzz(func(t *testing.T, host, key, at, sig string, data []byte) {
		msg := nats.NewMsg("parley.dawn.white.bell")
		msg.Data = data
		msg.Header.Set(protocol.HeaderHost, host)
		msg.Header.Set(protocol.HeaderKey, key)
		msg.Header.Set(protocol.HeaderTime, at)
		msg.Header.Set(protocol.HeaderSig, sig)
		l, err := readLetter(msg, msg.Subject)
		if err != nil || b.verify(l, "white") != nil {
			return
		}
		if !bytes.Equal(data, good.Data) || at != h.Get(protocol.HeaderTime) || host != "white" {
			t.Errorf("a letter that nobody signed is proved: %q %q %q", host, at, data)
		}
	})
}

func FuzzInboxOf(f *testing.F) {
	f.Add(newInbox("", testFleet, "white") + ".abc")
	f.Add("_INBOX.dawn.white.>")
	f.Add("_INBOX.dawn.whiter.a")
	f.Fuzz(func(t *testing.T, subject string) {
		if inboxOf(subject, testFleet, "white") && inboxOf(subject, testFleet, "black") {
			t.Errorf("%q is an inbox of two hosts", subject)
		}
	})
}
