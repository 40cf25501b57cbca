package journal

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// fullDisk is a segment on a disk that takes only so many bytes more.
type fullDisk struct {
	file
	room *int
}

// Write writes what there is room for, as the system does.
func (f fullDisk) Write(data []byte) (int, error) {
	if len(data) <= *f.room {
		*f.room -= len(data)
		return f.file.Write(data)
	}
	n, err := f.file.Write(data[:*f.room])
	*f.room = 0
	return n, errors.Join(err, syscall.ENOSPC)
}

// TestDiskFullAndFreed prevents: a message that is taken and only half written, and a journal that
// takes nothing any more once there is room again.
func TestDiskFullAndFreed(t *testing.T) {
	for room := range 3 * headerSize {
		dir := t.TempDir()
		left := 1000
		j, _, _ := open(t, dir, Options{open: func(path string) (file, error) {
			f, err := createFile(path)
			return fullDisk{f, &left}, err
		}})
		store(t, j, entry(1))
		left = room
		for n := 2; n < 6; n++ {
			_, err := j.Append(t.Context(), []Entry{{Path: entry(n).Path, Data: []byte(strings.Repeat("x", 100))}})
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("room for %d bytes: %v", room, err)
			}
		}
		left = 1000
		store(t, j, entry(7))
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		_, got, _ := open(t, dir, Options{})
		wantEntries(t, got, entry(1), entry(7))
	}
}

// It prevents that an entry is read from the place of another one after a part of its segment was
// damaged.
func TestReadAgain(t *testing.T) {
	dir := t.TempDir()
	j, _, _ := open(t, dir, Options{})
	var ids []ID
	for n := range 4 {
		ids = append(ids, store(t, j, entry(n))...)
	}
	for n, id := range ids {
		if e, err := j.Read(id); err != nil || string(e[id].Data) != string(entry(n).Data) {
			t.Errorf("entry %d reads %q, %v", n, e[id].Data, err)
		}
	}
	if err := j.Done(ids[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Read(ids[0]); err == nil {
		t.Error("an entry that is done can be read")
	}
	flipByte(t, segments(t, dir)[0], "data 1")
	if e, err := j.Read(ids[2]); err == nil {
		t.Errorf("behind a hole it reads %q", e[ids[2]].Data)
	}
}
