package protocol

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// FormHead is the first line of a body in the form of the seeds, behind the heading: who
// says it, of which topic, when. What counts of a message is its author, channel and
// timestamp; these lines are for those who read it, and absent ones are empty.
type FormHead struct {
	From  string
	With  string // the other participant, where a topic is opened
	Topic string
	At    time.Time // UTC, to the millisecond
	// Mark says how the words were made, where no agent wrote them: "mechanical" (R66).
	Mark string
}

// Mechanical is the mark of words that a program put together and no agent wrote.
const Mechanical = "mechanical"

// form is a body in the form of the seeds: a heading with fields beside it, and below it
// fields in capitals.
//
//	REJECT | from: mawjs | timestamp: 2026-04-15T10:22:00.000Z
//	ITEM: [A1] Heartbeat keys are PROGRESS/STUCK/DONE/ABORT
//	REASON: STUCK is no state
//	  but the lack of one
//
// A field goes on in lines that are indented, and in others up to the next blank line.
type form struct {
	FormHead
	all    map[string]string // fields beside the heading, by key in lower case
	fields map[string]string // those below it, by key in capitals
	lines  []string          // all lines below the heading
}

var (
	fieldPattern  = regexp.MustCompile(`^(\s*(?:[-*#]\s+)?)(\**)([A-Za-z][A-Za-z-]*)(\**)\s*:(\**)(?:\s+|$)(.*)$`)
	nextPattern   = regexp.MustCompile(`^[A-Z][A-Z-]*(?: [A-Z][A-Z-]*){0,2} \| from:`)
	otherPattern  = regexp.MustCompile(`^[A-Z][A-Z-]+:(\s|$)`)
	listMark      = regexp.MustCompile(`^\s*(?:[-*•]|[0-9]{1,3}[.)])\s+`)
	indentPattern = regexp.MustCompile(`^(?:  |\t)`)
)

// keyOf is what fieldPattern finds, which is slow where there is nothing: most lines are
// no fields, but items of lists.
func keyOf(line string) []string {
	begins := strings.TrimLeft(line, "\t\n\f\r -*#")
	if begins == "" || begins[0]|0x20 < 'a' || begins[0]|0x20 > 'z' || strings.IndexByte(begins, ':') < 0 {
		return nil
	}
	return fieldPattern.FindStringSubmatch(line)
}

// readForm reads a body in that form and those of its fields that are named by keys. It
// takes what people and language models make of the form: words before and after it,
// fences, bold keys, lists. Of a field that stands twice the first counts.
func readForm(heading, body string, keys ...string) form {
	lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	f := form{all: map[string]string{}, fields: map[string]string{}}
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
	for i, line := range lines { // what another heading begins is another form
		if nextPattern.MatchString(line) {
			lines = lines[:i]
			break
		}
	}
	f.lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "```") })
	f.readFields(keys)
	return f
}

// cutHeading is what stands behind the heading in a line that begins with it.
func cutHeading(heading, line string) (rest string, ok bool) {
	line = strings.TrimLeft(line, " \t*#`")
	if len(line) < len(heading) || !strings.EqualFold(headingKey(line[:len(heading)]), headingKey(heading)) {
		return "", false
	}
	rest = strings.TrimLeft(line[len(heading):], " *`:")
	return rest, rest == "" || rest[0] == '|'
}

func (f *form) readHead(rest string) {
	for part := range strings.SplitSeq(rest, "|") {
		key, value, ok := strings.Cut(strings.Trim(part, " \t*`"), ":")
		key = strings.ToLower(strings.TrimSpace(key))
		if _, known := f.all[key]; ok && !known {
			f.all[key] = flatText(value)
		}
	}
	f.From, f.With, f.Topic, f.Mark = f.all["from"], f.all["with"], f.all["topic"], f.all["mark"]
	f.At, _ = ParseInstant(f.all["timestamp"]) // the message's own is what counts
}

func (f *form) readFields(keys []string) {
	key, gap, found := "", false, map[string][]string{}
	for _, line := range f.lines {
		indented := indentPattern.MatchString(line)
		switch m := keyOf(line); {
		case strings.TrimSpace(line) == "":
			gap = true
			continue
		case m != nil && (key == "" || !indented) && slices.Contains(keys, strings.ToUpper(m[3])):
			key, gap = strings.ToUpper(m[3]), false
			if found[key] != nil {
				key = ""
				continue
			}
			value := strings.TrimSpace(m[6])
			if m[2] != "" && m[4] == "" && m[5] == "" {
				value = strings.TrimSuffix(value, m[2])
			}
			found[key] = []string{value}
			continue
		case key == "":
			continue
		case !indented && (gap || otherPattern.MatchString(line)):
			key = ""
			continue
		}
		if gap {
			found[key] = append(found[key], "")
			gap = false
		}
		found[key] = append(found[key], indentPattern.ReplaceAllString(line, ""))
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
		m := keyOf(line)
		switch {
		case m != nil && strings.EqualFold(m[3], key):
			within = true
			continue
		case !within:
			continue
		case otherPattern.MatchString(line):
			within = false
			continue
		}
		item := strings.TrimSpace(listMark.ReplaceAllString(line, ""))
		if (strings.HasPrefix(item, "[") || listMark.MatchString(line)) && item != "" {
			items = append(items, flatText(item))
		}
	}
	return items
}

// flat is a field as one line.
func (f *form) flat(key string) string { return flatText(f.fields[key]) }

// text is a field as it may have several lines.
func (f *form) text(key string) string { return longText(f.fields[key]) }

// flatText is a text as one line: no control characters, one blank between words.
func flatText(s string) string {
	if isFlat(s) {
		return s
	}
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// isFlat reports whether a text of ASCII alone is flat already, as most are. It reports that
// none other is: to make it flat is slow.
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

// longText is a text of lines without control characters, blanks at their ends and more
// than one empty line in a row.
func longText(s string) string {
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

// formWriter writes a body that readForm reads.
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

// line adds a line that is only for those who read it.
func (w *formWriter) line(text string) *formWriter {
	w.WriteString("\n" + text)
	return w
}
