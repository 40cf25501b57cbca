package bus

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/nats-io/nats-server/v2/server"
)

// A server finds cycles by marks. A host that takes no links says to a hub that it has such a mark.
// The mark is that of the hub, or that of another host's server behind it, and the hub would then
// end that server's link. It prevents: one member that keeps all others off the bus for half a
// minute, again and again.
func TestMemberCannotFeignACycle(t *testing.T) {
	f := newFleet()
	hub, leaf, third := newHost(t, f, "white"), newHost(t, f, "oracle-world"), newHost(t, f, "black")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	conn, heard := enterAs(t, hub, third)
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
	hub.awaitLinked(t, 1)
	before := onlyLink(t, leaf)
	mark := nextLine(t, heard, "LS+ "+loopMarks)
	mark = strings.TrimSpace(strings.TrimPrefix(mark, "LS+ "))
	for _, say := range []string{"LS+ " + mark, "ls+\t" + mark + " ", "LS+ " + mark + " queue 1", "LS+ $LDS.x", "LS- $LDS.x", "PING"} {
		if _, err := io.WriteString(conn, say+"\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	nextLine(t, heard, "PONG")
	z, err := hub.server.Leafz(&server.LeafzOptions{Subscriptions: true})
	if err != nil || len(z.Leafs) != 2 {
		t.Fatalf("%d links, %v", len(z.Leafs), err)
	}
	for _, l := range z.Leafs {
		if slices.ContainsFunc(l.Subs, func(s string) bool { return strings.HasPrefix(s, loopMarks) }) {
			t.Errorf("the server of the hub heard a mark of %s: %q", l.Name, l.Subs)
		}
	}
	hub.publish(t, 1)
	leaf.await(t, "the message", func() bool { return len(leaf.messages) == 1 })
	if got := onlyLink(t, leaf); !got.Since.Equal(before.Since) || leaf.linked != 1 {
		t.Errorf("the link is %+v, %d times up, want it as it was: %+v", got, leaf.linked, before)
	}
}

// If nothing follows the LS- of a line, the server reads on in the next line. So the server would
// read lines where this host reads a message. It prevents: a mark that passes as the text of a
// message.
func TestMarkIsNotSmuggled(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	conn, heard := enterAs(t, hub, third)
	lines := "LS+ $LDS.smuggled\r\nPING\r\n"
	if _, err := fmt.Fprintf(conn, "LS- \nLMSG a %d\r\n%s\r\n", len(lines), lines); err != nil {
		t.Fatal(err)
	}
	said, _ := io.ReadAll(heard) // until the hub ends the link
	if bytes.Contains(said, []byte("PONG")) {
		t.Errorf("the server of the hub took the text of a message for lines: it says %q", said)
	}
}

// A hub that tells a host which takes no links that it is in a cycle loses only its own link. It
// prevents: a host that waits for half a minute before it dials another hub.
func TestHubCannotFeignACycle(t *testing.T) {
	f := newFleet()
	liar, hub, leaf := newHost(t, f, "black"), newHost(t, f, "white"), newHost(t, f, "oracle-world")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	address, said := feigningHub(t, liar)
	leaf.opts.Hubs = func() []Hub {
		return append([]Hub{{Alias: liar.alias, Keys: []string{publicKey(t, liar.opts.Key)}, Addresses: []string{address}}}, hubsOf(t, hub)()...)
	}
	leaf.start(t)
	awaited(t, "the feigned cycle", said)
	leaf.awaitLinked(t, 1)
	if l := onlyLink(t, leaf); l.Host != hub.alias {
		t.Errorf("the link is %+v, want that to white", l)
	}
}

// feigningHub listens as a hub with the key of `as`, and takes one link. It hands the server at the
// other end that server's own mark, says that there is a cycle, and ends the link. Then it closes
// `said`.
func feigningHub(t *testing.T, as *host) (address string, said <-chan struct{}) {
	t.Helper()
	cert, err := hostCertificate(as.opts.Key, as.alias, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{linkName}, Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var work sync.WaitGroup
	t.Cleanup(func() { l.Close(); work.Wait() })
	work.Go(func() { // ends with the one link, or with the listener
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_ = l.Close()
		var asks hello
		if readLine(conn, &asks) != nil || writeLine(conn, welcome{Link: linkVersion}) != nil {
			return
		}
		fmt.Fprintf(conn, "INFO {\"server_id\":\"x\",\"server_name\":%q,\"headers\":true,\"max_payload\":1048576,\"client_id\":7,\"leafnode_urls\":[\"x:1\"]}\r\n", as.alias.String()+"-x")
		for heard := bufio.NewReader(conn); ; {
			line, err := heard.ReadString('\n')
			if err != nil {
				return
			}
			if strings.HasPrefix(line, "LS+ "+loopMarks) {
				fmt.Fprintf(conn, "-ERR 'Loop detected for leafnode account'\r\n%s", line)
				return
			}
		}
	})
	return l.Addr().String(), done
}

// enterAs links to `hub` as the server of `as`, a host that takes no links. It returns the link,
// and a reader of what comes by it.
func enterAs(t *testing.T, hub, as *host) (*tls.Conn, *bufio.Reader) {
	t.Helper()
	conn, says := knockAs(t, hub.Addresses().Links, as.opts.Key, hello{Link: linkVersion})
	if conn == nil || says.Cause != "" {
		t.Fatalf("%s is not let in: %+v", as.alias, says)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "CONNECT {\"name\":%q,\"remote_account\":\"$G\"}\r\n", as.alias.String()+"-x"); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, "the link of "+as.alias.String(), func() bool { return len(hub.Links()) == 1 })
	return conn, bufio.NewReader(conn)
}

// nextLine returns the next line that begins with `begins`.
func nextLine(t *testing.T, from *bufio.Reader, begins string) string {
	t.Helper()
	for {
		line, err := from.ReadString('\n')
		if err != nil {
			t.Fatalf("nothing that begins with %q came: %v", begins, err)
		}
		if strings.HasPrefix(line, begins) {
			return line
		}
	}
}

// unmark returns all that passes of what a linked server said.
func unmark(from io.Reader) ([]byte, error) {
	return io.ReadAll(newUnmarked(nil, from))
}

// All but marks passes as it is, in whatever pieces it comes. A line that the server might read
// otherwise than this host ends the link.
func TestAllButMarksPasses(t *testing.T) {
	payload := make([]byte, 3*maxLine)
	_, _ = rand.Read(payload)
	copy(payload, "\r\nLS+ $LDS.in a message\r\n")
	said := fmt.Sprintf("PING\r\nLS+ parley.dawn.>\r\nLMSG a.b %d\r\n%s\r\nHMSG a.b + c 12 %d\r\n%s\r\nLMSG x 0\r\n\r\nPONG\n",
		len(payload), payload, len(payload), payload)
	marks := "LS+ $LDS.x\r\n-ERR 'Loop detected'\r\n-err\r\n"
	for name, from := range map[string]io.Reader{
		"whole": strings.NewReader(marks + said + marks), "halves": iotest.HalfReader(strings.NewReader(marks + said)),
		"bytes": iotest.OneByteReader(strings.NewReader(marks + said + marks)),
	} {
		if got, err := unmark(from); err != nil || string(got) != said {
			t.Errorf("%s: %d of %d bytes pass, %v", name, len(got), len(said), err)
		}
	}
	for _, wrong := range []string{
		"\r\n", "PUB a 1\r\n", "LMSG a\r\n", "LMSG a -1\r\n", "LMSG a 99999999999\r\n", "LMSG a 1\r 10\n", "LS+ a\rb\r\n", "RMSG $G a 1\r\n",
		"LS- \nLMSG a 12\r\nLS+ $LDS.x\r\n\r\n", "ls+\t\v\n", "LS+\n", "INFO\n", "CONNECT \r\n",
		strings.Repeat("x", maxLine) + "\r\n",
	} {
		if got, err := unmark(strings.NewReader("PING\r\n" + wrong)); err == nil || string(got) != "PING\r\n" {
			t.Errorf("%.20q passes: %.40q, %v", wrong, got, err)
		}
	}
	if got, err := unmark(iotest.ErrReader(io.ErrClosedPipe)); len(got) > 0 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("of a link that is broken passes %q, %v", got, err)
	}
}

// Whatever a server says, the pieces in which it comes do not change what passes. No line with a
// mark passes, except within messages.
func FuzzUnmarked(f *testing.F) {
	for _, said := range []string{"PING\r\n", "LS+ $LDS.x\r\nLS- a\r\n", "LMSG a 3\r\nabc\r\nPONG\r\n", "HMSG a 1 2\r\nab\r\nls+\t$LDS.x\r\n"} {
		f.Add([]byte(said))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		whole, err := unmark(bytes.NewReader(said))
		pieces, errPieces := unmark(iotest.OneByteReader(bytes.NewReader(said)))
		if !bytes.Equal(whole, pieces) || (err == nil) != (errPieces == nil) {
			t.Fatalf("%q and %q pass, %v and %v", whole, pieces, err, errPieces)
		}
		again, errAgain := unmark(bytes.NewReader(whole))
		if err == nil && (errAgain != nil || !bytes.Equal(whole, again)) {
			t.Fatalf("of what passed %q passes, %v", again, errAgain)
		}
	})
}
