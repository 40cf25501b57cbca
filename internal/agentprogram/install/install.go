// Package install puts parley into agent programs and takes it out again. It is work on files
// alone: it knows no node and no home. What it writes into a file of somebody else it takes out byte
// for byte.
package install

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/visible"
)

// Places says for whom and where something is installed.
type Places struct {
	Home    string // the folder of the person
	Data    string // where it is kept what was written
	Project string // the folder of a project; "": for all that the person does
	Folder  string // where the person is now: a project there may have settings that are in the way
	Getenv  func(string) string
	// Argv is parley as a program is to start it: its path and, if it is not the usual one, the home.
	Argv []string
	// Skills returns the files of instructions below a folder of skills.
	Skills func(folder string) ([]File, error)
	// Managed are files of settings of Claude Code which the machine's administrator writes, and
	// Required is that of Codex.
	Managed  []string
	Required string
}

// File is a whole file of parley's.
type File struct {
	Path string
	Text []byte
	// Ours reports whether a text is one that some version of parley wrote into this file; nil: no.
	Ours func([]byte) bool
	// Folder is the folder of the skill of which this file is a part; "": it is a part of none.
	Folder string
	// Optional is set if the rest works without this skill.
	Optional bool
}

// Program is an agent program into which parley can be put.
type Program struct {
	Name  string // as in parley install NAME
	Title string // as its makers call it
	Needs []Need
	// called is set if the node calls the program to wake a session of it.
	called bool
	parts  func(at Places, v Version) ([]part, error)
	state  func(at Places) []Finding // what is in the way beside the files of parley
	// monitor is the file that has the program run a process of parley's in each session; nil: it cannot.
	monitor func(at Places) string
	// folder is where the program keeps its settings.
	folder func(at Places) string
}

// Service is what the system's own supervisor reads of a node: one file of parley's.
func Service(name, file string, text []byte) Program {
	return Program{
		Name: "service-" + name, Title: "the service " + name,
		parts:  func(Places, Version) ([]part, error) { return []part{whole{File{Path: file, Text: text}}}, nil },
		state:  func(Places) []Finding { return nil },
		folder: func(Places) string { return filepath.Dir(file) },
	}
}

// Need is what a program does with parley, from a version on.
type Need struct {
	What  string
	Since Version // nil: always
	// Must is set if nothing works without it.
	Must bool
}

// Programs are those that parley knows how to be put into.
func Programs() []Program { return []Program{claude(), codex()} }

// Find returns the program with a name.
func Find(name string) (Program, bool) {
	all := Programs()
	i := slices.IndexFunc(all, func(p Program) bool { return p.Name == name })
	if i < 0 {
		return Program{}, false
	}
	return all[i], true
}

// Here is where a program is on this machine.
type Here struct {
	Path    string // "": not in PATH
	Version Version
}

// answerTime is how long a program may take to say its version.
const answerTime = 20 * time.Second

// Monitors reports whether each session of the program that begins runs a process of parley's, by
// which it is woken.
func (p Program) Monitors(at Places) bool { return p.monitor != nil && isThere(p.monitor(at)) }

// Look asks for the program.
func (p Program) Look(ctx context.Context, getenv func(string) string) Here {
	path := LookPath(p.Name, getenv("PATH"))
	if path == "" {
		return Here{}
	}
	return Here{Path: path, Version: askVersion(ctx, path, "--version")}
}

// LookPath finds a program in folders as PATH lists them; "" if it is in none.
func LookPath(name, folders string) string {
	for _, dir := range filepath.SplitList(folders) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path
		}
	}
	return ""
}

// Version is the version of a program: three numbers; nil if it is not known.
type Version []int

var versionForm = regexp.MustCompile(`(\d+)\.(\d+)\.(\d+)`)

// askVersion is the version that a program says.
func askVersion(ctx context.Context, path, word string) Version {
	ctx, done := context.WithTimeout(ctx, answerTime)
	defer done()
	said, _ := exec.CommandContext(ctx, path, word).Output() // what says no version has none that is known
	var v Version
	if numbers := versionForm.FindStringSubmatch(string(said)); numbers != nil {
		for _, n := range numbers[1:] {
			i, _ := strconv.Atoi(n) // one that is too large for an int is none of ours
			v = append(v, i)
		}
	}
	return v
}

// String is the version with dots; "" if it is not known.
func (v Version) String() string {
	return strings.Join(each.Of(v, strconv.Itoa), ".")
}

// Before reports whether the version is known and older than another.
func (v Version) Before(other Version) bool { return v != nil && slices.Compare(v, other) < 0 }

// Command is a command of parley as a shell takes it.
func (at Places) Command(words ...string) string {
	return strings.Join(each.Of(slices.Concat(at.Argv, words), visible.Shell), " ")
}

// below is a folder in the project, or in the person's home.
func (at Places) below(path ...string) string {
	base := at.Home
	if at.Project != "" {
		base = at.Project
	}
	return filepath.Join(append([]string{base}, path...)...)
}

// config is the folder of settings of a program: the one that a variable names, else its usual one.
func (at Places) config(variable, usual string) string {
	if dir := at.Getenv(variable); dir != "" && at.Project == "" {
		return dir
	}
	return at.below(usual)
}
