package configs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/redact"
)

// ErrNoConfig is what the error of Load matches if there is no config.yaml: nobody has run
// "parley init" here.
var ErrNoConfig = errors.New("there is no configuration")

// LostHint says what to do with a home that has a record and no configuration.
const LostHint = "bring config.yaml back from a backup, or write it: fleet, alias, human and remote will do; then: parley up -d"

// NotFoundError says that a home has no configuration. It matches ErrNoConfig
// and fs.ErrNotExist.
type NotFoundError struct {
	Path string // the file that is missing
}

// Error names the file that is missing and how to make one.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("cannot read %s: %s (parley init makes one)", e.Path, ErrNoConfig)
}

// Is reports whether target is ErrNoConfig or fs.ErrNotExist.
func (e *NotFoundError) Is(target error) bool {
	return target == ErrNoConfig || target == fs.ErrNotExist
}

// Problem is one thing that is wrong with a file.
type Problem struct {
	Line int    // 1 is the first; 0 if the problem is in no line
	Key  string // such as "bus.listen"; "" if it is about no key
	Text string // what is wrong and what would be right
}

// String returns "line 3: bus.listen: what is wrong".
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// Error lists all problems of one file, or of a struct that is in no file.
type Error struct {
	File     string // "" if the struct was not read from a file
	Problems []Problem
}

// Error returns one line for one problem, and a list for several.
func (e *Error) Error() string {
	what := cmp.Or(e.File, "this configuration")
	if len(e.Problems) == 1 {
		return fmt.Sprintf("cannot use %s: %s", what, e.Problems[0])
	}
	lines := make([]string, 0, len(e.Problems)+1)
	lines = append(lines, fmt.Sprintf("cannot use %s: %d problems", what, len(e.Problems)))
	for _, p := range e.Problems {
		lines = append(lines, "  "+p.String())
	}
	return strings.Join(lines, "\n")
}

// asError puts the problems in the order of the file. Problems of no line come last.
func asError(file string, problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Compare(uint(a.Line-1), uint(b.Line-1))
	})
	return &Error{File: file, Problems: problems}
}

// UnfinishedHint says how to finish a home of which only the draft of its configuration is there.
func UnfinishedHint(draft Config) string {
	shared := ""
	if _, _, host := gitremote.Host(draft.Remote); host {
		return fmt.Sprintf("finish it with the same invitation line, or another one: parley join --alias %s --human %s", draft.Alias, draft.Human)
	}
	if draft.Remote != "" {
		shared = " --remote " + redact.Remote(draft.Remote)
	}
	return fmt.Sprintf("finish it: parley init --alias %s --human %s%s", draft.Alias, draft.Human, shared)
}
