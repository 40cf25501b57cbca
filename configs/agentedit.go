package configs

import (
	"bytes"
	"errors"
	"reflect"
	"slices"

	"gopkg.in/yaml.v3"
)

// editedAgent puts what has changed into the text of an agent's file. So the comments and the order
// of a person stay. `ok` is false if that cannot be done, such as for a file that cannot be read.
func editedAgent(old, fresh []byte) (edited []byte, ok bool) {
	var whole yaml.Node // with the comments that stand before its first key
	if was, _ := document(old); was == nil || yaml.Unmarshal(old, &whole) != nil {
		return nil, false
	}
	is, _ := document(fresh)
	takeOver(whole.Content[0], is)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(&whole), enc.Close()); err != nil || out.Len() > maxFileBytes {
		return nil, false
	}
	// The encoder puts some comments where they mean something else.
	want, wrong := parseAgent(fresh)
	got, wrongToo := parseAgent(out.Bytes())
	return out.Bytes(), len(wrong)+len(wrongToo) == 0 && reflect.DeepEqual(want, got)
}

// takeOver makes the mapping `was` say what `is` says, and leaves what they have in common as it
// is.
func takeOver(was, is *yaml.Node) {
	for i := 0; i+1 < len(was.Content); {
		if valueOf(is, was.Content[i].Value) == nil {
			was.Content = slices.Delete(was.Content, i, i+2)
			continue
		}
		i += 2
	}
	for i := 0; i+1 < len(is.Content); i += 2 {
		key, value := is.Content[i], is.Content[i+1]
		if there := valueOf(was, key.Value); there != nil {
			become(there, value)
		} else {
			was.Content = append(was.Content, key, value)
		}
	}
}

func become(was, is *yaml.Node) {
	switch {
	case was.Kind == yaml.ScalarNode && is.Kind == yaml.ScalarNode:
		if was.Value != is.Value {
			was.Value, was.Style, was.Tag = is.Value, is.Style, is.Tag
		}
	case was.Kind == yaml.MappingNode && is.Kind == yaml.MappingNode:
		takeOver(was, is)
	case was.Kind == yaml.SequenceNode && is.Kind == yaml.SequenceNode:
		was.Content = was.Content[:min(len(was.Content), len(is.Content))]
		for i, element := range is.Content {
			if i < len(was.Content) {
				become(was.Content[i], element)
			} else {
				was.Content = append(was.Content, element)
			}
		}
	default:
		*was = *is
	}
}

// valueOf is the value of a key of a mapping, nil if it has none.
func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}
