package plot

import "reflect"

// stringsOf lists every string field of the table, arrays included.
func stringsOf(w words) []string {
	var out []string
	v := reflect.ValueOf(w)
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			out = append(out, f.String())
		case reflect.Array:
			for k := range f.Len() {
				out = append(out, f.Index(k).String())
			}
		}
	}
	return out
}
