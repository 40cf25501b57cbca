package hand

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/protocol"
)

// Shown checks the message that asks a human something. The node gives its file in base64, with its
// path and its hash. Shown reads the message from the file, and `check` compares it with what else
// the node tells. The key and the host of the asker must be those of the file too. A human must sign
// what they saw, whatever the node tells.
func Shown(path, hash, file string, asker protocol.Asker, check func(*protocol.Message) error) error {
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
		if print, _ := protocol.Fingerprint(m.Key); m.Host != asker.Host || asker.Key != "" && asker.Key != print {
			err = errors.New("the node names another asker than the one who signed the message")
		}
	}
	if err == nil {
		err = check(m)
	}
	if err != nil {
		return fmt.Errorf("cannot decide what cannot be checked: %w", err)
	}
	return nil
}
