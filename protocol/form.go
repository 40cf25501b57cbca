package protocol

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/parleyfleet/parley/internal/pattern"
)

// FormHead is the first line of a body in the form of the seeds, behind the heading: who says it,
// about which topic, and when. What counts is the author, the channel and the timestamp of the
// message itself. These fields are for people who read the body. A field that is not there is
// empty.
type FormHead struct {
	From  string
	With  string // the other participant, when a topic is opened
	Topic string
	At    time.Time // UTC, to the millisecond
	// Mark says how the words were made if no agent wrote them: "mechanical" (R66).
	Mark string
}

// Mechanical is the mark of words that a program put together and no agent wrote.
const Mechanical = "mechanical"

// form is a body in the form of the seeds: a heading with fields beside it, and below it fields in
// capitals.
//
//	REJECT | from: mawjs | timestamp: 2026-04-15T10:22:00.000Z
//	ITEM: [A1] Heartbeat keys are PROGRESS/STUCK/DONE/ABORT
//	REASON: STUCK is no state
//	  but the lack of one
//
// A field goes on in the lines that are indented. It also goes on in other lines, up to the next
// blank line.
type form struct {
	FormHead
	beside []besideField     // the fields on the line of the heading
	fields map[string]string // the fields below it, by key in capitals
	lines  []string          // all lines below the heading
}

var (
	nextPattern  = pattern.New(`^[A-Z][A-Z-]*(?: [A-Z][A-Z-]*){0,2} \| from:`)
	otherPattern = pattern.New(`^[A-Z][A-Z-]+:(\s|$)`)
)

// The functions below look at each line by hand: a year of topics has half a million lines, and
// patterns took most of the time of folding them. Tests hold these functions against the patterns.

// fieldLine is a line that begins a field: "- **ITEM:** text".
type fieldLine struct {
	bold        string // the stars before the key
	key         string
	ends, after string // the stars behind the key, and those behind its colon
	value       string
}

func beginsField(line string) (f fieldLine, ok bool) {
	rest := trimBlanks(line)
	if rest != "" && strings.IndexByte("-*#", rest[0]) >= 0 && len(rest) > 1 && isBlank(rest[1]) {
		rest = trimBlanks(rest[1:])
	}
	f.bold, rest = cutStars(rest)
	n := 0
	for n < len(rest) && (isLetter(rest[n]) || n > 0 && rest[n] == '-') {
		n++
	}
	f.key, rest = rest[:n], rest[n:]
	f.ends, rest = cutStars(rest)
	if rest, ok = strings.CutPrefix(trimBlanks(rest), ":"); !ok || n == 0 {
		return fieldLine{}, false
	}
	f.after, rest = cutStars(rest)
	f.value = trimBlanks(rest)
	if rest != "" && len(rest) == len(f.value) || strings.IndexByte(f.value, '\n') >= 0 {
		return fieldLine{}, false
	}
	return f, true
}

// cutMark takes the mark of a list off a line, and reports whether there was one.
func cutMark(line string) (rest string, ok bool) {
	rest, ok = trimBlanks(line), true
	switch n := len(rest) - len(strings.TrimLeft(rest, "0123456789")); {
	case n > 3 || n > 0 && (n == len(rest) || rest[n] != '.' && rest[n] != ')'):
		return line, false
	case n > 0:
		rest = rest[n+1:]
	case strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "*"):
		rest = rest[1:]
	default:
		rest, ok = strings.CutPrefix(rest, "•")
	}
	if !ok || rest == "" || !isBlank(rest[0]) {
		return line, false
	}
	return trimBlanks(rest), true
}

// cutIndent takes the indent off a line that continues a field. `ok` is false for a line without
// one.
func cutIndent(line string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(line, "  "); ok {
		return rest, true
	}
	return strings.CutPrefix(line, "\t")
}

// besideField is a field beside a heading, by its key in lower case.
type besideField struct{ key, value string }

func beginsForm(line string) bool {
	return line != "" && line[0] >= 'A' && line[0] <= 'Z' && strings.Contains(line, " | from:") && nextPattern.MatchString(line)
}

// beginsOther reports whether a line begins a field in capitals, whatever its key is.
func beginsOther(line string) bool {
	return line != "" && line[0] >= 'A' && line[0] <= 'Z' && strings.IndexByte(line, ':') > 0 && otherPattern.MatchString(line)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isBlank reports whether a byte is what patterns call \s.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r' }

func trimBlanks(s string) string {
	for s != "" && isBlank(s[0]) {
		s = s[1:]
	}
	return s
}

func cutStars(s string) (stars, rest string) {
	rest = strings.TrimLeft(s, "*")
	return s[:len(s)-len(rest)], rest
}

// readForm reads a body of the form that begins with `heading`, and those of its fields that `keys`
// names. It accepts what people and language models make of the form: words before and after it,
// fences, bold keys, lists. If a field stands twice, the first one counts.
func readForm(heading, body string, keys ...string) form {
	lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	f := form{fields: map[string]string{}}
	for i, line := range lines {
		rest, ok := cutHeading(heading, line)
		if !ok {
			continue
		}
		f.readHead(rest)
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		lines = lines[i+1:]
		for j := range lines {
			lines[j] = strings.TrimPrefix(lines[j], indent)
		}
		break
	}
	for i, line := range lines { // another heading begins another form
		if beginsForm(line) {
			lines = lines[:i]
			break
		}
	}
	f.lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "```") })
	f.readFields(keys)
	return f
}

// cutHeading is what stands behind the heading in a line that begins with that heading.
func cutHeading(heading, line string) (rest string, ok bool) {
	line = strings.TrimLeft(line, " \t*#`")
	if len(line) < len(heading) || line[0]|0x20 != heading[0]|0x20 || !strings.EqualFold(headingKey(line[:len(heading)]), headingKey(heading)) {
		return "", false
	}
	rest = strings.TrimLeft(line[len(heading):], " *`:")
	return rest, rest == "" || rest[0] == '|'
}

func (f *form) readHead(rest string) {
	f.beside = make([]besideField, 0, min(strings.Count(rest, "|")+1, 8))
	for part := range strings.SplitSeq(rest, "|") {
		key, value, ok := strings.Cut(strings.Trim(flatText(part), " *`"), ":")
		key = strings.ToLower(strings.TrimSpace(key))
		if ok {
			f.beside = append(f.beside, besideField{key, value})
		}
	}
	f.From, f.With, f.Topic, f.Mark = f.head("from"), f.head("with"), f.head("topic"), f.head("mark")
	f.At, _ = ParseInstant(f.head("timestamp")) // what counts is the message's own timestamp
}

// head is the field beside the heading with that key, or "". If there are several, the first one
// counts.
func (f *form) head(key string) string {
	for _, b := range f.beside {
		if b.key == key {
			return flatText(b.value)
		}
	}
	return ""
}

func (f *form) readFields(keys []string) {
	key, gap, found := "", false, map[string][]string{}
	for _, line := range f.lines {
		inner, indented := cutIndent(line)
		switch m, begins := beginsField(line); {
		case strings.TrimSpace(line) == "":
			gap = true
			continue
		case begins && (key == "" || !indented) && slices.Contains(keys, strings.ToUpper(m.key)):
			key, gap = strings.ToUpper(m.key), false
			if found[key] != nil {
				key = ""
				continue
			}
			value := strings.TrimSpace(m.value)
			if m.bold != "" && m.ends == "" && m.after == "" {
				value = strings.TrimSuffix(value, m.bold)
			}
			found[key] = []string{value}
			continue
		case key == "":
			continue
		case !indented && (gap || beginsOther(line)):
			key = ""
			continue
		}
		if gap {
			found[key] = append(found[key], "")
			gap = false
		}
		found[key] = append(found[key], inner)
	}
	for key, lines := range found {
		f.fields[key] = strings.Join(lines, "\n")
	}
}

// list is the lines of a list below a key, without their marks.
func (f *form) list(key string) []string {
	var items []string
	within := false
	for _, line := range f.lines {
		switch m, begins := beginsField(line); {
		case begins && strings.EqualFold(m.key, key) && !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "\t"): // other lines belong to a text
			within = true
			continue
		case !within:
			continue
		case beginsOther(line):
			within = false
			continue
		}
		item, marked := cutMark(line)
		if item = strings.TrimSpace(item); (marked || strings.HasPrefix(item, "[")) && item != "" {
			items = append(items, flatText(item))
		}
	}
	return items
}

func (f *form) flat(key string) string { return flatText(f.fields[key]) }

func (f *form) text(key string) string { return longText(f.fields[key]) }

// flatText makes one line of a text: without control characters, and with one blank between words.
func flatText(s string) string {
	if s = strings.Trim(s, " "); isFlat(s) { // a value has a blank before it
		return s
	}
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// isFlat reports whether a text is flat already, as most are. For a text with other characters than
// ASCII it reports false; flatText then takes the slow way.
func isFlat(s string) bool {
	before := byte(' ')
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == ' ' && before == ' ' {
			return false
		}
		before = s[i]
	}
	return before != ' ' || s == ""
}

// longText cleans a text of several lines: it takes out control characters, blanks at the ends of
// lines, and all but one of several empty lines in a row.
func longText(s string) string {
	if s == "" {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r) && r != '\n':
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\r\n", "\n"))
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		if line == "" && len(lines) > 0 && lines[len(lines)-1] == "" {
			continue
		}
		lines = append(lines, line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

type formWriter struct{ strings.Builder }

// writeForm begins a body: the heading and what stands beside it, in the seeds' order.
func writeForm(heading string, h FormHead, more ...string) *formWriter {
	w := &formWriter{}
	w.WriteString(heading + " |")
	sep := ""
	put := func(key, value string) {
		if value = strings.TrimSpace(strings.ReplaceAll(flatText(value), "|", "/")); value != "" {
			w.WriteString(sep + " " + key + ": " + value)
			sep = " |"
		}
	}
	put("from", h.From)
	put("with", h.With)
	for i := 0; i+1 < len(more); i += 2 {
		put(more[i], more[i+1])
	}
	put("topic", h.Topic)
	put("timestamp", formatInstant(h.At))
	put("mark", h.Mark)
	if sep == "" {
		w.WriteByte(' ') // so that the body is known by its heading
	}
	return w
}

// put adds a field, if there is anything to say.
func (w *formWriter) put(key, value string) *formWriter {
	if value = longText(value); value != "" {
		w.WriteString("\n" + key + ": ")
		for i, line := range strings.Split(value, "\n") {
			if i > 0 && line != "" {
				line = "  " + line
			}
			if i > 0 {
				line = "\n" + line
			}
			w.WriteString(line)
		}
	}
	return w
}

// line adds a line that is only for people who read the body.
func (w *formWriter) line(text string) *formWriter {
	w.WriteString("\n" + text)
	return w
}
