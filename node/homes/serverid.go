package homes

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/internal/whereabouts"
)

// ServerID makes the name of the bus server different from others: a random part that is kept with
// the key, and a mark of this place. Servers with the same name throw each other off, and a copied
// home must get far enough to be told to stay out.
func ServerID(home configs.Home) (string, error) {
	id, err := keptServerID(home)
	mark := sha256.Sum256([]byte(whereabouts.Hostname() + "\x00" + home.Dir))
	return id + "-" + hex.EncodeToString(mark[:4]), err
}

func keptServerID(home configs.Home) (string, error) {
	file := filepath.Join(home.Keys(), "server.id")
	data, err := os.ReadFile(file)
	if err == nil {
		return strings.TrimSpace(string(data)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("cannot read the id of the bus server: %w", err)
	}
	id := random.Hex(8)
	return id, writeOnce(file, []byte(id+"\n"))
}
