// Command manual writes the man pages of parley and the scripts by which shells complete its
// commands, for the packages of a release:
//
//	go run ./cmd/manual DIR
//
// They are made from the tree of commands. So they say what the program says, and the program
// itself does not carry what makes them.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/spf13/cobra"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write makes all files below a folder, which is emptied before.
func write(dir string) error {
	tree := root.New(cli.New(strings.NewReader(""), io.Discard, io.Discard, func(string) string { return "" }))
	files := map[string][]byte{}
	for name, generate := range map[string]func(io.Writer) error{
		"parley.bash": func(w io.Writer) error { return tree.GenBashCompletionV2(w, true) },
		"_parley":     tree.GenZshCompletion,
		"parley.fish": func(w io.Writer) error { return tree.GenFishCompletion(w, true) },
		"parley.ps1":  tree.GenPowerShellCompletionWithDesc,
	} {
		var text bytes.Buffer
		if err := generate(&text); err != nil {
			return err
		}
		files[filepath.Join("completions", name)] = text.Bytes()
	}
	for name, page := range pages(tree) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed) // without a time: the same text gives the same bytes
		_, err := io.WriteString(z, page)
		if err == nil {
			err = z.Close()
		}
		if err != nil {
			return err
		}
		files[filepath.Join("man1", name+".1.gz")] = packed.Bytes()
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for name, data := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pages are the man pages: one of the program, and one of each command below it, in which stands all
// that is below that.
func pages(tree *cobra.Command) map[string]string {
	all := map[string]string{}
	var list strings.Builder
	for _, cmd := range tree.Commands() {
		if cmd.Short == "" || cmd.Name() == "help" {
			continue
		}
		name := "parley-" + cmd.Name()
		all[name] = begin(name, cmd.Short) + about(cmd) + below(cmd) + seeAlso
		fmt.Fprintf(&list, ".TP\n.BR %s (1)\n%s\n", escaped(name), escaped(cmd.Short))
	}
	all["parley"] = begin("parley", tree.Short) + about(tree) + ".SH COMMANDS\n" + list.String()
	return all
}

const seeAlso = ".SH SEE ALSO\n.BR parley (1)\n"

func begin(name, short string) string {
	return fmt.Sprintf(".TH %s 1 \"\" \"parley %s\" \"parley\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(escaped(name)), cli.Version, escaped(name), escaped(short))
}

// about is what the help of a command says, as sections.
func about(cmd *cobra.Command) string {
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	page := ".SH SYNOPSIS\n" + verbatim(cmd.UseLine()) + ".SH DESCRIPTION\n" + verbatim(text)
	if flags := cmd.NonInheritedFlags().FlagUsages(); flags != "" {
		page += ".SH OPTIONS\n" + verbatim(flags)
	}
	if cmd.Example != "" {
		page += ".SH EXAMPLES\n" + verbatim(cmd.Example)
	}
	return page
}

// below are the commands below a command, each with its own sections one level deeper.
func below(cmd *cobra.Command) string {
	var page strings.Builder
	for _, sub := range cmd.Commands() {
		if sub.Hidden || sub.Short == "" {
			continue
		}
		page.WriteString(".SH " + strings.ToUpper(escaped(strings.TrimPrefix(sub.CommandPath(), "parley "))) + "\n")
		page.WriteString(strings.ReplaceAll(about(sub), ".SH ", ".SS "))
		page.WriteString(below(sub))
	}
	return page.String()
}

// verbatim is text that keeps its lines: help is laid out for 80 columns.
func verbatim(text string) string {
	var page strings.Builder
	page.WriteString(".nf\n")
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		page.WriteString(escaped(strings.TrimRight(line, "\n")) + "\n")
	}
	page.WriteString(".fi\n")
	return page.String()
}

// escaped is a line in which nothing is an instruction to the program that shows man pages.
func escaped(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}
