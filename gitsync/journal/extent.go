package journal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// extentName is the file that says how many bytes of each segment were acknowledged, as long as the
// segment has entries that are not done. By it a start sees what was cut off, or is gone, that a
// crash cannot have left unfinished. It is written in place, after each fsync of a segment. After a
// power cut it may say less: then less is noticed.
const extentName = "extent"

// Loss is a part of the journal that was acknowledged and cannot be read.
type Loss struct {
	Segment string
	At      int    // where in the segment it begins
	Bytes   int    // how long it is
	Why     string // why it cannot be read
	Paths   []string
}

// String says what is lost, in one line.
func (l Loss) String() string {
	text := fmt.Sprintf("%s: %d bytes at %d: %s", l.Segment, l.Bytes, l.At, l.Why)
	if len(l.Paths) > 0 {
		text += ": " + strings.Join(l.Paths, ", ")
	}
	return text
}

// readExtent returns how many bytes of each segment were acknowledged; nil if nobody knows.
func readExtent(dir string) map[uint64]uint64 {
	data, err := os.ReadFile(filepath.Join(dir, extentName))
	if err != nil {
		return nil
	}
	known := map[uint64]uint64{}
	for line := range strings.Lines(string(data)) {
		var number, bytes uint64
		if n, err := fmt.Sscanf(line, "%x %d\n", &number, &bytes); n != 2 || err != nil {
			return nil
		}
		known[number] = bytes
	}
	return known
}

// noteExtent writes the extent down. Without the file, a start notices less. The caller holds mu, or
// is Open.
func (j *Journal) noteExtent() {
	path := filepath.Join(j.dir, extentName)
	if j.extent == nil {
		var err error
		if j.extent, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
			return
		}
		j.extentSize = -1 // nobody knows
	}
	var text bytes.Buffer
	for _, seg := range j.segments {
		if len(seg.live) > 0 {
			fmt.Fprintf(&text, "%016x %d\n", seg.number, seg.size)
		}
	}
	_, err := j.extent.WriteAt(text.Bytes(), 0)
	if err == nil && text.Len() != j.extentSize {
		j.extentSize = text.Len()
		err = j.extent.Truncate(int64(text.Len()))
	}
	if err != nil { // what it says is not so any more
		_ = j.extent.Close()
		j.extent = nil
		_ = os.Remove(path)
	}
}

// entryPath is the form of an entry's path.
var entryPath = pattern.New(`[0-9a-f-]{36}/[0-9]{4}/[0-9]{2}/[0-9]{2}/[0-9]{9}Z-[0-9a-f]{8,}\.md`)

// pathsIn finds the paths of entries among bytes that are no whole record.
func pathsIn(data []byte) (paths []string) {
	for _, at := range entryPath.FindAllIndex(data, -1) {
		if from, to := at[0], at[1]; from >= 2 && int(data[from-1]) == to-from && data[from-2] <= flagPeer {
			paths = append(paths, string(data[from:to]))
		}
	}
	return paths
}
