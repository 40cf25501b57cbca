package bus

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// A link begins, after the TLS handshake, with one line of JSON in each direction, before anything
// of NATS. The host that dials says what it wants. The host that listens says yes, or why not. So
// both know the cause if there is no link, and nobody whose key does not count ever speaks to the
// NATS server.

const (
	linkVersion = 1 // version of these lines and of what follows them
	linkName    = "parley-link"
	maxHello    = 2 << 10 // bytes of a line
	maxSaid     = 200     // bytes of a reason that people are shown
)

// hello is what the host that dials says.
type hello struct {
	Link    int       `json:"link"` // linkVersion
	Version string    `json:"version"`
	Time    time.Time `json:"time"`
	Takes   bool      `json:"takes"` // it takes links of other hosts itself
	Probe   bool      `json:"probe"` // it only tests the connection
}

// welcome is what the host that listens answers.
type welcome struct {
	Link    int       `json:"link"`
	Version string    `json:"version"`
	Time    time.Time `json:"time"`
	Cause   Cause     `json:"cause,omitempty"` // why not, "" for yes
	Reason  string    `json:"reason,omitempty"`
}

// writeLine sends a hello or a welcome.
func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readLine reads a hello or a welcome, and not a byte of what follows.
func readLine(r io.Reader, v any) error {
	var line []byte
	one := make([]byte, 1)
	for {
		if _, err := io.ReadFull(r, one); err != nil {
			return err
		}
		if one[0] == '\n' {
			break
		}
		if line = append(line, one[0]); len(line) > maxHello {
			return fmt.Errorf("its first line is longer than %d bytes", maxHello)
		}
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf("its first line does not speak of links: %w", err)
	}
	return nil
}

// said is a text of the other end in a form that may be kept: short and valid.
func said(s string) string {
	s = s[:min(len(s), maxSaid)]
	return strings.ToValidUTF8(s, "\uFFFD")
}
