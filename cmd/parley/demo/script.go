package demo

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/spf13/cobra"
)

// demonstration is one run of a demo: of a script in the form of the script tests.
//
// A line "# TEXT" begins a step, whose heading is the text; "## TEXT" is for the reader of the
// script. Other lines begin with one of the words in words.go. '…' keeps spaces and $ in a word;
// elsewhere $NAME is what capture has found. Files of the demo stand behind the script.
type demonstration struct {
	out    term.Screen
	root   func(*cli.Program) *cobra.Command
	rest   time.Duration // the pause between steps, for the reader
	dir    string
	binary string // path of the program parley

	step    int
	at      string // the host, or the folder, at which commands are typed
	found   map[string]string
	stdout  string // of the last command
	stderr  string
	cut     *regexp.Regexp // what is not shown of what commands print
	instead string
	behind  []*background
}

// section is a file in a script, or in another text that has such files.
type section struct{ name, text string }

// sections splits a text into what stands before the first file, in lines, and the files.
func sections(text string) (lines []string, files []section) {
	all := regexp.MustCompile(`(?m)^-- (.+) --\n`).FindAllStringSubmatchIndex(text, -1)
	end := len(text)
	for _, m := range slices.Backward(all) {
		files = append(files, section{text[m[2]:m[3]], text[m[1]:end]})
		end = m[0]
	}
	slices.Reverse(files)
	return strings.Split(text[:end], "\n"), files
}

func (d *demonstration) perform(ctx context.Context, lines []string) error {
	d.found = map[string]string{}
	for _, line := range lines {
		if line == "" || strings.HasPrefix(line, "##") {
			continue
		}
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			if err := d.begin(ctx, heading); err != nil {
				return err
			}
			continue
		}
		args := d.split(line)
		refused := args[0] == "!"
		if refused {
			args = args[1:]
		}
		if err := words[args[0]](d, ctx, refused, args[1:]); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// begin leaves time to read the step that ends, and shows the heading of the next one.
func (d *demonstration) begin(ctx context.Context, heading string) error {
	if d.step > 0 && !wait.Sleep(ctx, d.rest) {
		return ctx.Err()
	}
	d.step++
	d.out.Printf("\n")
	for _, line := range term.Wrap(fmt.Sprintf("%d  %s", d.step, heading), d.out.Width) {
		d.out.Printf("%s\n", d.out.Bold(line))
	}
	return nil
}

func (d *demonstration) split(line string) []string {
	all := regexp.MustCompile(`(?:'[^']*'|[^'\s])+`).FindAllString(line, -1)
	pieces := regexp.MustCompile(`'[^']*'|[^']+`)
	for i, word := range all {
		all[i] = pieces.ReplaceAllStringFunc(word, func(piece string) string {
			if strings.HasPrefix(piece, "'") {
				return strings.Trim(piece, "'")
			}
			return os.Expand(piece, func(name string) string { return d.found[name] })
		})
	}
	return all
}

// show prints a command as a person would type it, in lines that fit the terminal.
func (d *demonstration) show(args []string) {
	shown, width := "  "+d.out.Dim(d.at+"$"), len("  "+d.at+"$")
	program := slices.IndexFunc(args, func(arg string) bool { return !strings.Contains(arg, "=") })
	for i, word := range args {
		if i > program {
			word = cli.ShellWord(word)
		}
		if width += 1 + term.Width(word); i > program && d.out.Width > 0 && width+len(" \\") > d.out.Width {
			shown, width = shown+" \\\n     ", len("      ")+term.Width(word)
		}
		shown += " " + word
	}
	d.out.Printf("%s\n", shown)
}

// indent shows what a command has printed. A line that the terminal would break anywhere is broken
// at a space, and continues below itself.
func (d *demonstration) indent(text string) {
	for line := range strings.Lines(text) {
		if d.cut != nil {
			line = d.cut.ReplaceAllLiteralString(line, d.instead)
		}
		before := marginText
		for _, part := range term.Wrap(term.Line(strings.TrimRight(line, "\r\n")), d.out.Width-6) {
			d.out.Printf("%s%s\n", before, part)
			before = marginText + "  "
		}
	}
}

const marginText = "    "

// margin is a screen that puts a margin before each line. It has to be given whole lines.
type margin struct{ term.Screen }

// Write writes whole lines.
func (m margin) Write(data []byte) (int, error) {
	for line := range strings.Lines(string(data)) {
		if _, err := m.Screen.Write([]byte(marginText + line)); err != nil {
			return 0, err
		}
	}
	return len(data), nil
}
