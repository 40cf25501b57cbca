package calls

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// errSays says that an answer is empty.
var errSays = errors.New("it says nothing")

// object is a JSON object in an answer, and where it stands there.
type object struct {
	text     string
	from, to int
	err      error // why it is no valid object in the end
}

func block(answer string, into any, keys ...string) (object, error) {
	all := objects(answer)
	for _, o := range slices.Backward(all) {
		var fields map[string]json.RawMessage
		if o.err != nil || json.Unmarshal([]byte(o.text), &fields) != nil {
			continue
		}
		for name := range fields {
			if !slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, name) }) {
				continue
			}
			if err := json.Unmarshal([]byte(o.text), into); err != nil {
				return o, fmt.Errorf("the JSON is not of that form: %w", err)
			}
			return o, nil
		}
	}
	for _, o := range all { // the first one is the outermost
		if o.err != nil && slices.ContainsFunc(keys, func(k string) bool { return strings.Contains(o.text, `"`+k+`"`) }) {
			return o, fmt.Errorf("it is no JSON: %w", o.err)
		}
	}
	return object{}, fmt.Errorf("it has no JSON object with %s", strings.Join(keys, ", "))
}

// maxScans bounds how often the bytes of an answer are read in the search for complete objects.
const maxScans = 16

// objects are the JSON objects of a text that are not within another one, in their order. A text
// that begins like an object and is none is among them, with its error.
func objects(text string) (all []object) {
	left := maxScans * len(text)
	for i := 0; i < len(text) && left > 0; i++ {
		if text[i] != '{' {
			continue
		}
		if inner := strings.TrimLeft(text[i+1:], " \t\r\n"); inner == "" || inner[0] != '"' && inner[0] != '}' {
			continue // a brace of prose, or of code
		}
		n, ends := scan(text[i:])
		left -= n
		o := object{text: mended(text[i : i+n]), from: i, to: i + n}
		if o.err = json.Unmarshal([]byte(o.text), new(map[string]json.RawMessage)); o.err == nil && ends {
			i += n - 1
		}
		all = append(all, o)
	}
	return all
}

// scan is the length of the object with which a text begins. An object without an end goes to the
// end of the text.
func scan(text string) (n int, ends bool) {
	depth, quoted, escaped := 0, false, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case escaped:
			escaped = false
		case quoted && b == '\\':
			escaped = true
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{':
			depth++
		case b == '}':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(text), false
}

// mended is JSON without the usual mistakes of language models: line breaks within a string, and a
// comma before the end of a list.
func mended(text string) string {
	var b strings.Builder
	quoted, escaped := false, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted && c == '\n':
			b.WriteString(`\n`)
			continue
		case quoted && c == '\t':
			b.WriteString(`\t`)
			continue
		case quoted && c == '\r':
			continue
		case !quoted && c == ',':
			if rest := strings.TrimLeft(text[i+1:], " \t\r\n"); rest != "" && (rest[0] == ']' || rest[0] == '}') {
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// fence is the line that opens a fenced block, at the end of the text before the block.
var fence = pattern.New("```[A-Za-z]*[ \t]*\n?\\s*$")

func without(answer string, o object) (before, after string) {
	before, after = answer[:o.from], answer[o.to:]
	if at := fence.Regexp().FindStringIndex(before); at != nil {
		before = before[:at[0]]
		after = strings.TrimPrefix(strings.TrimLeft(after, " \t\r\n"), "```")
	}
	return strings.TrimRight(before, " \t\n"), after
}

// Bare is an answer in prose, without a fence around all of it.
func Bare(answer string) string {
	text := strings.TrimSpace(strings.ReplaceAll(answer, "\r\n", "\n"))
	first, inner, _ := strings.Cut(text, "\n")
	kind, fenced := strings.CutPrefix(strings.ToLower(strings.TrimSpace(first)), "```")
	if !fenced || !strings.HasSuffix(inner, "```") || strings.Count(text, "```") > 2 && kind != "markdown" && kind != "md" {
		return text // more fences without a kind may be two blocks
	}
	return strings.TrimSpace(strings.TrimSuffix(inner, "```"))
}

// cutDone takes the mark off a message that says that a peer has no more to say. A message that is
// nothing but the mark stays as it is.
func cutDone(answer string) (text string, done bool) {
	text = Bare(answer)
	i := strings.LastIndexByte(text, '\n')
	if !strings.EqualFold(strings.Trim(strings.TrimSpace(text[i+1:]), "*_`.[]"), "DONE") {
		return text, false
	}
	if rest := strings.TrimSpace(text[:max(i, 0)]); rest != "" {
		return rest, true
	}
	return text, true
}

// exact is how words stand in a text. A quote is corrected if it differs only in white space, in
// emphasis, or in the form of its quotation marks and dashes. Quotation marks and dots around it
// are removed. Any other quote is left as it is, and is found to be none.
func exact(text, words string) string {
	words = strings.TrimSpace(words)
	for _, w := range []string{words, strings.Trim(words, " \t\n\"'`*\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"), strings.Trim(words, " \t\n\"'\u201c\u201d\u2026.")} {
		if w == "" {
			continue
		}
		if strings.Contains(text, w) {
			return w
		}
		if stands := standing(text, w); stands != "" {
			return stands
		}
	}
	return words
}

// standing is the place where a text has words in their folded form; "" if it does not have them.
func standing(text, words string) string {
	want := folded(words)
	if want == "" {
		return ""
	}
	var at []int // for each byte of the folded form, its place in the text
	var b strings.Builder
	space := true
	for i, r := range text {
		f := foldRune(r)
		if f == " " {
			if space {
				continue
			}
			space = true
		} else if f != "" {
			space = false
		}
		for range len(f) {
			at = append(at, i)
		}
		b.WriteString(f)
	}
	at = append(at, len(text))
	i := strings.Index(b.String(), want)
	if i < 0 {
		return ""
	}
	return strings.TrimSpace(text[at[i]:at[i+len(want)]])
}

func folded(words string) string {
	var b strings.Builder
	for _, r := range words {
		b.WriteString(foldRune(r))
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func foldRune(r rune) string {
	switch r {
	case '\u2018', '\u2019', '\u201a':
		return "'"
	case '\u201c', '\u201d', '\u201e', '\u00ab', '\u00bb':
		return `"`
	case '\u2010', '\u2011', '\u2013', '\u2014':
		return "-"
	case '\u2026':
		return "..."
	case '*', '`':
		return ""
	case ' ', '\t', '\n', '\r', '\u00a0', '\u202f':
		return " "
	}
	return string(r)
}

func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// word is a name or a key, without the marks that stand around it.
func word(text string) string { return strings.Trim(line(text), "\"'`*#:\u201c\u201d ") }

func keyword(text string, list ...string) string {
	plain := func(s string) string {
		return strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(word(s)))
	}
	for _, one := range list {
		if plain(one) == plain(text) {
			return one
		}
	}
	return text
}

func cutLine(text string) string {
	const most = 480 // bytes
	if text = line(text); len(text) > most {
		text = strings.TrimSpace(strings.ToValidUTF8(text[:most], "")) + "…"
	}
	return text
}
