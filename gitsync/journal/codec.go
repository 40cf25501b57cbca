package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Entry is one thing that the journal keeps.
type Entry struct {
	Path string
	Peer bool // heard from another host
	Data []byte
}

const (
	segmentMagic = "parleyJ1"
	headerSize   = 8 + 8 + 8 + 8 + 4 // magic, number, nonce, valid length of the segment before, checksum
	recordMagic  = uint32(0x7061724c)
	recordHeader = 4 + 4 + 4 // magic, length, check sum
	flagPeer     = 1

	// maxRecord bounds one record, in bytes, and so one Append.
	maxRecord = 256 << 20
)

var errBad = errors.New("corrupt journal")

// header stands at the beginning of a segment.
type header struct {
	number uint64
	// nonce is part of the checksum of every record. So bytes inside a message that look like a
	// record are never taken for one.
	nonce uint64
	// before is how many bytes of the previous segment are valid.
	before uint64
}

func (h header) encode() []byte {
	out := append(make([]byte, 0, headerSize), segmentMagic...)
	out = binary.BigEndian.AppendUint64(out, h.number)
	out = binary.BigEndian.AppendUint64(out, h.nonce)
	out = binary.BigEndian.AppendUint64(out, h.before)
	return binary.BigEndian.AppendUint32(out, crc32.Checksum(out, castagnoli()))
}

func decodeHeader(data []byte) (header, error) {
	if len(data) < headerSize || string(data[:8]) != segmentMagic {
		return header{}, fmt.Errorf("%w: not a segment", errBad)
	}
	if crc32.Checksum(data[:headerSize-4], castagnoli()) != binary.BigEndian.Uint32(data[headerSize-4:]) {
		return header{}, fmt.Errorf("%w: a segment's header has a wrong check sum", errBad)
	}
	return header{
		number: binary.BigEndian.Uint64(data[8:]),
		nonce:  binary.BigEndian.Uint64(data[16:]),
		before: binary.BigEndian.Uint64(data[24:]),
	}, nil
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func checksum(nonce uint64, length uint32, payload []byte) uint32 {
	var head [12]byte
	binary.BigEndian.PutUint64(head[:], nonce)
	binary.BigEndian.PutUint32(head[8:], length)
	return crc32.Update(crc32.Checksum(head[:], castagnoli()), castagnoli(), payload)
}

// appendRecord appends the record that holds `entries` to `out`. Together, the entries must be
// smaller than maxRecord.
func appendRecord(out []byte, nonce uint64, entries []Entry) []byte {
	start := len(out)
	out = append(out, make([]byte, recordHeader)...)
	out = binary.AppendUvarint(out, uint64(len(entries)))
	for _, e := range entries {
		flags := byte(0)
		if e.Peer {
			flags |= flagPeer
		}
		out = append(out, flags)
		out = binary.AppendUvarint(out, uint64(len(e.Path)))
		out = append(out, e.Path...)
		out = binary.AppendUvarint(out, uint64(len(e.Data)))
		out = append(out, e.Data...)
	}
	payload := out[start+recordHeader:]
	length := uint32(len(payload))
	binary.BigEndian.PutUint32(out[start:], recordMagic)
	binary.BigEndian.PutUint32(out[start+4:], length)
	binary.BigEndian.PutUint32(out[start+8:], checksum(nonce, length, payload))
	return out
}

func decodeRecord(data []byte, nonce uint64) (entries []Entry, size int, err error) {
	if len(data) < recordHeader || binary.BigEndian.Uint32(data) != recordMagic {
		return nil, 0, fmt.Errorf("%w: no record here", errBad)
	}
	length := binary.BigEndian.Uint32(data[4:])
	if length > maxRecord || int(length) > len(data)-recordHeader {
		return nil, 0, fmt.Errorf("%w: a record is cut short", errBad)
	}
	payload := data[recordHeader : recordHeader+int(length)]
	if checksum(nonce, length, payload) != binary.BigEndian.Uint32(data[8:]) {
		return nil, 0, fmt.Errorf("%w: a record has a wrong check sum", errBad)
	}
	entries, err = decodeEntries(payload)
	return entries, recordHeader + int(length), err
}

func decodeEntries(payload []byte) ([]Entry, error) {
	count, payload, err := cutNumber(payload)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for range count {
		if len(payload) == 0 {
			return nil, fmt.Errorf("%w: entries are missing", errBad)
		}
		e := Entry{Peer: payload[0]&flagPeer != 0}
		var path []byte
		if path, payload, err = cutBytes(payload[1:]); err != nil {
			return nil, err
		}
		e.Path = string(path)
		if e.Data, payload, err = cutBytes(payload); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	if len(payload) > 0 {
		return nil, fmt.Errorf("%w: bytes follow the last entry", errBad)
	}
	return entries, nil
}

func cutNumber(data []byte) (uint64, []byte, error) {
	n, size := binary.Uvarint(data)
	if size <= 0 {
		return 0, nil, fmt.Errorf("%w: a length is missing", errBad)
	}
	return n, data[size:], nil
}

func cutBytes(data []byte) (value, rest []byte, err error) {
	n, data, err := cutNumber(data)
	if err != nil {
		return nil, nil, err
	}
	if n > uint64(len(data)) {
		return nil, nil, fmt.Errorf("%w: an entry is cut short", errBad)
	}
	return data[:n:n], data[n:], nil
}
