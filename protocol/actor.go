package protocol

import (
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// The folders of a record that hold actor profiles. A profile in LocalActorsDir belongs to the
// fleet. It takes precedence over one with the same name in UpstreamActorsDir, which comes with the
// program.
const (
	LocalActorsDir    = "local/actors"
	UpstreamActorsDir = "upstream/actors"
)

// Actor is an actor profile: who a participant is and how it is to behave
// (Crosstalk, "Actor file format").
type Actor struct {
	Name        string
	Description string // one line
	Author      string
	Domain      string // such as general, engineering
	Type        string // "actor"
	Alias       string // what the actor calls itself
	Body        string // the system prompt
	Hash        string // of the whole file, as Hash makes it
}

// LocalActorPath is where the fleet's own profile of that name belongs.
func LocalActorPath(name Name) string { return LocalActorsDir + "/" + name.String() + ".md" }

// IsActorPath reports whether a file at path is an actor profile, and whether it
// is one of the fleet's own.
func IsActorPath(path string) (local, ok bool) {
	for _, dir := range []string{LocalActorsDir, UpstreamActorsDir} {
		if file, in := strings.CutPrefix(path, dir+"/"); in {
			return dir == LocalActorsDir, strings.HasSuffix(file, ".md") && !strings.Contains(file, "/")
		}
	}
	return false, false
}

// ParseActor reads an actor profile. The published text of the seed has lost its indentation. So
// the fields of "metadata" are read below it or beside it.
func ParseActor(data []byte) (Actor, error) {
	if err := checkSize(data, maxBookBytes); err != nil {
		return Actor{}, err
	}
	front, body, err := split(data)
	if err != nil {
		return Actor{}, err
	}
	root, err := mapping(front)
	if err != nil {
		return Actor{}, err
	}
	a := Actor{Body: NormalBody(body), Hash: Hash(data)}
	a.take(root)
	if err := CheckForeignName(a.Name); err != nil {
		return Actor{}, fmt.Errorf("field name: %w", err)
	}
	if strings.TrimSpace(a.Body) == "" {
		return Actor{}, errors.New("the profile has no text below its frontmatter")
	}
	return a, nil
}

func (a *Actor) take(n *yaml.Node) {
	fields := map[string]*string{"name": &a.Name, "description": &a.Description, "author": &a.Author, "domain": &a.Domain, "type": &a.Type, "alias": &a.Alias}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		if key == "metadata" && value.Kind == yaml.MappingNode {
			a.take(value)
		}
		if value.Kind != yaml.ScalarNode {
			continue
		}
		if at := fields[key]; at != nil {
			*at = value.Value
		}
	}
}
