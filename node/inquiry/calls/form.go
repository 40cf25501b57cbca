package calls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/pattern"
)

// form is an answer taken apart: the texts below the headings that were asked for.
type form struct {
	sections map[string]string
	before   string // what stands before the first of them
}

// Result is what a member has found, with the headings of results (R57). Language models write these
// in many forms. What is in no section is the analysis, so that all of it can be quoted.
func Result(answer string) string {
	headings := inquiries.ResultSections()
	f, stands := taken(answer, headings)
	if f.before != "" && f.sections[inquiries.SectionAnalysis] == "" {
		f.sections[inquiries.SectionAnalysis], f.before = f.before, ""
	} else if stands {
		return Bare(answer)
	}
	return strings.TrimSpace(f.before + "\n\n" + f.text(headings))
}

// text is the form as it was asked for, without what is missing.
func (f form) text(headings []string) string {
	var b strings.Builder
	for _, h := range headings {
		s, found := f.sections[h]
		if !found {
			continue
		}
		if strings.Count("\n"+s, "\n```")%2 > 0 { // no heading counts in a fence
			s += "\n```"
		}
		b.WriteString("## " + h + "\n" + s + "\n\n")
	}
	return strings.TrimSpace(b.String())
}

// take adds a section. The first text of a section counts.
func (f form) take(heading, text string) {
	if text = strings.TrimSpace(text); heading != "" && f.sections[heading] == "" {
		f.sections[heading] = text
	}
}

// score is how many sections were found, and how many of them say something.
func (f form) score() (n int) {
	for _, s := range f.sections {
		if n++; s != "" {
			n++
		}
	}
	return n
}

// taken finds the sections of an answer, in the form in which most of them are found. `stands`
// reports that the headings that are found are written as they were asked for.
func taken(answer string, headings []string) (best form, stands bool) {
	bare := Bare(answer)
	sections, faults := inquiries.Sections(bare, headings...)
	for _, h := range headings {
		if slices.Contains(faults, fmt.Sprintf("%q is missing", h)) {
			delete(sections, h)
		}
	}
	best, stands = form{sections, strings.TrimSpace(strings.TrimSuffix(bare, fromHeading(bare, headings)))}, true
	for _, f := range append(jsonForms(bare, headings), proseForms(bare, headings)...) {
		if f.score() > best.score() {
			best, stands = f, false
		}
	}
	return best, stands
}

// letters is the words of a heading without marks, case and spaces.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// numbering is what stands before a heading's words: 1. or (a) or IV – or Section 2:
var numbering = pattern.New(`^[\s(\[*_]*(?:(?i:section|part|step)\s*)?(?:[0-9]{1,2}|[IVX]{1,4}|[A-Da-d])\s*[.):\]\x{2013}\x{2014}-]+\s*`)

// known is the heading that words stand for; "" for none.
func known(words string, headings []string) string {
	for _, w := range []string{words, numbering.Regexp().ReplaceAllString(words, "")} {
		for _, h := range headings {
			if letters(w) == letters(h) {
				return h
			}
		}
	}
	return ""
}

// jsonForms are the forms that the JSON objects of an answer may be: sections by their keys, in an
// object within, or in a list of objects that each have a heading and a text.
func jsonForms(answer string, headings []string) (all []form) {
	var list [][]field
	for _, o := range objects(answer) {
		if fields := fieldsOf([]byte(o.text)); fields != nil {
			all = append(all, formsOf(fields, headings)...)
			list = append(list, fields)
		}
	}
	return append(all, formOf(titled(list), headings))
}

type field struct {
	key   string
	value json.RawMessage
}

// fieldsOf are the fields of a JSON object, in their order; nil if it is none.
func fieldsOf(object json.RawMessage) (fields []field) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		var f field
		if f.key, _ = key.(string); err != nil || d.Decode(&f.value) != nil {
			return nil
		}
		fields = append(fields, f)
	}
	return fields
}

func formsOf(fields []field, headings []string) []form {
	all := []form{formOf(fields, headings)}
	for _, f := range fields {
		if within := fieldsOf(f.value); within != nil {
			all = append(all, formsOf(within, headings)...)
		}
		var list []json.RawMessage
		if json.Unmarshal(f.value, &list) == nil {
			all = append(all, formOf(titled(each.Of(list, fieldsOf)), headings))
		}
	}
	return all
}

// titled makes one object of a list of objects whose first field is a heading, and the last its text.
func titled(list [][]field) (fields []field) {
	for _, one := range list {
		var title string
		if len(one) > 1 && json.Unmarshal(one[0].value, &title) == nil {
			fields = append(fields, field{title, one[len(one)-1].value})
		}
	}
	return fields
}

// formOf takes fields by their keys. If there are as many as headings, they are these in their order,
// whatever the language of the keys.
func formOf(fields []field, headings []string) form {
	f := form{sections: map[string]string{}}
	keys := each.Of(fields, func(one field) string { return one.key })
	for i, h := range placedBy(keys, headings) {
		f.take(h, prose(fields[i].value))
	}
	return f
}

// prose is a JSON value as text.
func prose(value json.RawMessage) string {
	var text string
	var list []json.RawMessage
	switch {
	case string(value) == "null" || string(value) == "[]" || string(value) == "{}":
		return "none"
	case json.Unmarshal(value, &text) == nil:
		return text
	case json.Unmarshal(value, &list) == nil:
		for _, one := range list {
			text += "- " + strings.ReplaceAll(strings.TrimSpace(prose(one)), "\n", "\n  ") + "\n"
		}
		return text
	}
	fields := fieldsOf(value)
	for _, f := range fields {
		text += f.key + ": " + prose(f.value) + "\n"
	}
	if fields == nil {
		return string(value)
	}
	return text
}

// placedBy says which heading each of some titles is: by its words, or by its place if there are
// exactly as many titles as headings and no title is known at another place.
func placedBy(titles, headings []string) (places []string) {
	byPlace := len(titles) == len(headings)
	for i, title := range titles {
		h := known(title, headings)
		places = append(places, h)
		byPlace = byPlace && (h == "" || h == headings[i])
	}
	if byPlace {
		return headings
	}
	return places
}

// The forms of a heading in prose: marks of markdown or a wiki, in bold, before a colon, in a cell of a
// table, in tags.
var (
	marked = pattern.New(`^\s{0,3}(#{1,6}|={2,6})\s*(.*?)[\s#=]*$`)
	bold   = pattern.New(`^\s*(?:[-*+\x{2022}]\s+)?(?:[0-9]{1,2}[.)]\s*)?(?:\*\*|__)(.+?)(?:\*\*|__)\s*(?:[:\x{ff1a}]|[\x{2013}\x{2014}-]\s)?\s*(.*)$`)
	label  = pattern.New(`^\s*(?:[-*+\x{2022}|]\s*)?([^:\x{ff1a}|]{1,60}?)\s*(?:[:\x{ff1a}|]|\s[\x{2013}\x{2014}-]\s)\s*(.*?)\s*\|?$`)
	tag    = pattern.New(`<(/?)([A-Za-z][A-Za-z_ -]*)>|<(/?)h[1-6]>`)
	ticks  = pattern.New("^\\s*(?:`{3,}|~{3,})[\\w-]*\\s*$")
	quoted = pattern.New(`(?m)^\s*>[ \t]?`)
	ruled  = pattern.New(`(?m)^([^\s#>|-].{0,60})\n[ \t]*(?:={3,}|-{3,})[ \t]*$`)
)

// head is a line of prose that may be a heading.
type head struct {
	line  int
	kind  string // headings of one kind and level stand side by side
	title string
	tail  string // what stands behind it on its line
}

// proseForms are the forms that an answer in prose may be, as it is and without the fence around a
// part of it.
func proseForms(answer string, headings []string) (all []form) {
	lines := strings.Split(answer, "\n")
	texts := []string{answer}
	var fences []int
	for i, one := range lines {
		if ticks.MatchString(one) {
			fences = append(fences, i)
		}
	}
	if len(fences) > 0 {
		first, last := fences[0], fences[len(fences)-1]
		texts = append(texts, strings.Join(lines[first+1:], "\n"))
		if last > first {
			texts = append(texts, strings.Join(lines[first+1:last], "\n"))
		}
	}
	if len(quoted.FindAllIndex([]byte(answer), -1)) > len(lines)/2 {
		texts = append(texts, quoted.Regexp().ReplaceAllString(answer, ""))
	}
	for _, text := range slices.Backward(texts) { // the fence around is no part of the last section
		text = tag.Regexp().ReplaceAllStringFunc(text, func(t string) string {
			switch name := strings.Trim(t, "</>"); {
			case known(name, headings) == "" && (len(name) != 2 || name[1] < '1' || name[1] > '6'):
				return t
			case t[1] == '/':
				return "\n"
			case len(name) == 2:
				return "\n## "
			default:
				return "\n## " + name + "\n"
			}
		})
		lines := strings.Split(underlined(text), "\n")
		heads := headsIn(lines, headings)
		named, kinds := []head{}, []string{}
		for _, h := range heads {
			if known(h.title, headings) != "" {
				named = append(named, h)
			}
			if h.kind != "" && !slices.Contains(kinds, h.kind) {
				kinds = append(kinds, h.kind)
			}
		}
		all = append(all, cutAt(lines, named, headings))
		for _, kind := range kinds {
			if of := func(h head) bool { return h.kind != kind }; !slices.ContainsFunc(named, of) {
				all = append(all, cutAt(lines, slices.DeleteFunc(slices.Clone(heads), of), headings))
			}
		}
	}
	return all
}

// underlined is a text with marks instead of lines under its headings.
func underlined(text string) string { return ruled.Regexp().ReplaceAllString(text, "## $1") }

// headsIn finds lines that may be headings, outside of fences.
func headsIn(lines, headings []string) (heads []head) {
	fenced := false
	for i, text := range lines {
		if ticks.MatchString(text) {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		h := head{line: i}
		if m := marked.FindStringSubmatch(text); m != nil && m[2] != "" {
			h.kind, h.title = m[1], m[2]
			if l := label.FindStringSubmatch(h.title); l != nil && known(l[1], headings) != "" {
				h.title, h.tail = l[1], l[2]
			}
		} else if m := bold.FindStringSubmatch(text); m != nil {
			h.title, h.tail = m[1], m[2]
			if text = strings.TrimSpace(text); h.tail == "" {
				h.kind = "bold"
			} else if text[0] == '*' && text[1] == '*' { // points of a list are no sections
				h.kind = "lead"
			}
		} else if known(text, headings) != "" {
			h.title = text
		} else if m := label.FindStringSubmatch(text); m != nil && known(m[1], headings) != "" {
			h.title, h.tail = m[1], m[2]
		} else {
			continue
		}
		heads = append(heads, h)
	}
	return heads
}

// cutAt cuts lines into sections at their headings.
func cutAt(lines []string, heads []head, headings []string) form {
	f := form{sections: map[string]string{}}
	titles := each.Of(heads, func(h head) string { return h.title })
	for i, name := range placedBy(titles, headings) {
		end := len(lines)
		if i+1 < len(heads) {
			end = heads[i+1].line
		}
		f.take(name, heads[i].tail+"\n"+strings.Join(lines[heads[i].line+1:end], "\n"))
	}
	if len(heads) > 0 {
		f.before = strings.TrimSpace(strings.Join(lines[:heads[0].line], "\n"))
	}
	return f
}
