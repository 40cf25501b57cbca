package homes

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/control"
)

// tokenKeyBytes is the length of the key of tokens, in bytes.
const tokenKeyBytes = 32

// TokenKey reads the key of agents' tokens, or makes it.
func TokenKey(home configs.Home) ([]byte, error) {
	file := filepath.Join(home.Keys(), "tokens.key")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		data = []byte(random.Hex(tokenKeyBytes) + "\n")
		err = writeOnce(file, data)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the key of agents' tokens: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) != tokenKeyBytes {
		return nil, control.Errorf(control.KindFailed, "remove the file: a new one is made, and the tokens made with it count no more",
			"cannot read the key of agents' tokens: %s is damaged", file)
	}
	return key, nil
}
