package objects

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

const keepReplaces = "replaces "

// joinedKeep is the .keep of a pack that was joined.
func joinedKeep(sources []candidate) []byte {
	text := []byte(keepText)
	for _, c := range sources {
		text = fmt.Appendf(text, "%s%s\n", keepReplaces, filepath.Base(c.base))
	}
	return text
}

// finishJoins brings to an end what a join before a crash had left to do: a joined
// pack is durable before those that it replaces begin to go.
func (s *Store) finishJoins() ([]string, error) {
	bases, err := s.packNames(".keep")
	if err != nil {
		return nil, err
	}
	var did []string
	for _, base := range bases {
		sources := s.replacedBy(base)
		if len(sources) == 0 || pack.CheckIndex(base) != nil {
			continue
		}
		if sum, err := pack.WrongSum(base + ".pack"); err != nil || sum != nil {
			continue // the others may be all that is readable
		}
		if err := s.dropMultiIndex(sources); err != nil {
			return did, err
		}
		for _, source := range sources {
			if isKept(source) && !isOurKeep(source) {
				continue
			}
			if err := removePack(source); err != nil {
				return did, err
			}
		}
		if err := s.unkeep(base); err != nil {
			return did, err
		}
		did = append(did, fmt.Sprintf("removed %d packs that were joined into %s", len(sources), filepath.Base(base)))
	}
	return did, nil
}

// replacedBy are the packs that a joined pack says it replaces.
func (s *Store) replacedBy(base string) []string {
	text, err := os.ReadFile(base + ".keep")
	rest, ours := strings.CutPrefix(string(text), keepText)
	if err != nil || !ours {
		return nil
	}
	var all []string
	for line := range strings.Lines(rest) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), keepReplaces)
		source := filepath.Join(s.packDir(), name)
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
