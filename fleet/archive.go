package fleet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/parleyfleet/parley/protocol"
)

// ErrArchive says that bytes are no archive that this program can use.
var ErrArchive = errors.New("not an archive of this record")

// archiveForm changes with the form of archives and with every rule by which the
// fold makes a state out of messages: an older archive is then made anew.
const archiveForm = "parley-archive-12"

// The parts of an archive. Each lies anywhere in it; its end says where.
const (
	partRecords  = iota // messages in the order of the record, without bodies and signatures
	partOffsets         // where each of them begins
	partStrings         // what many of them share
	partLengths         // where each string ends
	partWords           // strings by their key
	partPaths           // messages by path
	partSuffixes        // by the suffix of the path, or by the path below the channel
	partHashes          // by hash
	partAnswers         // by the path that they answer
	partAsides          // by the path because of which an agent wrote them, without answering it
	partReceipts        // by the path that they acknowledge
	partChained         // by the hash that they follow
	partRequests        // by the id of the request
	partSeats           // by host, run and seq
	partDays            // how many there are, by folder
	partWriters         // how many there are, by author
	partChannels        // lists of messages, by the number of the channel's id
	partMail            // by the number of the addressed name, those to all under 0
	partRead            // those of them that the name has read
	partRest            // what is small, whole
	partCount
)

const (
	trailerBytes = 16*partCount + 8 // where each part lies, how many messages there are, and a checksum
	noRecord     = math.MaxUint32
)

// Archive is a part of a state that does not change and is read where it lies, in
// bytes that the caller keeps, such as a file mapped into memory. It holds no
// pointers, so it costs no memory of the process beside those bytes.
//
// The methods of an Archive may be called concurrently.
type Archive struct {
	data  []byte
	parts [partCount][]byte
	size  int
	stamp string
	rest  rest
}

// OpenArchive reads what a Snapshot wrote for the record with that id. The data must
// stay as they are as long as the archive, or a state with it, is in use. The error
// is ErrArchive if they are damaged, or of another form or record.
func OpenArchive(recordID string, data []byte) (*Archive, error) {
	a := &Archive{data: data}
	body := len(data) - trailerBytes
	if body < len(archiveForm) || string(data[:len(archiveForm)]) != archiveForm {
		return nil, fmt.Errorf("%w: it has another form", ErrArchive)
	}
	if crc32.Checksum(data[:len(data)-4], castagnoli()) != binary.LittleEndian.Uint32(data[len(data)-4:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrArchive)
	}
	trailer := data[body:]
	for i := range a.parts {
		from, to := binary.LittleEndian.Uint64(trailer[16*i:]), binary.LittleEndian.Uint64(trailer[16*i+8:])
		if from > to || to > uint64(body) {
			return nil, fmt.Errorf("%w: a part lies outside it", ErrArchive)
		}
		a.parts[i] = data[from:to]
	}
	a.size = int(binary.LittleEndian.Uint32(trailer[16*partCount:]))
	if len(a.parts[partOffsets]) != 8*(a.size+1) || len(a.parts[partLengths])%8 != 0 {
		return nil, fmt.Errorf("%w: its parts do not fit each other", ErrArchive)
	}
	for i, before := 0, uint64(0); i <= a.size; i++ {
		end := a.offset(uint32(i))
		if end < before || end > uint64(len(a.parts[partRecords])) {
			return nil, fmt.Errorf("%w: a message lies outside it", ErrArchive)
		}
		before = end
	}
	if err := a.readRest(recordID); err != nil {
		return nil, err
	}
	return a, nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Stamp is what the snapshot was stamped with.
func (a *Archive) Stamp() string { return a.stamp }

// Len is the number of messages and receipts in it.
func (a *Archive) Len() int { return a.size }

// record is the bytes of one message.
func (a *Archive) record(i uint32) []byte {
	if int64(i) >= int64(a.size) {
		return nil
	}
	return a.parts[partRecords][a.offset(i):a.offset(i+1)]
}

func (a *Archive) offset(i uint32) uint64 {
	return binary.LittleEndian.Uint64(a.parts[partOffsets][8*i:])
}

// words is how many strings there are.
func (a *Archive) words() int { return len(a.parts[partLengths]) / 8 }

func (a *Archive) wordBytes(id uint32) []byte {
	ends, from := a.parts[partLengths], uint64(0)
	if int(id) >= len(ends)/8 {
		return nil
	}
	if id > 0 {
		from = binary.LittleEndian.Uint64(ends[8*(id-1):])
	}
	to := binary.LittleEndian.Uint64(ends[8*id:])
	if from > to || to > uint64(len(a.parts[partStrings])) {
		return nil
	}
	return a.parts[partStrings][from:to]
}

// wordOf is the number of a string.
func (a *Archive) wordOf(s string) (uint32, bool) {
	for id := range pairs(a.parts[partWords]).with(keyOf(s)) {
		if string(a.wordBytes(id)) == s {
			return id, true
		}
	}
	return 0, false
}

// maxKnownWords bounds the strings that a reader remembers.
const maxKnownWords = 1 << 15

// reader makes items out of records. It remembers strings, so that the items share
// them; it is for one goroutine at a time.
type reader struct {
	*Archive
	known map[uint32]string
}

func newReader(a *Archive) *reader { return &reader{Archive: a, known: map[uint32]string{}} }

func (r *reader) word(id uint32) string {
	s, ok := r.known[id]
	if !ok {
		if len(r.known) >= maxKnownWords {
			clear(r.known)
		}
		s = string(r.wordBytes(id))
		r.known[id] = s
	}
	return s
}

// item is a message of the archive; nil where its record makes no sense.
func (r *reader) item(i uint32) *Item {
	c := cursor{data: r.record(i), shared: r.word}
	it := c.item()
	if c.bad {
		return nil
	}
	return it
}

// stands is where a message of the archive stands.
func (r *reader) stands(i uint32) Item {
	c := cursor{data: r.record(i), shared: r.word}
	it, _ := c.head()
	return it
}

// find is the message at p.
func (r *reader) find(p protocol.Path) (i uint32, ok bool) {
	for i := range pairs(r.parts[partPaths]).with(pathKey(p)) {
		if it := r.stands(i); it.Path == p {
			return i, true
		}
	}
	return 0, false
}

// search is the first message that does not stand before it.
func (r *reader) search(it *Item) uint32 {
	low, high := uint32(0), uint32(r.size)
	for low < high {
		middle := low + (high-low)/2
		if at := r.stands(middle); before(&at, it) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// emptyArchive is that of a new state.
func emptyArchive() *Archive {
	a := &Archive{}
	a.parts[partOffsets] = bytes.Repeat([]byte{0}, 8)
	return a
}
