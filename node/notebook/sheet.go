package notebook

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// Sheet is a file in which a person and parley write: parley writes its sections, the person all
// the rest.
type Sheet struct {
	Title    string
	Sections []Section
}

// Section is a part of a sheet that is written from the record.
type Section struct {
	Name    string // "": the section is a person's, and parley writes it only into a new file
	Heading string // the heading of the section in a new file; "": none
	Lines   []string
	Do      string // a hint at the right command for somebody who wrote into the section
}

// A section stands between two marks. The first mark names the lines that parley wrote, each by a
// hash. Anything else in between was written by somebody. That holds whoever saved the file, and
// however old the copy was with which they began.
var (
	beginning = pattern.New(`^\s*<!-- parley:begin ([a-z]+)((?: [0-9a-f]{8})*) -->\s*$`)
	ending    = pattern.New(`^\s*<!-- parley:end ([a-z]+) -->\s*$`)
)

// notTakenIn stands above what somebody wrote into a section.
const notTakenIn = "> Not taken in: parley writes the part above from the record."

func lineHash(line string) string {
	sum := sha256.Sum256([]byte(strings.TrimSpace(line)))
	return hex.EncodeToString(sum[:4])
}

// part is a piece of a file as it was found: prose, or a section.
type part struct {
	section string
	own     map[string]bool // hashes of the lines that parley wrote
	lines   []string
}

// Render returns the new content of a file whose content is `existing`; nil means that there is no
// file. What a person wrote stays as it was. What somebody wrote into a section is put below the
// section, with a line that says that it is not taken in. Rendering the result again changes
// nothing.
func (s Sheet) Render(existing []byte) []byte {
	var parts []part
	if existing == nil {
		parts = s.blank()
	} else {
		parts = s.parse(string(existing))
		parts = s.complete(parts)
	}
	var out []string
	for _, p := range parts {
		if p.section == "" {
			out = append(out, p.lines...)
			continue
		}
		i := slices.IndexFunc(s.Sections, func(section Section) bool { return section.Name == p.section })
		section := s.Sections[i]
		out = append(out, section.marked()...)
		if strange := p.strange(); len(strange) > 0 {
			out = append(out, "", notTakenIn+" "+section.Do, "")
			out = append(out, strange...)
			out = append(out, "")
		}
	}
	return []byte(strings.Join(out, "\n") + "\n")
}

func (s Sheet) has(name string) bool {
	return name != "" && slices.ContainsFunc(s.Sections, func(section Section) bool { return section.Name == name })
}

func (s Section) marked() []string {
	begin := "<!-- parley:begin " + s.Name
	for _, line := range s.Lines {
		if strings.TrimSpace(line) != "" {
			begin += " " + lineHash(line)
		}
	}
	return slices.Concat([]string{begin + " -->"}, s.Lines, []string{"<!-- parley:end " + s.Name + " -->"})
}

// blank are the parts of a new file.
func (s Sheet) blank() []part {
	parts := []part{{lines: []string{"# " + s.Title, ""}}}
	for i, section := range s.Sections {
		if i > 0 {
			parts = append(parts, part{lines: []string{""}})
		}
		if section.Heading != "" {
			parts = append(parts, part{lines: []string{"## " + section.Heading, ""}})
		}
		if section.Name == "" {
			parts = append(parts, part{lines: section.Lines})
			continue
		}
		parts = append(parts, part{section: section.Name})
	}
	return parts
}

// parse takes a file apart. It drops a mark without a counterpart: a section that has no end goes
// as far as parley's own lines do, and a second section of the same name is prose.
func (s Sheet) parse(text string) (parts []part) {
	var open *part
	seen := map[string]bool{}
	prose := func(lines ...string) {
		if n := len(parts); n > 0 && parts[n-1].section == "" {
			parts[n-1].lines = append(parts[n-1].lines, lines...)
			return
		}
		parts = append(parts, part{lines: slices.Clone(lines)})
	}
	unended := func() {
		if open == nil {
			return
		}
		n := 0
		for n < len(open.lines) && (strings.TrimSpace(open.lines[n]) == "" || open.own[lineHash(open.lines[n])]) {
			n++
		}
		rest := open.lines[n:]
		open.lines = open.lines[:n:n]
		parts = append(parts, *open)
		open = nil
		if len(rest) > 0 {
			prose(rest...)
		}
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		begin, end := beginning.FindStringSubmatch(line), ending.FindStringSubmatch(line)
		switch {
		case begin != nil && s.has(begin[1]):
			unended()
			if seen[begin[1]] {
				continue
			}
			seen[begin[1]] = true
			open = &part{section: begin[1], own: map[string]bool{}}
			for _, hash := range strings.Fields(begin[2]) {
				open.own[hash] = true
			}
		case end != nil && s.has(end[1]):
			if open != nil && open.section == end[1] {
				parts = append(parts, *open)
				open = nil
			}
		case open != nil:
			open.lines = append(open.lines, line)
		default:
			prose(line)
		}
	}
	unended()
	return parts
}

// own returns the lines of a section that parley wrote.
func (s Sheet) own(file []byte, section string) (lines []string) {
	for _, p := range s.parse(string(file)) {
		for _, line := range p.lines {
			if p.section == section && p.own[lineHash(line)] {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// complete adds the sections that a file lacks: below their heading if it is there, or else at the
// end.
func (s Sheet) complete(parts []part) []part {
	for i, section := range s.Sections {
		if section.Name == "" || slices.ContainsFunc(parts, func(p part) bool { return p.section == section.Name }) {
			continue
		}
		at, line := -1, 0
		for n, p := range parts {
			if p.section != "" || at >= 0 {
				continue
			}
			for l, text := range p.lines {
				text = strings.TrimSpace(text)
				under := section.Heading != "" && text == "## "+section.Heading
				first := section.Heading == "" && i == 0 && strings.HasPrefix(text, "# ")
				if under || first {
					at, line = n, l+1
					break
				}
			}
		}
		if at < 0 {
			lines := []string{""}
			if section.Heading != "" {
				lines = append(lines, "## "+section.Heading, "")
			}
			parts = append(parts, part{lines: lines}, part{section: section.Name})
			continue
		}
		p := parts[at]
		parts = slices.Replace(parts, at, at+1,
			part{lines: append(slices.Clone(p.lines[:line]), "")}, part{section: section.Name}, part{lines: p.lines[line:]})
	}
	return parts
}

// strange returns the lines of a section that parley did not write, without empty lines before and
// after them.
func (p part) strange() (lines []string) {
	for _, line := range p.lines {
		switch empty := strings.TrimSpace(line) == ""; {
		case empty && len(lines) > 0 && lines[len(lines)-1] != "":
			lines = append(lines, "")
		case !empty && !p.own[lineHash(line)]:
			lines = append(lines, line)
		}
	}
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines
}
