package protocol

import (
	"errors"
	"strings"
	"time"
)

// part is a field of a form: it reads one value of an act's words, and writes the same value.
type part struct {
	key   string
	read  func(f *form) error // nil: it says nothing
	write func() string       // nil: it is only looked at when the form was read
	head  bool                // it stands beside the heading
}

// formHead is what formAct reads and writes of all words.
func (h *FormHead) formHead() *FormHead { return h }

// formAct makes an act whose body is a form. `fields` are the fields of some words, in the order in
// which they are written.
func formAct[W any, P interface {
	*W
	formHead() *FormHead
}](spec ActSpec, example W, fields func(words *W) []part) WordAct[W] {
	return NewAct(spec, func(body string) (W, error) {
		var w W
		all := fields(&w)
		var keys []string
		for _, one := range all {
			if !one.head {
				keys = append(keys, strings.ToUpper(one.key))
			}
		}
		f := readForm(spec.Heading, body, keys...)
		*P(&w).formHead() = f.FormHead
		for _, one := range all {
			if one.read == nil {
				continue
			}
			if err := one.read(&f); err != nil {
				return w, err
			}
		}
		return w, nil
	}, func(w W) string {
		var beside []string
		all := fields(&w)
		for _, one := range all {
			if one.head {
				beside = append(beside, one.key, one.write())
			}
		}
		form := writeForm(spec.Heading, *P(&w).formHead(), beside...)
		for _, one := range all {
			switch {
			case one.write == nil || one.head:
			case one.key == "":
				form.line(one.write())
			default:
				form.put(one.key, one.write())
			}
		}
		return form.String()
	}, example)
}

// partOf is a field of one line, by the functions that read and write its value.
func partOf[T any](key string, value *T, parse func(string) (T, error), format func(T) string) part {
	return part{key: key, read: func(f *form) (err error) {
		*value, err = parse(f.flat(key))
		return err
	}, write: func() string { return format(*value) }}
}

func flatPart(key string, value *string) part {
	return partOf(key, value, func(s string) (string, error) { return s, nil }, flatText)
}

func textPart(key string, value *string) part {
	return part{key: key, read: func(f *form) error { *value = f.text(strings.ToUpper(key)); return nil }, write: func() string { return *value }}
}

// orPart is another name of a text that textPart did not find. It is never written.
func orPart(key string, value *string) part {
	return part{key: key, read: func(f *form) error {
		if *value == "" {
			*value = f.text(key)
		}
		return nil
	}}
}

func timePart(key string, value *time.Time) part {
	return part{key: key, read: func(f *form) (err error) { *value, err = f.instant(key); return err }, write: func() string { return formatInstant(*value) }}
}

func itemPart(value *ItemRef) part {
	return partOf("ITEM", value, func(s string) (ItemRef, error) { return ParseItemRef(s), nil }, ItemRef.String)
}

// labelPart is the label beside the heading. A label that cannot be read is "".
func labelPart(value *Label) part {
	return part{key: "label", head: true, read: func(f *form) error { *value = f.label(); return nil }, write: value.String}
}

// noteLine is a line that is only for people who read the body.
func noteLine(text string) part { return part{write: func() string { return text }} }

// needs refuses a form in which a value before this field is empty.
func needs(value *string, lacking string) part {
	return check(func() bool { return *value != "" }, lacking)
}

// check refuses a form whose values before this field are not right.
func check(right func() bool, wrong string) part {
	return part{read: func(*form) error {
		if !right() {
			return errors.New(wrong)
		}
		return nil
	}}
}
