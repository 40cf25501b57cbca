package objects

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/pattern"
)

const keepText = "parley: the rolling pack, see gitsync/objects\n"

// isOurKeep reports whether a pack has the .keep that this program writes.
func isOurKeep(base string) bool {
	text, err := os.ReadFile(base + ".keep")
	return err == nil && strings.HasPrefix(string(text), keepText)
}

const keepReplaces = "replaces "

// joinedKeep returns the text of the .keep of a joined pack, which names the packs that it
// replaces.
func joinedKeep(sources []candidate) []byte {
	text := []byte(keepText)
	for _, c := range sources {
		text = fmt.Appendf(text, "%s%s\n", keepReplaces, filepath.Base(c.base))
	}
	return text
}

// replacedBy returns the packs that a joined pack replaces, as its .keep names them.
func replacedBy(base string) []string {
	text, err := os.ReadFile(base + ".keep")
	rest, ours := strings.CutPrefix(string(text), keepText)
	if err != nil || !ours {
		return nil
	}
	var all []string
	for line := range strings.Lines(rest) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), keepReplaces)
		source := filepath.Join(filepath.Dir(base), name)
		if ok && strings.HasPrefix(name, "pack-") && filepath.Base(source) == name && source != base {
			all = append(all, source)
		}
	}
	return all
}

// isKept reports whether a pack has a .keep, whoever made it.
func isKept(base string) bool {
	_, err := os.Stat(base + ".keep")
	return err == nil
}

// gitKeep is what git writes into the .keep of a pack that it receives. That .keep stays until a
// ref names what the pack holds.
var gitKeep = pattern.New(`^(fetch|receive)-pack [0-9]+ on `)

// forgetGitKeeps removes a .keep that a fetch or push of the git program left an hour ago or
// earlier, when it was killed. With that .keep, nobody would ever join or repack the pack.
func (f packFolder) forgetGitKeeps() ([]string, error) {
	var did []string
	err := eachFile(string(f), false, func(path string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil || !strings.HasSuffix(path, ".keep") || time.Since(info.ModTime()) < tempAge {
			return nil
		}
		if text, err := os.ReadFile(path); err != nil || !gitKeep.Regexp().Match(text) {
			return nil
		}
		did = append(did, "removed the forgotten "+d.Name())
		return removeFile(path)
	})
	return did, err
}

// Forget gives packs of this program to the operator's gc if their .keep is an hour old. It also
// removes unfinished files of this program that are an hour old. It is for a repository that others
// push to as well. A program that was killed there does not come back to tidy up.
func (w *Writer) Forget() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return eachFile(string(w.folder), false, func(path string, d fs.DirEntry) error {
		info, err := d.Info()
		if err != nil || time.Since(info.ModTime()) < tempAge {
			return nil
		}
		if strings.HasPrefix(d.Name(), tempPrefix) {
			return removeFile(path)
		}
		if base, ok := strings.CutSuffix(path, ".keep"); ok && isOurKeep(base) {
			return w.unkeep(base)
		}
		return nil
	})
}
