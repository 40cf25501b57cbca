package bus

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/protocol"
)

// maxConnect bounds the first line of a linked server, in bytes.
const maxConnect = 8 << 10

// firstLine is a connection of another host's server. Its first line must agree with the key that
// was proved. Two servers with the same name throw each other off, so a host must not take the name
// of another host's server. And a server that dials must not say that it is the hub.
type firstLine struct {
	*tls.Conn
	host    protocol.Name
	like    string // an id of a server (Options.ServerID); all ids have the same form
	checked bool
	rest    []byte // what has been read and not returned yet
}

// Read returns nothing before the first line is there and correct.
func (f *firstLine) Read(p []byte) (int, error) {
	for !f.checked {
		n, err := f.Conn.Read(p)
		f.rest = append(f.rest, p[:n]...)
		line, _, whole := bytes.Cut(f.rest, []byte("\n"))
		if whole {
			if err := checkConnect(line, f.host, f.like); err != nil {
				return 0, err
			}
			f.checked = true
			break
		}
		if err != nil {
			return 0, err
		}
		if len(f.rest) > maxConnect {
			return 0, fmt.Errorf("the first line is longer than %d bytes", maxConnect)
		}
	}
	if len(f.rest) > 0 {
		n := copy(p, f.rest)
		f.rest = f.rest[n:]
		return n, nil
	}
	return f.Conn.Read(p)
}

// checkConnect checks the line with which a server of `host` enters. The part behind the host's
// name must have as many hyphens as `like`. Otherwise a host could take the name of another host's
// server if that host's name begins with its own, as black-ops begins with black.
func checkConnect(line []byte, host protocol.Name, like string) error {
	text, ok := bytes.CutPrefix(line, []byte("CONNECT "))
	if !ok {
		return errors.New("the first line is no CONNECT")
	}
	var says struct {
		Name string `json:"name"`
		Hub  bool   `json:"is_hub"`
	}
	if err := json.Unmarshal(text, &says); err != nil {
		return fmt.Errorf("the CONNECT cannot be read: %w", err)
	}
	id, named := strings.CutPrefix(says.Name, host.String()+"-")
	if says.Hub || !named || strings.Count(id, "-") != strings.Count(like, "-") {
		return fmt.Errorf("the CONNECT is not that of a server of %s", host)
	}
	return nil
}
