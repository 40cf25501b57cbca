package objects

import (
	"bufio"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/failpoint"
)

// syncEvery is how many bytes are written between two fsyncs. So the fsyncs of a commit need not
// wait for the whole pack.
const syncEvery = 8 << 20

// begin opens a new temporary file.
func (j *joiner) begin() error {
	f, err := os.CreateTemp(string(j.folder), tempPrefix)
	if err != nil {
		return fmt.Errorf("cannot create a file: %w", err)
	}
	j.file, j.sum, j.size, j.synced = f, sha1.New(), 0, 0
	j.out = bufio.NewWriterSize(f, 256<<10)
	j.at, j.entries = map[Hash]uint32{}, nil
	j.centers, j.centered = map[string]center{}, 0
	return nil
}

// discard removes the temporary files that are not in their places. It may be called twice.
func (j *joiner) discard() {
	_ = j.file.Close() // nothing of it is used
	_ = removeFile(j.file.Name())
	if j.idxTemp != "" {
		_ = removeFile(j.idxTemp)
	}
}

func (j *joiner) put(data []byte) error {
	j.sum.Write(data)
	j.size += int64(len(data))
	if _, err := j.out.Write(data); err != nil {
		return fmt.Errorf("cannot write a pack: %w", err)
	}
	if j.size-j.synced < syncEvery {
		return nil
	}
	return j.sync()
}

func (j *joiner) sync() error {
	j.synced = j.size
	if err := j.out.Flush(); err != nil {
		return fmt.Errorf("cannot write a pack: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("cannot write a pack: %w", err)
	}
	return nil
}

// place gives the pack its name and moves its files to their places, in the same order as
// packFolder.place. If a pack of that name is there, the joined pack gets another name, because a
// gc may be about to remove the other pack.
func (j *joiner) place(ctx context.Context) (base string, err error) {
	name, err := j.finish()
	if err != nil {
		return "", err
	}
	base = filepath.Join(string(j.folder), "pack-"+name.String())
	if _, err := os.Stat(base + ".pack"); err == nil {
		if base, err = j.again(ctx); err != nil {
			return "", err
		}
	}
	if err := writeAtomically(base+".keep", joinedKeep(j.sources)); err != nil {
		return "", err
	}
	failpoint.Hit(failpoint.PackPlacing)
	if err := os.Rename(j.file.Name(), base+".pack"); err != nil {
		return "", fmt.Errorf("cannot put a pack in place: %w", err)
	}
	failpoint.Hit(failpoint.PackPlacing)
	if err := os.Rename(j.idxTemp, base+".idx"); err != nil {
		return "", fmt.Errorf("cannot put a pack in place: %w", err)
	}
	failpoint.Hit(failpoint.PackPlaced)
	if err := durable.Folder(string(j.folder)); err != nil {
		return "", err
	}
	failpoint.Hit(failpoint.PackJoined)
	return base, nil
}

// again writes the pack once more, so that it gets another name.
func (j *joiner) again(ctx context.Context) (base string, err error) {
	for among := len(j.entries); among > 0; among /= 2 { // few of the entries may be such that they can vary
		j.discard()
		j.vary = 1 + rand.IntN(among)
		if err := j.begin(); err != nil {
			return "", err
		}
		if err := j.write(ctx); err != nil {
			return "", err
		}
		name, err := j.finish()
		if err != nil {
			return "", err
		}
		base = filepath.Join(string(j.folder), "pack-"+name.String())
		if _, err := os.Stat(base + ".pack"); err != nil {
			return base, nil
		}
	}
	return "", errors.New("a pack with the same content is there already")
}

// finish ends the files and makes them durable, but does not move them to their places. The pack
// gets the age of its newest source, because git takes the age of a pack for that of its objects.
func (j *joiner) finish() (name Hash, err error) {
	name = Hash(j.sum.Sum(nil))
	if err := j.put(name[:]); err != nil {
		return Zero, err
	}
	if err := j.sync(); err != nil {
		return Zero, err
	}
	if err := errors.Join(j.file.Chmod(0o644), j.file.Close()); err != nil {
		return Zero, fmt.Errorf("cannot write a pack: %w", err)
	}
	newest := j.sources[0].modified
	if err := os.Chtimes(j.file.Name(), time.Time{}, newest); err != nil {
		return Zero, fmt.Errorf("cannot write a pack: %w", err)
	}
	slices.SortFunc(j.entries, pack.Placed.Compare)
	j.idxTemp = j.file.Name() + "_idx"
	if err := writeAtomically(j.idxTemp, pack.EncodeSorted(j.entries, name)); err != nil {
		return Zero, err
	}
	if err := os.Chtimes(j.idxTemp, time.Time{}, newest); err != nil {
		return Zero, fmt.Errorf("cannot write a pack: %w", err)
	}
	return name, nil
}
