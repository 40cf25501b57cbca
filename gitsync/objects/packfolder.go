package objects

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// packFolder is the folder of packs of a repository. The git program reads and changes it at any
// time, too. packFolder knows in which order files of packs come and go.
type packFolder string

// packs returns the packs that have a file with this ending, sorted. It gives their paths without
// the ending.
func (f packFolder) packs(ending string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(string(f), "pack-*"+ending))
	if err != nil {
		return nil, fmt.Errorf("cannot list packs: %w", err)
	}
	names = each.Of(names, func(name string) string { return strings.TrimSuffix(name, ending) })
	slices.Sort(names)
	return names, nil
}

// place writes the three files of a pack and syncs the folder. The data of the pack comes in parts.
// If place fails, it removes the files again, unless the pack had its .idx before.
func (f packFolder) place(base string, idx []byte, pack ...[]byte) error {
	_, known := os.Stat(base + ".idx")
	err := f.placeFiles(base, idx, pack...)
	if err == nil || known == nil {
		return err
	}
	for _, ending := range []string{".idx", ".pack", ".keep"} {
		err = errors.Join(err, removeFile(base+ending))
	}
	return err
}

// placeFiles writes the files of a pack. The .keep comes first, because "git repack -d" decides by
// the .pack and the .keep what to remove at its end. The .idx comes last, because it makes the pack
// readable.
func (f packFolder) placeFiles(base string, idx []byte, pack ...[]byte) error {
	for _, file := range []struct {
		name string
		data [][]byte
	}{{base + ".keep", [][]byte{[]byte(keepText)}}, {base + ".pack", pack}, {base + ".idx", [][]byte{idx}}} {
		if err := writeAtomically(file.name, file.data...); err != nil {
			return err
		}
		failpoint.Hit(failpoint.PackPlacing)
	}
	failpoint.Hit(failpoint.PackPlaced)
	return durable.Folder(string(f))
}

// removePack removes a pack whose objects are all elsewhere. The .idx goes first, so that nobody
// opens a pack that is about to go. The .keep goes last, so that a crash leaves something by which
// Repair knows the pack as one of this program.
func removePack(base string) error {
	for _, ending := range []string{".idx", ".rev", ".bitmap", ".pack", ".keep"} {
		if err := removeFile(base + ending); err != nil {
			return fmt.Errorf("cannot remove a replaced pack: %w", err)
		}
		failpoint.Hit(failpoint.PackRemoving)
	}
	return nil
}

type receivedPack struct {
	temp string
	idx  []byte
}

func (r receivedPack) discard() { _ = removeFile(r.temp) } // the file is gone already if all went well

// receive reads a pack to its end and indexes it.
func (f packFolder) receive(in io.Reader) (r receivedPack, err error) {
	r.temp, err = f.receivePack(in)
	if err == nil {
		r.idx, err = pack.IndexOf(r.temp)
	}
	if err != nil && r.temp != "" {
		r.discard()
	}
	return r, err
}

func (f packFolder) receivePack(in io.Reader) (path string, err error) {
	file, err := os.CreateTemp(string(f), tempPrefix)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(file, in)
	if err == nil {
		err = file.Chmod(0o644)
	}
	if err == nil {
		err = file.Sync()
	}
	return file.Name(), errors.Join(err, file.Close())
}
