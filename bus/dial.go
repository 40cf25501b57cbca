package bus

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// dialer dials an existing NATS system. With it, one client serves two kinds of servers: those that
// ask for a key and those that do not. The client refuses to show its key to a server that gives it
// nothing to sign. So dialer puts something to sign into the greeting of such a server. The server
// ignores the key, like everything for which it did not ask.
type dialer struct{ timeout time.Duration }

// greets reports whether the servers at `url` greet a connection at once. Servers behind
// websockets, and those that begin with TLS, do not.
func greets(url string, l Login) bool {
	return !l.TLSFirst && !strings.HasPrefix(url, "ws://") && !strings.HasPrefix(url, "wss://")
}

// maxGreeting bounds a server's INFO line, in bytes.
const maxGreeting = 64 << 10

// Dial implements nats.CustomDialer.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	conn, err := net.DialTimeout(network, address, d.timeout)
	if err != nil {
		return nil, err
	}
	greeting, err := readGreeting(conn, d.timeout)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("cannot read the greeting of %s: %w", address, err)
	}
	return &greeted{conn, io.MultiReader(bytes.NewReader(withNonce(greeting)), conn)}, nil
}

// readGreeting reads up to the end of the first line, and what has come together with it.
func readGreeting(conn net.Conn, timeout time.Duration) ([]byte, error) {
	if err := conn.SetReadDeadline(time.Now().Add(timeout)); err != nil {
		return nil, err
	}
	var greeting []byte
	buffer := make([]byte, 4<<10)
	for !bytes.ContainsRune(greeting, '\n') {
		if len(greeting) > maxGreeting {
			return nil, fmt.Errorf("it is longer than %d bytes", maxGreeting)
		}
		n, err := conn.Read(buffer)
		greeting = append(greeting, buffer[:n]...)
		if err != nil && !bytes.ContainsRune(greeting, '\n') {
			return nil, err
		}
	}
	return greeting, conn.SetReadDeadline(time.Time{})
}

// withNonce adds a nonce to a greeting that has none. If it is no INFO line, it leaves it to the
// client to judge it.
func withNonce(greeting []byte) []byte {
	line, rest, _ := bytes.Cut(greeting, []byte("\n"))
	text, ok := bytes.CutPrefix(line, []byte("INFO "))
	if !ok {
		return greeting
	}
	var info map[string]json.RawMessage
	if json.Unmarshal(text, &info) != nil || info == nil {
		return greeting
	}
	if nonce, ok := info["nonce"]; ok && string(nonce) != `""` {
		return greeting
	}
	info["nonce"] = json.RawMessage(`"none"`)
	text, err := json.Marshal(info)
	if err != nil {
		return greeting
	}
	return append(append([]byte("INFO "), append(text, "\r\n"...)...), rest...)
}

// greeted is a connection whose first bytes have been read already.
type greeted struct {
	net.Conn
	in io.Reader
}

// Read first returns the bytes that have been read already.
func (g *greeted) Read(p []byte) (int, error) { return g.in.Read(p) }
