package schemas

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// maxLine bounds the length of a line, in bytes, in a file that has a value on each line.
const maxLine = 1 << 20

// Problems says why a file does not have the form of the schema, each problem with its place; none
// if it has that form. It returns an error if the schema itself is wrong. Formats such as date-time
// are checked (R23).
func (s Schema) Problems(data []byte) ([]string, error) {
	var form jsonschema.Schema
	if err := json.Unmarshal(s.Text, &form); err != nil {
		return nil, fmt.Errorf("the schema %s cannot be read: %w", s.Name, err)
	}
	if _, err := form.Resolve(nil); err != nil {
		return nil, fmt.Errorf("the schema %s cannot be used: %w", s.Name, err)
	}
	if !s.Lines {
		return problems(&form, data, ""), nil
	}
	var all []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) > 0 {
			all = append(all, problems(&form, lines.Bytes(), fmt.Sprintf("line %d: ", n))...)
		}
	}
	if err := lines.Err(); err != nil {
		all = append(all, err.Error())
	}
	return all, nil
}

// problems says why a value does not have the form of the schema, each problem with its place.
func problems(form *jsonschema.Schema, data []byte, where string) []string {
	var value any
	switch err := json.Unmarshal(data, &value); {
	case len(bytes.TrimSpace(data)) == 0:
		return []string{where + "it is empty"}
	case err != nil:
		return []string{where + "it is no JSON: " + err.Error()}
	}
	c := check{all: form, where: where}
	c.value(form, value, "")
	slices.Sort(c.list)
	return c.list
}

// check holds a value against a schema piece by piece: the library stops at the first fault, names
// the place of it in the schema alone, and does not look at formats.
type check struct {
	all   *jsonschema.Schema
	where string
	list  []string
}

// value looks at a value by a part of the schema, and at what is in it.
func (c *check) value(form *jsonschema.Schema, value any, place string) {
	if name, ok := strings.CutPrefix(form.Ref, "#/$defs/"); ok {
		form = c.all.Defs[name]
	}
	if err := alone(form, value); err != nil {
		where := c.where
		if place != "" {
			where += place[1:] + ": "
		}
		c.list = append(c.list, where+fault(err))
	}
	switch v := value.(type) {
	case []any:
		for i, item := range v {
			if form.Items != nil {
				c.value(form.Items, item, place+"/"+strconv.Itoa(i))
			}
		}
	case map[string]any:
		for name, item := range v {
			if part := form.Properties[name]; part != nil {
				c.value(part, item, place+"/"+name)
			} else if open(form.AdditionalProperties) {
				c.value(form.AdditionalProperties, item, place+"/"+name)
			}
		}
	}
}

// open reports whether a schema of other properties allows any.
func open(others *jsonschema.Schema) bool { return others != nil && others.Not == nil }

// alone says what is wrong with a value, whatever is in it.
func alone(form *jsonschema.Schema, value any) error {
	shallow := *form
	shallow.Defs, shallow.Items, shallow.Properties = nil, nil, map[string]*jsonschema.Schema{}
	for name := range form.Properties {
		shallow.Properties[name] = &jsonschema.Schema{}
	}
	if open(form.AdditionalProperties) {
		shallow.AdditionalProperties = nil
	}
	resolved, err := shallow.Resolve(nil)
	if err != nil {
		return err
	}
	if err := resolved.Validate(value); err != nil {
		return err
	}
	text, isText := value.(string)
	if _, err := time.Parse(time.RFC3339, strings.ToUpper(text)); isText && form.Format == "date-time" && err != nil {
		return fmt.Errorf("%q is no date-time with a zone, such as 2026-04-13T12:00:00Z", text)
	}
	return nil
}

// fault is what the library says, without the places in the schema.
func fault(err error) string {
	text := err.Error()
	for {
		rest, ok := strings.CutPrefix(text, "validating ")
		if !ok {
			return text
		}
		_, text, _ = strings.Cut(rest, ": ")
	}
}
