package fleet

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// What the first number of a record says of the rest.
const (
	recordSealed  = 1 << iota
	recordStrict  // the path is of the form that parley writes
	recordOnTime  // the timestamp is the time of the path
	recordAtOnce  // the place is the timestamp
	recordChained // prev is a SHA-256 in hex
	recordNear    // the place is as if far dates counted too
	recordUnattended
)

// How a reference to another message is kept.
const (
	refNone = iota
	refStrict
	refText
)

const hashBytes = 32

// pen writes the record of an item. The strings that many records share are
// named by numbers, which intern gives.
type pen struct {
	out    []byte
	intern func(string) uint32
}

func (w *pen) number(n uint64) { w.out = binary.AppendUvarint(w.out, n) }

func (w *pen) shared(s string) { w.number(uint64(w.intern(s))) }

func (w *pen) text(s string) {
	w.number(uint64(len(s)))
	w.out = append(w.out, s...)
}

func (w *pen) time(t time.Time) {
	w.out = binary.AppendVarint(w.out, t.Unix())
	w.number(uint64(t.Nanosecond()))
}

// rel writes a path below a channel, and reports whether it was of the strict
// form, which takes less room.
func (w *pen) rel(p protocol.Path) bool {
	at, suffix, strict := strictForm(p)
	if !strict {
		w.text(p.Rel())
		return false
	}
	w.out = binary.LittleEndian.AppendUint64(w.out, uint64(at.UnixMilli()))
	w.out = binary.LittleEndian.AppendUint32(w.out, suffix)
	return true
}

// strictForm takes a path apart, if its two parts give exactly that path.
func strictForm(p protocol.Path) (at time.Time, suffix uint32, ok bool) {
	const tail = len("-b2c3d4e5.md")
	rel, at := p.Rel(), p.Time()
	if len(rel) < tail || at.IsZero() {
		return at, 0, false
	}
	var raw [4]byte
	if _, err := hex.Decode(raw[:], []byte(rel[len(rel)-tail+1:len(rel)-len(".md")])); err != nil {
		return at, 0, false
	}
	suffix = binary.BigEndian.Uint32(raw[:])
	return at, suffix, protocol.NewPath(p.Channel(), at, suffix) == p
}

// refer writes a reference as it stands in a message of channel c.
func (w *pen) refer(c protocol.ChannelID, ref string) {
	if ref == "" {
		w.number(refNone)
		return
	}
	if p, err := protocol.JoinPath(c, ref); err == nil {
		if _, _, strict := strictForm(p); strict {
			w.number(refStrict)
			w.rel(p)
			return
		}
	}
	w.number(refText)
	w.text(ref)
}

// item writes all that an Item holds but what readHostAct made of it.
func (w *pen) item(it *Item) {
	at, _, strict := strictForm(it.Path)
	hash, hashErr := hex.DecodeString(it.Hash)
	prev, prevErr := hex.DecodeString(it.Prev)
	chained := prevErr == nil && len(prev) == hashBytes && hex.EncodeToString(prev) == it.Prev
	flags := when(it.sealed, recordSealed) | when(strict, recordStrict) | when(chained, recordChained) |
		when(strict && at.Equal(it.Timestamp), recordOnTime) | when(it.Place.Equal(it.Timestamp), recordAtOnce) |
		when(it.reach.Equal(it.Place), recordNear) | when(it.Unattended, recordUnattended)
	w.number(flags)
	if hashErr != nil || len(hash) != hashBytes {
		hash = make([]byte, hashBytes) // protocol.Hash makes no such hash
	}
	w.out = append(w.out, hash...)
	w.shared(it.Path.Channel().String())
	w.rel(it.Path)
	if flags&recordOnTime == 0 {
		w.time(it.Timestamp)
	}
	if flags&recordAtOnce == 0 {
		w.time(it.Place)
	}
	if flags&recordNear == 0 {
		w.time(it.reach)
	}
	w.rest(it, prev, chained)
}

func when(is bool, flag uint64) uint64 {
	if is {
		return flag
	}
	return 0
}

func (w *pen) rest(it *Item, prev []byte, chained bool) {
	for _, s := range []string{it.From, string(it.Type), string(it.Act), it.Via, it.Host.String(), it.Key, it.Run, it.Human} {
		w.shared(s)
	}
	w.number(it.Seq)
	w.out = binary.AppendVarint(w.out, int64(it.Hops))
	if chained {
		w.out = append(w.out, prev...)
	} else {
		w.text(it.Prev)
	}
	w.refer(it.Path.Channel(), it.Ref)
	w.refer(it.Path.Channel(), it.Re)
	w.refer(it.Path.Channel(), it.Because)
	w.text(it.Request)
	w.number(uint64(len(it.To)))
	for _, a := range it.To {
		w.shared(a.Name)
		w.shared(a.Host)
	}
	w.number(uint64(len(it.Chosen)))
	for _, c := range it.Chosen {
		w.shared(c.Agent)
		w.shared(c.Host.String())
		w.shared(c.Tier)
		w.out = binary.AppendVarint(w.out, int64(c.N))
	}
}

// cursor reads what a pen wrote. Where the bytes are cut short or make no sense it
// is bad, and gives zero values.
type cursor struct {
	data   []byte
	shared func(uint32) string
	bad    bool
}

func (r *cursor) number() uint64 {
	n, size := binary.Uvarint(r.data)
	if size <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[size:]
	return n
}

func (r *cursor) signed() int64 {
	n, size := binary.Varint(r.data)
	if size <= 0 {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[size:]
	return n
}

func (r *cursor) bytes(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.bad, r.data = true, nil
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *cursor) text() string { return string(r.bytes(r.number())) }

func (r *cursor) word() string {
	n := r.number()
	if n > math.MaxUint32 {
		r.bad = true
		return ""
	}
	return r.shared(uint32(n))
}

func (r *cursor) time() time.Time {
	seconds, nanos := r.signed(), r.number()
	return time.Unix(seconds, int64(nanos)).UTC()
}

// rel reads a path below a channel and, where it is of the strict form, its time.
func (r *cursor) rel(c protocol.ChannelID, strict bool) (p protocol.Path, at time.Time) {
	if strict {
		raw := r.bytes(12)
		if r.bad {
			return p, at
		}
		at := time.UnixMilli(int64(binary.LittleEndian.Uint64(raw))).UTC()
		return protocol.NewPath(c, at, binary.LittleEndian.Uint32(raw[8:])), at
	}
	p, err := protocol.JoinPath(c, r.text())
	if err != nil {
		r.bad = true
	}
	return p, at
}

func (r *cursor) refer(c protocol.ChannelID) string {
	switch r.number() {
	case refStrict:
		p, _ := r.rel(c, true)
		return p.Rel()
	case refText:
		return r.text()
	}
	return ""
}

// head reads what comes first in a record: where the message stands.
func (r *cursor) head() (it Item, flags uint64) {
	flags = r.number()
	it.sealed = flags&recordSealed != 0
	it.Hash = hex.EncodeToString(r.bytes(hashBytes))
	it.Path, it.Timestamp = r.rel(protocol.ChannelID(r.word()), flags&recordStrict != 0)
	if flags&recordOnTime == 0 {
		it.Timestamp = r.time()
	}
	it.Place = it.Timestamp
	if flags&recordAtOnce == 0 {
		it.Place = r.time()
	}
	it.reach = it.Place
	if flags&recordNear == 0 {
		it.reach = r.time()
	}
	it.placed = true
	return it, flags
}

// item reads a whole record.
func (r *cursor) item() *Item {
	it, flags := r.head()
	it.From, it.Type, it.Act = r.word(), protocol.Type(r.word()), protocol.Act(r.word())
	it.Via, it.Host, it.Key, it.Run, it.Human = r.word(), protocol.Name(r.word()), r.word(), r.word(), r.word()
	it.Seq = r.number()
	it.Hops = int(r.signed())
	if flags&recordChained != 0 {
		it.Prev = hex.EncodeToString(r.bytes(hashBytes))
	} else {
		it.Prev = r.text()
	}
	it.Ref, it.Re, it.Because = r.refer(it.Path.Channel()), r.refer(it.Path.Channel()), r.refer(it.Path.Channel())
	it.Unattended = flags&recordUnattended != 0
	it.Request = r.text()
	for n := r.number(); n > 0 && !r.bad; n-- {
		it.To = append(it.To, protocol.Address{Name: r.word(), Host: r.word()})
	}
	for n := r.number(); n > 0 && !r.bad; n-- {
		c := protocol.Choice{Agent: r.word()}
		c.Host, c.Tier, c.N = protocol.Name(r.word()), r.word(), int(r.signed())
		it.Chosen = append(it.Chosen, c)
	}
	return &it
}
