package keeper

import (
	"reflect"
	"testing"
)

func TestUserRoundTrip(t *testing.T) {
	for _, u := range []*User{nil, {UID: 1000, GID: 100, Groups: []uint32{}}, {UID: 4294967295, GID: 0, Groups: []uint32{7, 8}}} {
		if got, ok := parseUser(u.String()); !ok || !reflect.DeepEqual(got, u) {
			t.Errorf("%s is read as %+v, %v", u, got, ok)
		}
	}
	for _, text := range []string{"", "1000", "a:b", "1:-1", "1:2:", "1:4294967296"} {
		if got, ok := parseUser(text); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
