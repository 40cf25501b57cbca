package door

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/folders"
	"github.com/parleyfleet/parley/internal/pattern"
)

// The placeholders that the words of a Command may have if its Placeholders is true.
const (
	PromptPlaceholder = "{prompt}" // the text that would otherwise be standard input
	OutputPlaceholder = "{output}" // a file into which the command writes its answer
)

var (
	// plainPrefix is what may stand before {prompt} in its word, as in --message={prompt}.
	plainPrefix = pattern.New(`^[A-Za-z0-9_.,:=/+-]*$`)
	scriptFlag  = pattern.New(`(?i)^(-[a-z]*c|-e|--eval|--?command|/[ck])$`)
	scripted    = []string{
		"sh", "ash", "bash", "dash", "fish", "ksh", "zsh", "cmd", "powershell", "pwsh",
		"node", "perl", "python", "python3", "ruby",
	}
)

// CheckPlaceholders returns an error if the placeholders in `argv` cannot be filled in. What a
// message says must never become code. {prompt} may stand at the end of a word, after a plain
// beginning (--message={prompt}). It must not stand in the name of the program, or within a longer
// text, such as a script for sh -c. It must not follow the option by which a shell or another
// interpreter takes a script. It must not be in a command for ssh either, which hands its words to
// a shell at the other end.
func CheckPlaceholders(argv []string) error {
	for i, word := range argv {
		prefix, rest, found := strings.Cut(word, PromptPlaceholder)
		switch {
		case i == 0 && (found || strings.Contains(word, OutputPlaceholder)):
			return errors.New("the program's own name holds a placeholder")
		case !found:
			continue
		case rest != "" || !plainPrefix.MatchString(prefix):
			return fmt.Errorf("%s stands within %q, where a message could become part of a script: let it be a word of its own, or the end of one such as --message=%s",
				PromptPlaceholder, word, PromptPlaceholder)
		case becomesScript(argv[:i]):
			return fmt.Errorf("%s stands where %s takes a script, which a message must not write: use a command that reads standard input",
				PromptPlaceholder, argv[0])
		}
	}
	return nil
}

// becomesScript reports whether the word after `before` is code for a program among these words.
func becomesScript(before []string) bool {
	for i, word := range before {
		name := strings.TrimSuffix(strings.ToLower(path.Base(filepath.ToSlash(word))), ".exe")
		if name == "ssh" {
			return true
		}
		options := before[i+1:]
		if slices.Contains(scripted, name) && len(options) > 0 && scriptFlag.MatchString(options[len(options)-1]) &&
			!slices.ContainsFunc(options, func(o string) bool { return !strings.HasPrefix(o, "-") && !strings.HasPrefix(o, "/") }) {
			return true
		}
	}
	return false
}

// filled is a Command whose placeholders are filled in.
type filled struct {
	Command
	argument bool   // the input has become an argument
	folder   string // private folder for the answer's file; "" if there is none
}

// answerFile is the path at which the command was told to write its answer. A command of another
// user has a folder of its own below the private one. So it can put nothing in the place of that.
func (f filled) answerFile() string {
	if f.User != nil {
		return filepath.Join(f.folder, "of", "answer")
	}
	return filepath.Join(f.folder, "answer")
}

// openFolder lets the command's user write its answer, if that is not the node's user.
func (f filled) openFolder() error {
	if f.User == nil {
		return nil
	}
	const passable, private = 0o711, 0o700
	if err := os.Chmod(f.folder, passable); err != nil {
		return err
	}
	inner := filepath.Dir(f.answerFile())
	if err := os.Mkdir(inner, private); err != nil {
		return err
	}
	return os.Chown(inner, int(f.User.UID), int(f.User.GID))
}

// fill puts the input and the path of a new file for the answer in the place of the placeholders of
// `c`. The caller removes the folder, if there is one.
func (c Command) fill() (filled, error) {
	f := filled{Command: c}
	if !c.Placeholders || len(c.Argv) == 0 {
		return f, nil
	}
	if err := CheckPlaceholders(c.Argv); err != nil {
		return f, err
	}
	holds := func(mark string) bool {
		return slices.ContainsFunc(c.Argv, func(word string) bool { return strings.Contains(word, mark) })
	}
	if holds(OutputPlaceholder) {
		// Absolute, because the command may work in another folder than the node.
		dir, err := filepath.Abs(cmp.Or(c.Scratch, folders.Temporary()))
		if err != nil {
			return f, fmt.Errorf("no place for its answer: %w", err)
		}
		folder, err := os.MkdirTemp(dir, "parley-answer-")
		if err != nil {
			return f, fmt.Errorf("no place for its answer: %w", err)
		}
		f.folder = folder
		if err := f.openFolder(); err != nil {
			f.remove()
			return f, fmt.Errorf("no place for its answer: %w", err)
		}
	}
	if f.argument = holds(PromptPlaceholder); f.argument {
		f.Stdin = nil
	}
	f.Argv = each.Of(c.Argv, func(word string) string { return f.word(word, c.Stdin) })
	return f, nil
}

func (f filled) word(word string, input []byte) string {
	text := strings.ReplaceAll(string(input), "\x00", "␀") // a NUL would end an argument
	if strings.HasPrefix(word, PromptPlaceholder) && strings.HasPrefix(text, "-") {
		text = " " + text // otherwise the program would take it for an option
	}
	return strings.NewReplacer(PromptPlaceholder, text, OutputPlaceholder, f.answerFile()).Replace(word)
}

// remove removes the answer's file and its folder.
func (f filled) remove() {
	if f.folder != "" {
		_ = os.RemoveAll(f.folder) // it is in the system's folder for temporary files
	}
}

// tooLong says that an argument cannot hold the input.
func tooLong(limit string) error {
	return fmt.Errorf("its text is too long for an argument (%s): use a command that reads standard input instead of %s", limit, PromptPlaceholder)
}
