// Package walls hides files, and what other processes have, from a command. Only Linux can do that.
// The program starts itself once more, in namespaces of its own, puts the walls up there, and
// becomes the command.
package walls

import "encoding/json"

// Walls are what a command does not see of the files of its machine. Behind them, it also sees no
// memory, files or variables of processes outside, and has no rights of root.
type Walls struct {
	Hide []string `json:"hide,omitempty"` // folders that are empty for the command; a folder that it could not enter anyway is left out
	Show []string `json:"show,omitempty"` // folders below those that it sees all the same
}

// String is the form that Parse reads. It contains no zero byte.
func (w Walls) String() string {
	if len(w.Hide) == 0 {
		return ""
	}
	data, err := json.Marshal(w)
	if err != nil {
		panic(err) // it holds only lists of texts
	}
	return string(data)
}

// Parse reads what String wrote. `ok` is false for anything else.
func Parse(text string) (w Walls, ok bool) {
	if text == "" {
		return w, true
	}
	return w, json.Unmarshal([]byte(text), &w) == nil
}
