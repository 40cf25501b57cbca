package fleet

import (
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/protocol"
)

// A field says how one part of an item is written into an archive, and read. The two functions must
// fit each other.
type field struct {
	write func(w *archive.Pen, it *Item)
	read  func(r *archive.Cursor, it *Item)
}

// fields are all parts of an item that an archive keeps, besides its place and what ReadWord makes
// of it. The test of this list names the fields of protocol.Message that are not kept.
var fields = []field{
	bits(func(it *Item) [2]*bool { return [2]*bool{&it.Sealed, &it.Unattended} }),
	word(func(it *Item) *string { return &it.From }),
	word(func(it *Item) *protocol.Type { return &it.Type }),
	word(func(it *Item) *protocol.Act { return &it.Act }),
	word(func(it *Item) *string { return &it.Via }),
	word(func(it *Item) *protocol.Name { return &it.Host }),
	word(func(it *Item) *string { return &it.Key }),
	word(func(it *Item) *string { return &it.Run }),
	word(func(it *Item) *string { return &it.Human }),
	text(func(it *Item) *string { return &it.Request }),
	text(func(it *Item) *string { return &it.Hsig }),
	{writeDeed, readDeed},
	reference(func(it *Item) *string { return &it.Ref }),
	reference(func(it *Item) *string { return &it.Re }),
	reference(func(it *Item) *string { return &it.Because }),
	{
		func(w *archive.Pen, it *Item) { writeHash(w, it.Prev) },
		func(r *archive.Cursor, it *Item) { it.Prev = readHash(r) },
	},
	{
		func(w *archive.Pen, it *Item) { w.Number(it.Seq) },
		func(r *archive.Cursor, it *Item) { it.Seq = r.Number() },
	},
	{
		func(w *archive.Pen, it *Item) { w.Signed(int64(it.Hops)) },
		func(r *archive.Cursor, it *Item) { it.Hops = int(r.Signed()) },
	},
	list(func(it *Item) *[]protocol.Address { return &it.To },
		func(w *archive.Pen, a *protocol.Address) {
			w.Interned(a.Name)
			w.Interned(a.Host)
		},
		func(r *archive.Cursor, a *protocol.Address) { a.Name, a.Host = r.Interned(), r.Interned() }),
	list(func(it *Item) *[]protocol.Choice { return &it.Chosen },
		func(w *archive.Pen, c *protocol.Choice) {
			w.Interned(c.Agent)
			w.Interned(c.Host.String())
			w.Interned(c.Tier)
			w.Signed(int64(c.N))
		},
		func(r *archive.Cursor, c *protocol.Choice) {
			c.Agent, c.Host, c.Tier, c.N = r.Interned(), protocol.Name(r.Interned()), r.Interned(), int(r.Signed())
		}),
}

// word is a text that many messages share.
func word[S ~string](at func(*Item) *S) field {
	return field{
		func(w *archive.Pen, it *Item) { w.Interned(string(*at(it))) },
		func(r *archive.Cursor, it *Item) { *at(it) = S(r.Interned()) },
	}
}

// text is a text that belongs to this message alone.
func text(at func(*Item) *string) field {
	return field{
		func(w *archive.Pen, it *Item) { w.Text(*at(it)) },
		func(r *archive.Cursor, it *Item) { *at(it) = r.Text() },
	}
}

// bits is two values that are true or false.
func bits(at func(*Item) [2]*bool) field {
	return field{
		func(w *archive.Pen, it *Item) {
			n := uint64(0)
			for i, b := range at(it) {
				n |= when(*b, 1<<i)
			}
			w.Number(n)
		},
		func(r *archive.Cursor, it *Item) {
			n := r.Number()
			for i, b := range at(it) {
				*b = n&(1<<i) != 0
			}
		},
	}
}

func list[T any](at func(*Item) *[]T, write func(*archive.Pen, *T), read func(*archive.Cursor, *T)) field {
	return field{
		func(w *archive.Pen, it *Item) {
			all := *at(it)
			w.Number(uint64(len(all)))
			for i := range all {
				write(w, &all[i])
			}
		},
		func(r *archive.Cursor, it *Item) {
			for n := r.Number(); n > 0 && !r.Bad(); n-- {
				var empty T
				all := append(*at(it), empty)
				read(r, &all[len(all)-1]) // in its place: a copy would be allocated for each message
				*at(it) = all
			}
		},
	}
}

// reference is the name of a message of the same channel.
func reference(at func(*Item) *string) field {
	return field{
		func(w *archive.Pen, it *Item) { writeReference(w, it.Path.Channel(), *at(it)) },
		func(r *archive.Cursor, it *Item) { *at(it) = readReference(r, it.Path.Channel()) },
	}
}

// writeDeed writes the words of a deed and the name of its affair. Few messages are deeds.
func writeDeed(w *archive.Pen, it *Item) {
	if it.Body == "" && it.affair == (affair.ID{}) {
		w.Number(0)
		return
	}
	w.Number(1)
	w.Text(it.Body)
	w.Interned(it.affair.Kind)
	w.Interned(it.affair.Name)
}

func readDeed(r *archive.Cursor, it *Item) {
	if r.Number() != 0 {
		it.Body = r.Text()
		it.affair.Kind, it.affair.Name = r.Interned(), r.Interned()
	}
}

// How a reference to another message is kept.
const (
	refNone = iota
	refStrict
	refText
)

func writeReference(w *archive.Pen, c protocol.ChannelID, ref string) {
	if ref == "" {
		w.Number(refNone)
		return
	}
	if p, err := protocol.JoinPath(c, ref); err == nil {
		if _, _, strict := strictForm(p); strict {
			w.Number(refStrict)
			writeRel(w, p)
			return
		}
	}
	w.Number(refText)
	w.Text(ref)
}

func readReference(r *archive.Cursor, c protocol.ChannelID) string {
	switch r.Number() {
	case refStrict:
		p, _ := readRel(r, c, true)
		return p.Rel()
	case refText:
		return r.Text()
	}
	return ""
}

const hashBytes = 32

// writeHash writes a SHA-256 in hex in a short form, and any other text as it is.
func writeHash(w *archive.Pen, text string) {
	raw, err := hex.DecodeString(text)
	if err == nil && len(raw) == hashBytes && hex.EncodeToString(raw) == text {
		w.Number(0)
		w.Raw(raw)
		return
	}
	w.Number(1)
	w.Text(text)
}

func readHash(r *archive.Cursor) string {
	if r.Number() == 0 {
		var text [2 * hashBytes]byte
		return string(text[:hex.Encode(text[:], r.Raw(hashBytes))])
	}
	return r.Text()
}

// writeRel writes a path below a channel. A path of the strict form takes less room.
func writeRel(w *archive.Pen, p protocol.Path) {
	at, suffix, strict := strictForm(p)
	if !strict {
		w.Text(p.Rel())
		return
	}
	var raw [12]byte
	binary.LittleEndian.PutUint64(raw[:], uint64(at.UnixMilli()))
	binary.LittleEndian.PutUint32(raw[8:], suffix)
	w.Raw(raw[:])
}

// readRel reads a path below a channel. If the path has the strict form, it also returns the time
// in it.
func readRel(r *archive.Cursor, c protocol.ChannelID, strict bool) (p protocol.Path, at time.Time) {
	if strict {
		raw := r.Raw(12)
		if r.Bad() {
			return p, at
		}
		at := time.UnixMilli(int64(binary.LittleEndian.Uint64(raw))).UTC()
		return protocol.NewPath(c, at, binary.LittleEndian.Uint32(raw[8:])), at
	}
	p, err := protocol.JoinPath(c, r.Text())
	if err != nil {
		r.Fail()
	}
	return p, at
}

// strictForm takes a path apart into time and suffix. `ok` is false if these two do not give
// exactly that path again.
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

// The bits of the first number of a record. They say where the message stands.
const (
	standStrict = 1 << iota // the path has the form that parley writes
	standOnTime             // the timestamp is the time of the path
	standAtOnce             // the place is the timestamp
	standNear               // the place would be the same if far dates counted too
)

func writeItem(w *archive.Pen, it *Item) {
	writeStand(w, it)
	for _, f := range fields {
		f.write(w, it)
	}
}

// writeStand writes the beginning of a record: which message it is, and where it stands.
func writeStand(w *archive.Pen, it *Item) {
	at, _, strict := strictForm(it.Path)
	flags := when(strict, standStrict) | when(strict && at.Equal(it.Timestamp), standOnTime) |
		when(it.Place.Equal(it.Timestamp), standAtOnce) | when(it.reach.Equal(it.Place), standNear)
	w.Number(flags)
	writeHash(w, it.Hash)
	w.Interned(it.Path.Channel().String())
	writeRel(w, it.Path)
	if flags&standOnTime == 0 {
		w.Time(it.Timestamp)
	}
	if flags&standAtOnce == 0 {
		w.Time(it.Place)
	}
	if flags&standNear == 0 {
		w.Time(it.reach)
	}
}

func when(is bool, flag uint64) uint64 {
	if is {
		return flag
	}
	return 0
}

// readStand reads what writeStand wrote, into an empty item.
func readStand(r *archive.Cursor, it *Item) {
	flags := r.Number()
	it.Hash = readHash(r)
	it.Path, it.Timestamp = readRel(r, protocol.ChannelID(r.Interned()), flags&standStrict != 0)
	if flags&standOnTime == 0 {
		it.Timestamp = r.Time()
	}
	it.Place = it.Timestamp
	if flags&standAtOnce == 0 {
		it.Place = r.Time()
	}
	it.reach = it.Place
	if flags&standNear == 0 {
		it.reach = r.Time()
	}
	it.placed = true
}

func readItem(r *archive.Cursor) *Item {
	it := &Item{}
	readInto(r, it)
	return it
}

// readInto reads a whole record into an empty item.
func readInto(r *archive.Cursor, it *Item) {
	readStand(r, it)
	for _, f := range fields {
		f.read(r, it)
	}
}
