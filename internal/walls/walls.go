// Package walls keeps files, and what other processes have, from the sight of a command. Linux
// alone can: the program starts itself once more, in name spaces of its own, puts the walls up
// there and becomes the command.
package walls

import "encoding/json"

// Walls are what a command does not see of the files of its machine. With them it sees no
// memory, files or variables of processes outside of them either, and has no rights of root.
type Walls struct {
	Hide []string `json:"hide,omitempty"` // folders that are empty for it; one that it could not enter anyway is left out
	Show []string `json:"show,omitempty"` // folders below those that it sees all the same
}

// String is the form that Parse reads: no byte of it is zero.
func (w Walls) String() string {
	if len(w.Hide) == 0 {
		return ""
	}
	data, err := json.Marshal(w)
	if err != nil {
		panic(err) // it is lists of texts
	}
	return string(data)
}

// Parse reads what String wrote; ok is false for anything else.
func Parse(text string) (w Walls, ok bool) {
	if text == "" {
		return w, true
	}
	return w, json.Unmarshal([]byte(text), &w) == nil
}
