package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	"headroom/analyze"
)

// JSON writes an analysis as headroom.analysis/1: keys in the order of the
// contract, maps sorted, two spaces a level, one newline at the end. The same
// analysis gives the same bytes. A NaN or an infinity is an error that names its
// key: such a value must be null before it comes here.
func JSON(a *analyze.Analysis) ([]byte, error) {
	if where := unprintable(reflect.ValueOf(a), ""); where != "" {
		return nil, fmt.Errorf("analysis.json: %s is not a finite number; absent values are null", strings.TrimPrefix(where, "."))
	}
	return encode("analysis.json", a)
}

func encode(name string, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // rules read "<=", not "\u003c="
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b.Bytes(), nil
}

// unprintable is the path of the first number that JSON can't hold, "" if none.
func unprintable(v reflect.Value, path string) string {
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return path
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return unprintable(v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			next := path + "." + name
			if f.Anonymous && name == "" {
				next = path
			}
			if where := unprintable(v.Field(i), next); where != "" {
				return where
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if where := unprintable(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); where != "" {
				return where
			}
		}
	case reflect.Map:
		var first string // the least, so that the message is stable
		for it := v.MapRange(); it.Next(); {
			if where := unprintable(it.Value(), path+"."+it.Key().String()); where != "" && (first == "" || where < first) {
				first = where
			}
		}
		return first
	}
	return ""
}
