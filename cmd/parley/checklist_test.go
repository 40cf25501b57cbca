package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lines is what must hold of the record and of what runs its agents: the parts A (gates
// and layout), B (messages), C (hosts and dispatch), D (what others got wrong) and E
// (commands) of the checklist of the Crosstalk form. A test says in its comment which it
// shows: "Crosstalk C20".
var lines = map[string]string{
	"A1":  "the order at a start; a gate that fails names the file and the fix, and nothing is written",
	"A2":  "init makes the folders and the default profile, and never overwrites",
	"A3":  "what is pushed with plain git is picked up; git's identity is never set",
	"A4":  "files outside data/channels and data/memories are no messages",
	"B5":  "paths and names, and that their order is that of messages",
	"B6":  "required and optional fields; unknown ones are kept",
	"B7":  "to: one name, a list, all, name@alias; never the sender",
	"B8":  "what is malformed is skipped, with one warning",
	"B9":  "receipts",
	"B10": "re, replies and thread",
	"B11": "channels, CHANNEL.md, sub-channels",
	"B12": "actor profiles: local over upstream, duplicates halt",
	"B13": "memories",
	"C14": "which host this is; the host file is published from its own configuration",
	"C15": "which instance is chosen; each tier with its own command",
	"C16": "name@alias of this host that is not served: one warning",
	"C17": "what an agent is given, and that nobody else's mail is in it",
	"C18": "how a command is started: argv, folder, standard input, environment",
	"C19": "timeout, process group, bounded output, an input closed early",
	"C20": "retries with growing pauses, then a dead letter; the sender is told",
	"C21": "dlq list, show, retry, drop",
	"C22": "no agent waits for another; count bounds a tier; oldest first",
	"C23": "a crash runs nothing twice and skips nothing",
	"C24": "wake; the socket is private",
	"D25": "the first message in an empty channel is answered",
	"D26": "20 messages in one push: 20 answers, in order, once each",
	"D27": "an older-dated message pushed later is answered",
	"D28": "a hung command stops no other agent, and ends at its timeout",
	"D29": "300 kB to a command that closes its input",
	"D30": "while pushes fail a command runs once",
	"D31": "send from a record that is behind",
	"D32": "200 sends against a busy node",
	"D33": "--to 'x$(touch pwned)' runs nothing",
	"D34": "the command of a host file that others edited is not run",
	"D35": "the second of two nodes with one alias stays out",
	"D36": "50,000 old messages cost no time",
	"D37": "replies of 8 MB, binary output, invalid UTF-8",
	"E38": "the commands, their help, exit codes and --json",
	"E39": "chat, open, attach",
	"E40": "exit codes",
	"E41": "profiles are browsed, added and brought up to date from a source",
}

// It prevents: a part of what must hold that no test shows any more, because a test was
// removed or never written.
func TestEveryLineOfTheChecklistHasATest(t *testing.T) {
	shown := map[string][]string{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(name, ".") && strings.Trim(name, ".") != "":
			return fs.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			return marksOfTests(path, shown)
		case filepath.Ext(name) == ".txtar":
			return marksOfScript(path, shown)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		if tests := shown[line]; len(tests) == 0 {
			t.Errorf("no test names line %s: %s", line, lines[line])
		} else {
			t.Logf("%s %s: %s", line, lines[line], strings.Join(tests, ", "))
		}
		delete(shown, line)
	}
	for line, tests := range shown {
		t.Errorf("there is no line %s, which %s names", line, strings.Join(tests, ", "))
	}
}

// checklistMark is how a test names a line.
var checklistMark = regexp.MustCompile(`\bCrosstalk\s([A-E][0-9]+)\b`)

// marksOfTests notes the lines that the comments of a file's tests name.
func marksOfTests(path string, shown map[string][]string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
			for _, mark := range checklistMark.FindAllStringSubmatch(f.Doc.Text(), -1) {
				shown[mark[1]] = append(shown[mark[1]], f.Name.Name)
			}
		}
	}
	return nil
}

// marksOfScript notes the lines that the comments of a script name.
func marksOfScript(path string, shown map[string][]string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "-- ") {
			return nil // the files that it needs follow
		}
		if strings.HasPrefix(line, "#") {
			for _, mark := range checklistMark.FindAllStringSubmatch(line, -1) {
				shown[mark[1]] = append(shown[mark[1]], filepath.Base(path))
			}
		}
	}
	return nil
}
