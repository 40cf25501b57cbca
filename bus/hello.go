package bus

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// A link begins, after the TLS handshake, with one line of JSON each way, before
// anything of NATS: who dials says what it wants, who listens says yes or why not.
// So both know the cause when a link does not come to be, and nobody whose key
// does not count ever speaks to the NATS server.

const (
	linkVersion = 1 // of these lines and of what follows them
	linkName    = "parley-link"
	maxHello    = 2 << 10 // bytes of a line
	maxSaid     = 200     // bytes of a reason that is repeated to people
)

// hello is what who dials says.
type hello struct {
	Link    int       `json:"link"` // linkVersion
	Version string    `json:"version"`
	Time    time.Time `json:"time"`
	Takes   bool      `json:"takes"` // it takes links of others itself
	Probe   bool      `json:"probe"` // it only looks
}

// welcome is what who listens answers.
type welcome struct {
	Link    int       `json:"link"`
	Version string    `json:"version"`
	Time    time.Time `json:"time"`
	Cause   Cause     `json:"cause,omitempty"` // why not, "" for yes
	Reason  string    `json:"reason,omitempty"`
}

// writeLine sends one of them.
func writeLine(w io.Writer, v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readLine reads one of them and not a byte of what follows.
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

// said is a text of the other end as it may be kept: short, and valid text.
func said(s string) string {
	s = s[:min(len(s), maxSaid)]
	return strings.ToValidUTF8(s, "\uFFFD")
}
