package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/parleyfleet/parley/internal/whereabouts"
	"gopkg.in/yaml.v3"
)

// Origin is the file of a home that says where the home is. With it, a copy of the home recognizes
// that it is one. A home of parley 0.1.0 gets the file when its node next starts.
func (h Home) Origin() string { return filepath.Join(h.Dir, "origin") }

// originFile is the content of that file. Path and host are for people: a home may be renamed.
type originFile struct {
	Since   time.Time `yaml:"since"` // since when the home is here, or when an operator said that it belongs here
	Host    string    `yaml:"host"`
	Path    string    `yaml:"path"`
	Machine string    `yaml:"machine,omitempty"`
	Folder  uint64    `yaml:"folder"`
	Born    time.Time `yaml:"born,omitempty"`
}

// CopiedError says that a home is a copy of another one, or the same home after it was moved or
// restored from a backup. Its files cannot tell which.
type CopiedError struct {
	Dir     string    // this home
	Path    string    // where the home was
	Host    string    // the name of the machine on which it was; "" if that had none
	Machine bool      // it was on another machine
	Since   time.Time // since when it was there
}

// Error says where the home was, and why nothing may be done with it.
func (e *CopiedError) Error() string {
	text := "this home is a copy of " + e.Path + " on this machine"
	switch {
	case e.Machine && e.Host != "":
		text = fmt.Sprintf("this home was %s on another machine, %s", e.Path, e.Host)
	case e.Machine:
		text = fmt.Sprintf("this home was %s on another machine", e.Path)
	case e.Path == e.Dir:
		text = "this home is a copy of the folder that was " + e.Path + " before"
	}
	return fmt.Sprintf("%s (since %s). Two nodes with one key would do everything twice, so nothing was started, written or sent",
		text, e.Since.UTC().Format("2006-01-02 15:04Z"))
}

// Hint is what the operator can do. Only the operator knows whether the other home still exists.
func (e *CopiedError) Hint() string {
	return "for a second host, remove this copy and join with a home of its own: parley --home DIR join URL --alias NAME; " +
		"if the other home is gone for good, or this is that home after it was moved or restored: parley up --moved"
}

// CheckOrigin returns a *CopiedError if the home is not where it was made. It writes nothing.
// `known` is false for a home that has not yet noted where it is.
func (h Home) CheckOrigin() (known bool, err error) {
	data, err := readCapped(h.Origin())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot read where the home was made: %w", err)
	}
	var was originFile
	if err := yaml.Unmarshal(data, &was); err != nil {
		return false, fmt.Errorf("cannot read where the home was made: %s: %w", h.Origin(), err)
	}
	is, err := whereabouts.Of(h.Dir)
	if err != nil {
		return false, err
	}
	if made := (whereabouts.Place{Machine: was.Machine, Folder: was.Folder, Born: was.Born}); !is.Same(made) {
		return true, &CopiedError{Dir: h.Dir, Path: was.Path, Host: was.Host, Machine: !is.SameMachine(made), Since: was.Since}
	}
	return true, nil
}

// NoteOrigin writes down that the home belongs where it is.
func (h Home) NoteOrigin(now time.Time) error {
	is, err := whereabouts.Of(h.Dir)
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // the name is for people
	data, err := yaml.Marshal(originFile{
		Since: now.UTC().Truncate(time.Second), Host: host, Path: h.Dir, Machine: is.Machine, Folder: is.Folder, Born: is.Born})
	if err == nil {
		err = writeAtomic(h.Origin(), append([]byte("# Where this home is, by which a copy of it knows that it is one: see  parley up --help\n"), data...))
	}
	if err != nil {
		return fmt.Errorf("cannot note where the home is: %w", err)
	}
	return nil
}
