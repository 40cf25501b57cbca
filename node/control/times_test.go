package control

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// Every time that can go over the socket, or be printed with --json, is left out if it is zero. It
// prevents: a time that is not known is written as 0001-01-01T00:00:00Z, which programs take for a
// time.
func TestTimesThatAreNotKnownAreLeftOut(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, v := range Verbs() {
		findTimes(t, v.Request, seen)
		findTimes(t, v.Answer, seen)
	}
	if !seen[reflect.TypeFor[Status]()] || !seen[reflect.TypeFor[HostKey]()] || !seen[reflect.TypeFor[SearchRequest]()] {
		t.Error("the walk through the types of verbs has missed some of them")
	}
}

// findTimes reports the fields of a type, and of what it holds, that are times and are written if
// they are zero.
func findTimes(t *testing.T, is reflect.Type, seen map[reflect.Type]bool) {
	switch is.Kind() {
	case reflect.Slice, reflect.Pointer, reflect.Array, reflect.Map:
		findTimes(t, is.Elem(), seen)
	case reflect.Struct:
		if seen[is] || is.PkgPath() != ownPath() {
			return
		}
		seen[is] = true
		for i := range is.NumField() {
			field := is.Field(i)
			_, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			if field.Type == reflect.TypeFor[time.Time]() && !strings.Contains(options, "omitzero") {
				t.Errorf("%s.%s is a time that is written where it is not known", is.Name(), field.Name)
			}
			findTimes(t, field.Type, seen)
		}
	}
}

// ownPath returns the path of this package.
func ownPath() string { return reflect.TypeFor[Status]().PkgPath() }
