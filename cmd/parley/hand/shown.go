package hand

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/protocol"
)

// Shown is the message that asks a human something. It is read from its file in base64, which
// the node gives with its path and hash. check says what else the node tells that is not in
// it. What is signed must be what was seen, whatever the node tells.
func Shown(path, hash, file string, check func(*protocol.Message) error) error {
	data, err := base64.StdEncoding.DecodeString(file)
	var p protocol.Path
	if err == nil {
		p, err = protocol.ParsePath(path)
	}
	if err == nil && protocol.Hash(data) != hash {
		err = errors.New("the file that the node shows is another one")
	}
	var m *protocol.Message
	if err == nil {
		m, err = protocol.Decode(p, data)
	}
	if err == nil {
		err = check(m)
	}
	if err != nil {
		return fmt.Errorf("cannot decide what cannot be checked: %w", err)
	}
	return nil
}
