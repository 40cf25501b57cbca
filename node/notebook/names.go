package notebook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	where "github.com/parleyfleet/parley/internal/psi"
	"github.com/parleyfleet/parley/internal/visible"
)

// The folder in ψ for the files, and the folders in it that belong to no partner.
const (
	folder        = "memory/collaborations"
	archive       = "archive"
	partiesFolder = "parties"
)

// maxFolder bounds the name of a partner's folder, in bytes.
const maxFolder = 64

// folderOf is the name of a partner's folder. Names come from others. So a name gets replaced by
// one made of its hash if it could be a path, or differs from another one only in case, or is not
// possible on some system.
func folderOf(name string) string {
	plain := name != "" && len(name) <= maxFolder && name[0] != '.' && name[0] != '-' && name[len(name)-1] != '.' &&
		strings.IndexFunc(name, func(r rune) bool {
			return r != '-' && r != '_' && r != '.' && (r < 'a' || r > 'z') && (r < '0' || r > '9')
		}) < 0
	stem, _, _ := strings.Cut(name, ".")
	reserved := []string{archive, partiesFolder, "con", "prn", "aux", "nul"}
	device := len(stem) == 4 && (strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt"))
	if plain && !slices.Contains(reserved, stem) && !device {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "name-" + hex.EncodeToString(sum[:8])
}

// psi is where the memory of an agent is, given the agent's folder. It need not exist.
func psi(dir string) string { return where.Of(dir) }

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// inLine is somebody's text as it stands in a line of a sheet. It can be no mark, no new line, and
// nothing that a terminal obeys.
func inLine(text string) string {
	return strings.ReplaceAll(visible.Line(strings.Join(strings.Fields(text), " ")), "<!--", "<\\!--")
}

func inCell(text string) string { return strings.ReplaceAll(inLine(text), "|", `\|`) }
