package protocol

import (
	"iter"

	"gopkg.in/yaml.v3"
)

// HostFileCommands are the actors of a host file for which the file states a command, in the order
// of the file. The node of a host writes no command, and no node runs one from the record (R12). So
// somebody else has written it. A file that cannot be read has none.
func HostFileCommands(data []byte) []string {
	front, _, err := split(data)
	if err != nil {
		return nil
	}
	root, err := mapping(front)
	if err != nil {
		return nil
	}
	var found []string
	for field, actors := range eachField(root) {
		if field != "actors" {
			continue
		}
		for actor, tiers := range eachField(actors) {
			if stateCommand(tiers) {
				found = append(found, actor)
			}
		}
	}
	return found
}

// stateCommand reports whether one of an actor's tiers has a command: as its field
// "cli", or as the bare string of the shorthand.
func stateCommand(tiers *yaml.Node) bool {
	for _, tier := range eachField(tiers) {
		if tier.Kind == yaml.ScalarNode && tier.Tag == "!!str" {
			return true
		}
		for field := range eachField(tier) {
			if field == "cli" {
				return true
			}
		}
	}
	return false
}

// eachField are the keys of a mapping with their values, in its order.
func eachField(mapping *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
			if !yield(mapping.Content[i].Value, mapping.Content[i+1]) {
				return
			}
		}
	}
}
