package objects

import (
	"fmt"
	"path/filepath"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// finishJoins brings to an end what a join before a crash had left to do: a joined
// pack is durable before those that it replaces begin to go.
func (r packRepair) finishJoins() ([]string, error) {
	bases, err := r.folder.packs(".keep")
	if err != nil {
		return nil, err
	}
	var did []string
	for _, base := range bases {
		sources := replacedBy(base)
		if len(sources) == 0 || pack.CheckIndex(base) != nil {
			continue
		}
		if sum, err := pack.WrongSum(base + ".pack"); err != nil || sum != nil {
			continue // the others may be all that is readable
		}
		if err := r.folder.dropMultiIndex(sources); err != nil {
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
		if err := r.writer.unkeep(base); err != nil {
			return did, err
		}
		did = append(did, fmt.Sprintf("removed %d packs that were joined into %s", len(sources), filepath.Base(base)))
	}
	return did, nil
}
