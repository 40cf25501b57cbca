package promptlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"iter"

	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

// A file is a line with its form, followed by records. A record is a byte for its kind, the length
// of its content and a checksum, four bytes each, and the content. A part comes before the records
// that refer to it.
const (
	magic      = "parley prompts 1\n"
	recordHead = 1 + 4 + 4

	recordPart  = 'p' // the hash of a part, and its pieces
	recordGiven = 'g' // a prompt: the message's path, a zero byte, and the rest as JSON
)

// inline is the length, in bytes, up to which a part stands in its prompt itself: a reference would
// not be shorter.
const inline = 64

type hash [sha256.Size]byte

// String is the hash in hex.
func (h hash) String() string { return hex.EncodeToString(h[:]) }

func hashOf(pieces [][]byte) hash { return sha256.Sum256(encodePieces(pieces)) }

// pieces are what stands between the fence's words in a text. Every prompt has another word.
// Without it, prompts have most in common.
func pieces(text, fence string) [][]byte {
	if fence == "" {
		return [][]byte{[]byte(text)}
	}
	return bytes.Split([]byte(text), []byte(fence))
}

func encodePieces(pieces [][]byte) []byte {
	var data []byte
	for _, p := range pieces {
		data = binary.AppendUvarint(data, uint64(len(p)))
		data = append(data, p...)
	}
	return data
}

// decodePieces reads what encodePieces has written.
func decodePieces(data []byte) (pieces [][]byte, ok bool) {
	for len(data) > 0 {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) {
			return nil, false
		}
		pieces = append(pieces, data[n:n+int(size)])
		data = data[n+int(size):]
	}
	return pieces, true
}

func join(pieces [][]byte, fence string) string {
	return string(bytes.Join(pieces, []byte(fence)))
}

type record struct {
	kind byte
	says []byte
	end  int // where the next record begins
}

var checksums = crc32.MakeTable(crc32.Castagnoli)

func checksum(kind byte, says []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte{kind}, checksums), checksums, says)
}

func appendRecord(data []byte, kind byte, says []byte) []byte {
	data = append(data, kind)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(says)))
	data = binary.LittleEndian.AppendUint32(data, checksum(kind, says))
	return append(data, says...)
}

// records are the records of a file, up to the first one that is not whole. A file without the
// first line has none.
func records(data []byte) iter.Seq[record] {
	return func(yield func(record) bool) {
		if !bytes.HasPrefix(data, []byte(magic)) || !yield(record{end: len(magic)}) {
			return
		}
		for at := len(magic); len(data)-at >= recordHead; {
			head := data[at : at+recordHead]
			size := int(binary.LittleEndian.Uint32(head[1:]))
			if size > len(data)-at-recordHead {
				return
			}
			at += recordHead
			r := record{head[0], data[at : at+size], at + size}
			if checksum(r.kind, r.says) != binary.LittleEndian.Uint32(head[5:]) || !yield(r) {
				return
			}
			at += size
		}
	}
}

// part returns the part that a record holds.
func (r record) part() (sum hash, pieces []byte, ok bool) {
	if r.kind != recordPart || len(r.says) < len(sum) {
		return sum, nil, false
	}
	return hash(r.says[:len(sum)]), r.says[len(sum):], true
}

// keptGiven is a prompt as a record holds it, in JSON. Its Parts take the place of those in Given.
// The path stands before the JSON, so that a search for one message reads the JSON of no other one.
type keptGiven struct {
	Given
	Fence string     `json:"fence,omitempty"`
	Parts []keptPart `json:"parts"`
}

type keptPart struct {
	Kind   prompt.Kind `json:"kind"`
	Pieces [][]byte    `json:"pieces,omitempty"`
	Hash   []byte      `json:"hash,omitempty"`
}

func (k keptGiven) encode() ([]byte, error) {
	said, err := json.Marshal(k)
	return append([]byte(k.Path.String()+"\x00"), said...), err
}

// given returns the prompt that a record holds, if it is for the message at `p`.
func (r record) given(p protocol.Path) (k keptGiven, ok bool) {
	if r.kind != recordGiven {
		return k, false
	}
	said, mine := bytes.CutPrefix(r.says, []byte(p.String()+"\x00"))
	if !mine || json.Unmarshal(said, &k) != nil {
		return keptGiven{}, false
	}
	k.Path = p
	return k, true
}

// findIn returns the last prompt in a file that fits; see Log.Find.
func findIn(data []byte, p protocol.Path, agent protocol.Name, attempt int) (g Given, ok bool) {
	parts := map[hash][]byte{}
	for r := range records(data) {
		if sum, encoded, is := r.part(); is {
			parts[sum] = encoded
			continue
		}
		k, is := r.given(p)
		if !is || agent != "" && k.Agent != agent || attempt != 0 && k.Attempt != attempt {
			continue
		}
		if whole, all := k.whole(parts); all {
			g, ok = whole, true
		}
	}
	return g, ok
}

// whole returns the prompt with the text of its parts, if all of them are there.
func (k keptGiven) whole(parts map[hash][]byte) (g Given, ok bool) {
	g = k.Given
	for _, part := range k.Parts {
		in := part.Pieces
		if len(part.Hash) == len(hash{}) {
			if in, ok = decodePieces(parts[hash(part.Hash)]); !ok || len(in) == 0 {
				return Given{}, false
			}
		}
		g.Parts = append(g.Parts, Part{part.Kind, join(in, k.Fence), hashOf(in).String()})
	}
	return g, true
}

// Hash is the SHA-256 of a text, in hex.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
