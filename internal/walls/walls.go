// Package walls hides files, and what other processes have, from a command. Only Linux can do that.
// The program starts itself once more, in namespaces of its own, puts the walls up there, and
// becomes the command.
package walls

import "encoding/json"

// Walls are what a command does not see of the files of its machine. Behind them, it also sees no
// process outside, and has no rights of root.
type Walls struct {
	Tmp  string   `json:"tmp,omitempty"`  // the folder that is /tmp and /var/tmp for the command; "": they stay
	Keep []string `json:"keep,omitempty"` // files and folders below those that it sees all the same, before others are hidden
	Hide []string `json:"hide,omitempty"` // folders that are empty for the command; a folder that it could not enter anyway is left out
	Show []string `json:"show,omitempty"` // folders below those that it sees all the same
}

// Inside reports whether a program with these words (the first is its name) is the first process
// behind walls.
func Inside(args []string) bool { return len(args) > 1 && args[1] == within }

// Temporary are the folders that Walls.Tmp replaces.
func Temporary() []string { return []string{"/tmp", "/var/tmp"} }

// within is the first argument of the first process behind walls: it starts the command, and waits
// for what becomes an orphan there.
const within = "within-walls"

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
