package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
)

// asRefusal is the refusal within an error, nil where there is none.
func asRefusal(err error) error {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// walkObject calls visit with each key of the object that comes next; visit
// must read the value.
func walkObject(d *json.Decoder, visit func(key string) error) error {
	if err := delim(d, '{'); err != nil {
		return err
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return fmt.Errorf("a key was expected, not %v", t)
		}
		if err := visit(key); err != nil {
			return err
		}
	}
	return delim(d, '}')
}

// walkArray calls visit before each element of the array that comes next.
func walkArray(d *json.Decoder, visit func() error) error {
	if err := delim(d, '['); err != nil {
		return err
	}
	for d.More() {
		if err := visit(); err != nil {
			return err
		}
	}
	return delim(d, ']')
}

func delim(d *json.Decoder, want json.Delim) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != want {
		return fmt.Errorf("%v was expected, not %v", want, t)
	}
	return nil
}

// skipValue reads over the next value, token by token, so that a long one
// costs no memory.
func skipValue(d *json.Decoder) error {
	depth := 0
	for {
		t, err := d.Token()
		if err != nil {
			return err
		}
		if c, ok := t.(json.Delim); ok {
			switch c {
			case '{', '[':
				depth++
			default:
				depth--
			}
		}
		if depth == 0 {
			return nil
		}
	}
}
