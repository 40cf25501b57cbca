package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/internal/durable"
)

type record struct {
	at      int
	entries []Entry
}

type scan struct {
	header  header
	records []record
	valid   int      // where the last valid record ends
	trouble []string // what could not be read
	gaps    []Loss   // what could not be read before valid
}

// scanSegment reads all records of a segment. After a corrupt one it looks for the next record with
// a valid checksum.
func scanSegment(data []byte) (scan, error) {
	h, err := decodeHeader(data)
	s := scan{header: h, valid: headerSize}
	if err != nil {
		var ok bool
		if s.header, ok = recoverHeader(data); !ok {
			return scan{}, err
		}
		h = s.header
		s.trouble = append(s.trouble, "its header is damaged, its entries are not")
	}
	for at := headerSize; at < len(data); {
		entries, size, err := decodeRecord(data[at:], h.nonce)
		if err == nil {
			s.records = append(s.records, record{at: at, entries: entries})
			at += size
			s.valid = at
			continue
		}
		next := nextRecord(data, at+1, h.nonce)
		if next < 0 {
			s.trouble = append(s.trouble, fmt.Sprintf("%d bytes at its end are no whole record", len(data)-at))
			break
		}
		s.trouble = append(s.trouble, fmt.Sprintf("%d bytes at %d are unreadable: %v", next-at, at, err))
		s.gaps = append(s.gaps, Loss{At: at, Bytes: next - at, Why: err.Error(), Paths: pathsIn(data[at:next])})
		at = next
	}
	return s, nil
}

// recoverHeader reads a header with one wrong bit, or one whose nonce is intact, as a record behind
// it shows.
func recoverHeader(data []byte) (header, bool) {
	if len(data) < headerSize {
		return header{}, false
	}
	head := bytes.Clone(data[:headerSize])
	for bit := range headerSize * 8 {
		head[bit/8] ^= 1 << (bit % 8)
		if h, err := decodeHeader(head); err == nil {
			return h, true
		}
		head[bit/8] ^= 1 << (bit % 8)
	}
	nonce := binary.BigEndian.Uint64(data[16:])
	if nextRecord(data, headerSize, nonce) < 0 {
		return header{}, false
	}
	return header{nonce: nonce}, true
}

func nextRecord(data []byte, from int, nonce uint64) int {
	magic := binary.BigEndian.AppendUint32(nil, recordMagic)
	for from < len(data) {
		i := bytes.Index(data[from:], magic)
		if i < 0 {
			return -1
		}
		from += i
		if _, _, err := decodeRecord(data[from:], nonce); err == nil {
			return from
		}
		from++
	}
	return -1
}

func segmentName(number uint64) string { return fmt.Sprintf("%016x.log", number) }

func segmentNumbers(dir string) ([]uint64, error) {
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list the journal: %w", err)
	}
	var numbers []uint64
	for _, entry := range names {
		hex, ok := strings.CutSuffix(entry.Name(), ".log")
		if !ok || len(hex) != 16 {
			continue
		}
		if n, err := strconv.ParseUint(hex, 16, 64); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// replay reads all segments into `j`. From the last segment it cuts off a tail that is no whole
// record, because that was never acknowledged. It sets aside segments whose header cannot be read.
func (j *Journal) replay() error {
	numbers, err := segmentNumbers(j.dir)
	if err != nil {
		return err
	}
	known := readExtent(j.dir)
	for number, acknowledged := range known {
		if !slices.Contains(numbers, number) {
			j.lose(number, Loss{Bytes: int(acknowledged), Why: "the file is gone"})
		}
	}
	scans := make([]scan, len(numbers))
	files := make([][]byte, len(numbers)) // nil if it cannot be read
	for i, number := range numbers {
		j.last = number
		data, err := os.ReadFile(j.path(number))
		if err != nil {
			return fmt.Errorf("cannot read the journal: %w", err)
		}
		if scans[i], err = scanSegment(data); err != nil {
			if known == nil && len(data) >= headerSize || known[number] > 0 {
				j.lose(number, Loss{Bytes: max(len(data), int(known[number])), Why: err.Error(), Paths: pathsIn(data)})
			}
			if err := j.setAside(number, len(data), err); err != nil {
				return err
			}
			continue
		}
		files[i] = data
	}
	for i, number := range numbers {
		if files[i] == nil {
			continue
		}
		torn, acknowledged := false, known[number]
		if i+1 < len(numbers) && files[i+1] != nil && numbers[i+1] == number+1 {
			before := scans[i+1].header.before
			if n := scans[i].cutAt(before); n > 0 {
				j.report(number, fmt.Sprintf("%d records that were never acknowledged are left out", n))
				torn = true
			}
			if known == nil {
				acknowledged = before
			}
		}
		s, losses := scans[i], len(j.losses)
		for _, gap := range s.gaps {
			j.lose(number, gap)
		}
		if lost := int(acknowledged) - s.valid; lost > 0 {
			j.lose(number, Loss{At: s.valid, Bytes: lost, Why: "its end is gone or unreadable", Paths: pathsIn(files[i][s.valid:])})
		}
		j.takeIn(number, s, torn)
		if len(j.losses) > losses {
			j.damaged = append(j.damaged, damaged{j.segments[len(j.segments)-1], files[i], s})
		}
	}
	return j.cutTail()
}

// damaged is a segment of which a part is lost, as it was read.
type damaged struct {
	seg  *segment
	data []byte
	scan scan
}

func (j *Journal) lose(number uint64, l Loss) {
	l.Segment = segmentName(number)
	j.losses = append(j.losses, l)
}

// writeAnew writes what can be read of a segment in place of it, and keeps the old one beside. The
// caller holds mu.
func (j *Journal) writeAnew(d damaged) error {
	d.scan.header.number = d.seg.number // its header may be damaged, too
	out := d.scan.header.encode()
	for _, r := range d.scan.records {
		out = appendRecord(out, d.scan.header.nonce, r.entries)
	}
	path := j.path(d.seg.number)
	err := durable.WriteFile(path+".bad", d.data, 0o600)
	if err == nil && !slices.Contains(j.segments, d.seg) {
		return nil // all that could be read is done already
	}
	if err == nil {
		err = durable.WriteFile(path, out, 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write a damaged segment of the journal anew: %w", err)
	}
	j.bytes += int64(len(out)) - d.seg.size
	d.seg.size = int64(len(out))
	if d.seg.number == j.last {
		j.lastValid = uint64(len(out))
	}
	return nil
}

// cutAt drops the records behind the length that the next segment noted, and returns how many they
// were. They were written, but their fsync failed and their callers were told so.
func (s *scan) cutAt(length uint64) int {
	for i, r := range s.records {
		if length > 0 && uint64(r.at) >= length {
			dropped := len(s.records) - i
			s.records = s.records[:i]
			s.valid = r.at
			return dropped
		}
	}
	return 0
}

func (j *Journal) takeIn(number uint64, s scan, torn bool) {
	for _, t := range s.trouble {
		j.report(number, t)
	}
	seg := &segment{number: number, size: int64(s.valid), live: map[ID]int{}, torn: torn}
	j.segments = append(j.segments, seg)
	if number == j.last {
		j.lastValid = uint64(s.valid)
	}
	for _, r := range s.records {
		for _, e := range r.entries {
			j.replayed = append(j.replayed, Replayed{ID: j.newID(seg), Entry: e})
		}
	}
}

func (j *Journal) cutTail() error {
	if len(j.segments) == 0 {
		return nil
	}
	seg := j.segments[len(j.segments)-1]
	if seg.number != j.last {
		return nil
	}
	path := j.path(seg.number)
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("cannot look at the journal: %w", err)
	}
	if info.Size() == seg.size {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cannot cut the journal's torn tail: %w", err)
	}
	err = f.Truncate(seg.size)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot cut the journal's torn tail: %w", err)
	}
	return nil
}

func (j *Journal) setAside(number uint64, size int, why error) error {
	path := j.path(number)
	if size < headerSize {
		// The process died while it made the segment: nothing in it was acknowledged.
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("cannot remove an empty segment of the journal: %w", err)
		}
		return nil
	}
	j.report(number, why.Error()+"; set aside")
	if err := os.Rename(path, path+".bad"); err != nil {
		return fmt.Errorf("cannot set a segment of the journal aside: %w", err)
	}
	return nil
}

func (j *Journal) report(number uint64, what string) {
	j.trouble = append(j.trouble, filepath.Base(j.path(number))+": "+what)
}
