package gitsync

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// bombPack is a pack of some kB with a blob of `copies` MiB: a delta that copies one MiB again and
// again. It has the name of that blob, which a tree may have.
func bombPack(t *testing.T, copies int) (pack []byte, blob string) {
	t.Helper()
	base := make([]byte, 1<<20)
	sum := sha1.New()
	fmt.Fprintf(sum, "blob %d\x00", copies<<20)
	for range copies {
		sum.Write(base)
	}
	var out bytes.Buffer
	out.WriteString("PACK")
	_ = binary.Write(&out, binary.BigEndian, []uint32{2, 2}) // a buffer takes it
	object := func(kind byte, size int, before, data []byte) {
		head := kind<<4 | byte(size&15)
		for size >>= 4; size > 0; size >>= 7 {
			out.WriteByte(head | 0x80)
			head = byte(size & 0x7f)
		}
		out.WriteByte(head)
		out.Write(before)
		z := zlib.NewWriter(&out)
		_, _ = z.Write(data)
		_ = z.Close()
	}
	name := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(base)), base...))
	object(3, len(base), nil, base)
	delta := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(base))), uint64(copies<<20))
	for range copies {
		delta = append(delta, 0x80|0x40, 0x10) // copy from 0, of 0x100000 bytes: the third byte of the size
	}
	object(7, len(delta), name[:], delta)
	whole := sha1.Sum(out.Bytes())
	return append(out.Bytes(), whole[:]...), fmt.Sprintf("%x", sum.Sum(nil))
}

// pushRaw orders a move of main over a link and sends this pack, and returns what is answered.
func pushRaw(t *testing.T, s carrier.Served, old, tip string, pack io.Reader) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answered := make(chan []byte, 1)
	go func() { // ends with the connection
		_ = s.Serve(t.Context(), far)
		_ = far.Close()
	}()
	go func() { // ends with the connection
		all, _ := io.ReadAll(conn)
		answered <- all
	}()
	order := fmt.Sprintf("%s %s refs/heads/main\x00report-status", old, tip)
	fmt.Fprintf(conn, "{\"service\":\"git-receive-pack\"}\n%04x%s0000", len(order)+4, order)
	_, _ = io.Copy(conn, pack) // it may be cut off
	_ = conn.(*net.TCPConn).CloseWrite()
	all := string(<-answered)
	return all[max(0, len(all)-200):] // behind the refs
}

// A host of the fleet pushes packs that are none, or that stand for much more than they are. It
// prevents: a carrier that runs out of memory or disk, or whose repository is not what it was.
func TestHostilePushes(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	w := newWires()
	hub, shared := w.hub(t)
	s := carrier.Served{Shared: shared, Record: hub.repo()}
	tip := gitOut(t, shared, "rev-parse", "main")
	bomb, blob := bombPack(t, 1500)
	other := strings.Repeat("12", 20)
	for name, pack := range map[string]io.Reader{
		"a delta bomb":         bytes.NewReader(bomb),
		"nothing":              strings.NewReader(""),
		"garbage":              strings.NewReader(strings.Repeat("garbage ", 1000)),
		"cut short":            bytes.NewReader(bomb[:len(bomb)/2]),
		"another sum":          bytes.NewReader(append(bytes.Clone(bomb[:len(bomb)-1]), bomb[len(bomb)-1]^1)),
		"a million objects":    strings.NewReader("PACK\x00\x00\x00\x02\x00\x0f\xff\xff"),
		"four billion objects": strings.NewReader("PACK\x00\x00\x00\x02\xff\xff\xff\xff"),
	} {
		began := time.Now()
		if says := pushRaw(t, s, tip, other, pack); strings.Contains(says, "unpack ok") {
			t.Errorf("%s is taken: %q", name, says)
		} else {
			t.Logf("%s, in %s: %q", name, time.Since(began).Round(time.Millisecond), says)
		}
		if got := gitOut(t, shared, "rev-parse", "main"); got != tip {
			t.Errorf("%s: main is at %s", name, got)
		}
	}
	if out := gitOut(t, shared, "count-objects", "-v"); !strings.Contains(out, "size-garbage: 0") {
		t.Errorf("left behind:\n%s", out)
	}
	if _, err := os.Stat(filepath.Join(shared, "objects", blob[:2], blob[2:])); err == nil {
		t.Error("the bomb is there")
	}
	hub.append(t, testMessage(1, 2))
	hub.sync(t)
	wantClean(t, shared)
}

// The packs of the host that is the remote are cut short again and again, each time somewhere else,
// come slowly, or change on the way. It prevents: a disk that fills with what was begun, and a host
// that never has what the other one has once the line is good.
func TestPacksThatNeverEnd(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	w := newWires()
	hub, shared := w.hub(t)
	a := w.home(t, "a")
	honest := carrier.Served{Shared: shared, Record: hub.repo()}
	for n := range 30 {
		hub.append(t, testMessage(1, 2+n))
	}
	hub.sync(t)
	for n := range 20 {
		w.serveBy("hub", func(ctx context.Context, conn net.Conn) error {
			return honest.Serve(ctx, &stingy{Conn: conn, left: 900 + 150*n})
		})
		if err := a.Fetch(t.Context()); err == nil && a.Place(testMessage(1, 31).Path) == Absent {
			t.Errorf("%d bytes are believed", 900+150*n)
		}
	}
	for n := range 20 {
		w.serveBy("hub", func(ctx context.Context, conn net.Conn) error {
			return honest.Serve(ctx, &flipping{Conn: conn, at: 700 + 150*n})
		})
		if err := a.Fetch(t.Context()); err == nil && a.Place(testMessage(1, 31).Path) == Absent {
			t.Errorf("with another byte at %d it is believed", 700+150*n)
		}
	}
	if out := gitOut(t, a.repo(), "count-objects", "-v"); !strings.Contains(out, "size-garbage: 0") {
		t.Errorf("left behind:\n%s", out)
	}
	w.join("hub", honest)
	a.sync(t)
	if a.Place(testMessage(1, 31).Path) == Absent {
		t.Error("it has not come")
	}
	wantClean(t, a.repo())
}

// flipping is a connection on which one byte changes.
type flipping struct {
	net.Conn
	at int
}

func (f *flipping) Write(p []byte) (int, error) {
	if f.at >= 0 && f.at < len(p) {
		p = bytes.Clone(p)
		p[f.at] ^= 0x10
	}
	f.at -= len(p)
	return f.Conn.Write(p)
}

// The host that is the remote says one byte a second of where a fetch may rest. It prevents: a host
// that waits for ever, fetches nothing, and says nothing of it.
func TestPointsThatNeverEnd(t *testing.T) {
	if os.Getenv("PARLEY_LONG_TESTS") == "" {
		t.Skip("SKIPPED: takes a minute: set PARLEY_LONG_TESTS=1")
	}
	t.Parallel()
	w := newWires()
	hub, shared := w.hub(t)
	a := w.home(t, "a")
	hub.append(t, testMessage(1, 2))
	hub.sync(t)
	w.serveBy("hub", func(ctx context.Context, conn net.Conn) error {
		_, err := io.WriteString(conn, "{}\n")
		for tick := time.Tick(time.Second); err == nil && ctx.Err() == nil; <-tick {
			_, err = io.WriteString(conn, "a")
		}
		return err
	})
	began := time.Now()
	err := a.Fetch(t.Context())
	if s := a.Status(); err == nil || !strings.Contains(err.Error(), "cannot ask hub for what it has: no answer within") || s.Trouble.Kind == KindNone {
		t.Errorf("%v, %+v", err, s.Trouble)
	}
	if took := time.Since(began); took > 2*time.Minute {
		t.Errorf("that took %s", took)
	}
	w.join("hub", carrier.Served{Shared: shared, Record: hub.repo()})
	a.sync(t)
}
