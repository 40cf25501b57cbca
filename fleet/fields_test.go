package fleet

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// unkept are the parts of an item that an archive does not keep, and why.
func unkept() map[string]string {
	return map[string]string{
		"Sig":    "whether it fits is in Sealed",
		"Extra":  "nobody asks for it",
		"Word":   "the words of hosts are kept apart",
		"moving": "it is so only while places are given",
		"next":   "it is so only while places are given",
	}
}

// Every field of a message survives freezing: one that was forgotten would vanish from
// what a restarted node knows.
func TestEveryFieldIsArchived(t *testing.T) {
	it := &Item{File: keys.File{Hash: protocol.Hash([]byte("a file")), Sealed: true}, Place: time.Unix(3, 4).UTC(), placed: true, reach: time.Unix(5, 6).UTC()}
	it.affair = affair.ID{Kind: "ballot", Name: "one"}
	it.Path = protocol.NewPath(protocol.SystemChannel(testRecord), time.Unix(7, 0), 8)
	fill(t, reflect.ValueOf(&it.Message).Elem())
	whole := reflect.ValueOf(*it)
	for i := range whole.NumField() {
		f := whole.Type().Field(i)
		if _, exempt := unkept()[f.Name]; !exempt && whole.Field(i).IsZero() {
			t.Errorf("Item.%s is not filled: this test does not show that it is kept", f.Name)
		}
	}

	got := thawed(t, it)
	it.Sig, it.Extra = "", nil
	if diff := cmp.Diff(it, got, cmp.AllowUnexported(Item{}, stand{}, protocol.Path{})); diff != "" {
		t.Errorf("frozen (-was +is):\n%s", diff)
	}
	for name := range unkept() {
		if _, there := reflect.TypeFor[Item]().FieldByName(name); !there {
			t.Errorf("unkept names %s, which is no field", name)
		}
	}
}

// thawed is an item after a stay in an archive.
func thawed(t *testing.T, it *Item) *Item {
	t.Helper()
	b := archive.NewBuilder(archive.Empty(layout(nil)), nil)
	b.Insert(0, func(w *archive.Pen) { writeItem(w, it) })
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	a, err := archive.Open(layout(nil), out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got := newReader(&Archive{Archive: a}).item(0)
	if got == nil {
		t.Fatal("the record cannot be read")
	}
	return got
}

// fill gives every part of a value that is zero another value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	if !v.IsZero() {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("a text of " + v.Type().Name())
	case reflect.Int, reflect.Int64:
		v.SetInt(-7)
	case reflect.Uint64:
		v.SetUint(1 << 40)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 2).UTC()))
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	default:
		t.Fatalf("%s: this test cannot fill a %s", v.Type(), v.Kind())
	}
}
