package door

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxLine bounds a command line, in bytes.
const maxLine = 64 << 10

// SplitCommand splits a command line into the words that a shell would make of it (quotes,
// escapes), so that it can be run without a shell. The line must be one simple command of literal
// words. Anything that needs a shell to have a meaning (a pipe, a redirection, $variables, globs, ~
// …) is refused, with an error that names it: running it literally would surprise people.
func SplitCommand(line string) ([]string, error) {
	argv, err := split(strings.TrimRight(line, "\r\n"))
	if err != nil {
		return nil, fmt.Errorf("cannot split the command %s: %w", excerpt(line), err)
	}
	return argv, nil
}

func split(line string) ([]string, error) {
	switch {
	case len(line) > maxLine:
		return nil, fmt.Errorf("it is longer than %d bytes", maxLine)
	case !utf8.ValidString(line):
		return nil, errors.New("it is not valid UTF-8")
	case strings.Contains(line, "\x00"):
		return nil, errors.New("it contains a NUL byte")
	case strings.Contains(line, "\r"):
		return nil, errors.New("it contains a carriage return")
	}
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
	file, err := parser.Parse(strings.NewReader(line), "")
	if err != nil {
		var parseErr syntax.ParseError
		if errors.As(err, &parseErr) {
			return nil, fmt.Errorf("at character %d: %s", parseErr.Pos.Col(), parseErr.Text)
		}
		return nil, err
	}
	call, err := simpleCommand(file)
	if err != nil {
		return nil, err
	}
	argv := make([]string, len(call.Args))
	for i, word := range call.Args {
		if argv[i], err = literal(word); err != nil {
			return nil, err
		}
	}
	if argv[0] == "" {
		return nil, errors.New("its first word, the program, is empty")
	}
	return argv, nil
}

// needsShell is the error for something that only a shell can do.
func needsShell(what string) error {
	return fmt.Errorf("it holds %s; it runs without a shell: quote that, or write  sh -c '…'  if a shell is wanted", what)
}

// simpleCommand returns the one command of the line. The error says what else is there.
func simpleCommand(file *syntax.File) (*syntax.CallExpr, error) {
	switch {
	case len(file.Last) > 0:
		return nil, needsShell("a comment (#)")
	case len(file.Stmts) == 0:
		return nil, errors.New("it is empty")
	case len(file.Stmts) > 1:
		return nil, needsShell("several commands")
	}
	stmt := file.Stmts[0]
	switch {
	case len(stmt.Comments) > 0:
		return nil, needsShell("a comment (#)")
	case stmt.Negated:
		return nil, needsShell("a negation (!)")
	case stmt.Background || stmt.Coprocess || stmt.Disown:
		return nil, needsShell("a background command (&)")
	case len(stmt.Redirs) > 0:
		return nil, needsShell(fmt.Sprintf("a redirection (%s)", stmt.Redirs[0].Op))
	case stmt.Semicolon.IsValid():
		return nil, needsShell("a semicolon (;)")
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	switch {
	case !ok:
		return nil, needsShell(commandKind(stmt.Cmd))
	case len(call.Assigns) > 0:
		return nil, needsShell("an assignment (NAME=value)")
	}
	return call, nil
}

func commandKind(cmd syntax.Command) string {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			return fmt.Sprintf("a pipe (%s)", c.Op)
		}
		return fmt.Sprintf("two commands joined by %s", c.Op)
	case *syntax.Subshell:
		return "a subshell (( … ))"
	case *syntax.Block:
		return "a block ({ … })"
	case *syntax.DeclClause:
		return fmt.Sprintf("the shell's own command %s", c.Variant.Value)
	case *syntax.FuncDecl:
		return "a function"
	default:
		return "a word that is a shell's own (such as if, for, while, case, time, let or [[)"
	}
}

func literal(word *syntax.Word) (string, error) {
	var out strings.Builder
	var braces braceScan
	for i, part := range word.Parts {
		var err error
		switch p := part.(type) {
		case *syntax.Lit:
			if err = unquoted(&out, p.Value, i == 0, len(word.Parts) == 1); err == nil {
				err = braces.scan(p.Value)
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", needsShell("a quotation of bash ($'…')")
			}
			out.WriteString(p.Value)
		case *syntax.DblQuoted:
			err = doubleQuoted(&out, p)
		default:
			err = needsShell(partKind(part))
		}
		if err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

// unquoted resolves backslashes, and refuses characters that a shell would expand to file names or
// a home.
func unquoted(out *strings.Builder, s string, first, whole bool) error {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				out.WriteByte(s[i])
			}
		case c == '*' || c == '?' || c == '[' && !(whole && s == "["):
			return needsShell(fmt.Sprintf("a pattern for file names (%c)", c))
		case c == '~' && (i == 0 && first || i > 0 && (s[i-1] == '=' || s[i-1] == ':')):
			return needsShell("a home directory (~)")
		default:
			out.WriteByte(c)
		}
	}
	return nil
}

// braceScan finds {a,b} and {a..b} in the unquoted parts of one word. The parser's own search takes
// escaped braces for real ones.
type braceScan struct {
	open []bool // for each open brace: whether it contains , or ..
}

func (b *braceScan) scan(s string) error {
	for i := 0; i < len(s); i++ {
		switch top := len(b.open) - 1; {
		case s[i] == '\\':
			i++
		case s[i] == '{':
			b.open = append(b.open, false)
		case top < 0:
		case s[i] == ',' || strings.HasPrefix(s[i:], ".."):
			b.open[top] = true
		case s[i] == '}' && b.open[top]:
			return needsShell("a brace expansion ({a,b})")
		case s[i] == '}':
			b.open = b.open[:top]
		}
	}
	return nil
}

// doubleQuoted resolves the few escapes that count between double quotes.
func doubleQuoted(out *strings.Builder, q *syntax.DblQuoted) error {
	if q.Dollar {
		return needsShell(`a translated text ($"…")`)
	}
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return needsShell(partKind(part))
		}
		s := lit.Value
		for i := 0; i < len(s); i++ {
			if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
				i++
				if s[i] == '\n' {
					continue
				}
			}
			out.WriteByte(s[i])
		}
	}
	return nil
}

func partKind(part syntax.WordPart) string {
	switch p := part.(type) {
	case *syntax.ParamExp:
		if p.Param != nil {
			return fmt.Sprintf("a variable ($%s)", p.Param.Value)
		}
		return "a variable"
	case *syntax.CmdSubst:
		return "a command substitution ($(…) or `…`)"
	case *syntax.ArithmExp:
		return "an arithmetic expression ($((…)))"
	case *syntax.ProcSubst:
		return fmt.Sprintf("a process substitution (%s…))", p.Op)
	default:
		return "a pattern for file names"
	}
}

// excerpt quotes the line for an error. If it is long, its middle is left out.
func excerpt(line string) string {
	const most = 120
	runes := []rune(line)
	if len(runes) > most {
		line = string(runes[:most/2]) + " … " + string(runes[len(runes)-most/2:])
	}
	return fmt.Sprintf("%q", line)
}
