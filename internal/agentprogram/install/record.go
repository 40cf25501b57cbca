package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/durable"
)

// record is what was written into a program, so that it can be taken out again. It is written
// before the first file is, so whatever a crash leaves is known.
type record struct {
	Program string   `json:"program"`           // the path of the program
	Config  string   `json:"config"`            // the folder of its settings
	Project string   `json:"project,omitempty"` // the folder of the project; "": for all that the person does
	Files   []kept   `json:"files"`
	Folders []string `json:"folders"` // those that were made, outer ones first
}

// kept is one file that was written.
type kept struct {
	Path   string   `json:"path"`
	Kind   string   `json:"kind"`
	Before []byte   `json:"before"` // the whole file; null: there was none
	Sums   []string `json:"sums"`   // of what was written; of a file of parley's also of earlier versions
	Added  []string `json:"added"`  // the texts that were put into a file of somebody else
}

func sum(data []byte) string {
	hash := sha256.Sum256(data)
	return hex.EncodeToString(hash[:])
}

// wrote reports whether a file is as it was written.
func (k kept) wrote(data []byte) bool { return slices.Contains(k.Sums, sum(data)) }

// recordFile is where the record of a program is. Each project has its own.
func (p Program) recordFile(at Places) string {
	name := p.Name
	if at.Project != "" {
		name += "-" + sum([]byte(at.Project))[:12]
	}
	return filepath.Join(at.Data, name+".json")
}

// readRecord reads the record of a program; an empty one if nothing was written.
func (p Program) readRecord(at Places) (r record, err error) {
	file := p.recordFile(at)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return record{}, fmt.Errorf("cannot read what was written into %s: %s: %w", p.Name, file, err)
	}
	return r, nil
}

// find is the entry of a file; an empty one if it was not written.
func (r record) find(path string) kept {
	for _, k := range r.Files {
		if k.Path == path {
			return k
		}
	}
	return kept{}
}

// writeRecord writes the record of a program. What it holds of files is as private as they are.
func (p Program) writeRecord(at Places, r record) error {
	if err := os.MkdirAll(at.Data, 0o700); err != nil {
		return err
	}
	return durable.WriteFile(p.recordFile(at), encoded(r), 0o600)
}

// Data is the folder in which it is kept what was written, beside the usual home of a node.
func Data(usual string) string { return usual + "-install" }

// Known says where a program is and where its settings are, as they were when the person put parley
// into it; "" if that was not done. `data` is the folder of Data.
func (p Program) Known(data string) (path, config string, err error) {
	r, err := p.readRecord(Places{Data: data})
	return r.Program, r.Config, err
}

// Written is what parley has written for one program, or for one project.
type Written struct {
	Name    string   // the program, as in parley install NAME
	Project string   // "": for all that the person does; also where it is not known
	Known   bool     // Undo can take it out, with this project
	Paths   []string // the files
}

// All is everything that is noted as written in the folder of Data, by name.
func All(data string) (all []Written, err error) {
	files, err := filepath.Glob(filepath.Join(data, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name, project, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".json"), "-")
		if _, known := Find(name); !known {
			continue
		}
		var r record
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &r)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read what was written into %s: %s: %w", name, file, err)
		}
		w := Written{Name: name, Project: r.Project, Known: project == "" || r.Project != ""}
		for _, k := range r.Files {
			w.Paths = append(w.Paths, k.Path)
		}
		all = append(all, w)
	}
	return all, nil
}
