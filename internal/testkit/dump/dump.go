// Package dump writes a value out whole, for tests that compare values: with the fields that no
// JSON shows, and with what is behind pointers.
package dump

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Text is all of a value, a field a line.
func Text(v any) string {
	var b strings.Builder
	write(&b, "", reflect.ValueOf(v))
	return b.String()
}

func write(b *strings.Builder, at string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			write(b, at, v.Elem())
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			wall, ext := v.Field(0).Uint(), v.Field(1).Int()
			fmt.Fprintf(b, "%s: %d %d\n", at, wall, ext)
			return
		}
		for i := range v.NumField() {
			write(b, at+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			write(b, fmt.Sprintf("%s[%d]", at, i), v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, k := range keys {
			write(b, fmt.Sprintf("%s[%v]", at, k), v.MapIndex(k))
		}
	default:
		fmt.Fprintf(b, "%s: %v\n", at, v)
	}
}
