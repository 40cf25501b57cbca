package control

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
)

// API is the version of the requests and answers in this package. It rises with every change that
// an older node would not understand, or would understand wrongly.
const API = 4

// Every answer has both headers, and every request has the second one. So a command and a node of
// different versions notice the difference before anything happens.
const (
	headerVersion = "Parley-Version"
	headerAPI     = "Parley-Api"
)

const (
	pathPrefix = "/v1/"
	typeJSON   = "application/json"
	typeStream = "application/x-ndjson"
)

// httpStatus is the HTTP status of an answer that is an error of the kind `k`.
func (k Kind) httpStatus() int {
	return cmp.Or(map[Kind]int{
		KindUsage: http.StatusBadRequest, KindNotFound: http.StatusNotFound, KindRefused: http.StatusForbidden, KindSecret: http.StatusForbidden, KindConflict: http.StatusConflict,
		KindUnavailable: http.StatusServiceUnavailable, KindTimeout: http.StatusGatewayTimeout, KindOldNode: http.StatusNotImplemented,
	}[k], http.StatusInternalServerError)
}

// WriteJSON writes `v` as one line of JSON. Every list in it is an array and never null (R17). Text
// stands without escapes for HTML.
func WriteJSON(w io.Writer, v any) error {
	copied := reflect.New(reflect.TypeOf(v)).Elem()
	copied.Set(reflect.ValueOf(v))
	fillLists(copied)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(copied.Addr().Interface())
}

// fillLists replaces the nil slices in `v` by empty ones. It first copies lists that contain lists,
// and values behind pointers, because `v` shares them with the caller.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() {
				fillLists(field)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			fillLists(copied.Elem())
			v.Set(copied)
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
			return
		}
		if k := v.Type().Elem().Kind(); k != reflect.Struct && k != reflect.Pointer {
			return
		}
		copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(copied, v)
		v.Set(copied)
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	}
}
