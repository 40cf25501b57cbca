package schemas

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// maxLine bounds the length of a line, in bytes, in a file that has a value on each line.
const maxLine = 1 << 20

// Problems says why a file does not have the form of the schema, each problem with its place; none
// if it has that form. It returns an error if the schema itself is wrong. Formats such as date-time
// are checked (R23).
func (s Schema) Problems(data []byte) ([]string, error) {
	compiled, err := s.compile()
	if err != nil {
		return nil, err
	}
	if !s.Lines {
		return problems(compiled, data, ""), nil
	}
	var all []string
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) > 0 {
			all = append(all, problems(compiled, lines.Bytes(), fmt.Sprintf("line %d: ", n))...)
		}
	}
	if err := lines.Err(); err != nil {
		all = append(all, err.Error())
	}
	return all, nil
}

func (s Schema) compile() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.Text))
	if err != nil {
		return nil, fmt.Errorf("the schema %s cannot be read: %w", s.Name, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	// A name alone would be taken for a file in the present folder. In a folder such as ψ, it would
	// not be found again.
	name := "urn:parley:" + s.Name
	if err := compiler.AddResource(name, doc); err != nil {
		return nil, fmt.Errorf("the schema %s cannot be used: %w", s.Name, err)
	}
	return compiler.Compile(name)
}

// problems says why a value does not have the form of the schema, each problem with its place.
func problems(s *jsonschema.Schema, data []byte, where string) []string {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	switch {
	case errors.Is(err, io.EOF):
		return []string{where + "it is empty"}
	case err != nil:
		return []string{where + "it is no JSON: " + err.Error()}
	}
	err = s.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return []string{where + err.Error()}
	}
	var list []string
	english := message.NewPrinter(language.English)
	var leaves func(e *jsonschema.ValidationError)
	leaves = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			leaves(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		place := strings.Join(e.InstanceLocation, "/")
		if place != "" {
			place += ": "
		}
		list = append(list, where+place+e.ErrorKind.LocalizedString(english))
	}
	leaves(invalid)
	slices.Sort(list)
	return list
}
