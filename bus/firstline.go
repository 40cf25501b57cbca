package bus

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	host protocol.Name
	like string    // an id of a server (Options.ServerID); all ids have the same form
	in   io.Reader // what was read to check the line, and the rest; nil before it is checked
}

// Read returns nothing before the first line is there and correct.
func (f *firstLine) Read(p []byte) (int, error) {
	for begin := []byte{}; f.in == nil; {
		n, err := f.Conn.Read(p)
		begin = append(begin, p[:n]...)
		line, _, whole := bytes.Cut(begin, []byte("\n"))
		switch {
		case whole:
			if err := checkConnect(line, f.host, f.like); err != nil {
				return 0, err
			}
			f.in = io.MultiReader(bytes.NewReader(begin), f.Conn)
		case err != nil:
			return 0, err
		case len(begin) > maxConnect:
			return 0, fmt.Errorf("the first line is longer than %d bytes", maxConnect)
		}
	}
	return f.in.Read(p)
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
