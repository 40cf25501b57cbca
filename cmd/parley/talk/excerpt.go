package talk

import (
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// excerpt is the part of a text in which something was found, safe to show in one line.
type excerpt []control.Fragment

// excerptOf is the excerpt of a message, after the marks that a list shows for every message. If no
// words were sought, it is the summary of the message.
func excerptOf(v cli.View, hit control.MessageHit) excerpt {
	text := shorten(v, hit.Excerpt)
	if len(text) == 0 {
		return excerpt{{Text: Summary(hit.Message)}}
	}
	whole := hit.Message
	whole.Body = ""
	if before := strings.TrimSpace(Summary(whole)); before != "" {
		text = append(excerpt{{Text: before + " "}}, text...)
	}
	return text
}

// maxLead is the width of what comes before the first hit, if there are few columns.
const maxLead = 14

// shorten makes fragments safe to show. In a narrow terminal, it shortens what comes before the
// first hit, so that the hit is seen.
func shorten(v cli.View, fragments []control.Fragment) excerpt {
	var text excerpt
	for _, f := range fragments {
		text = append(text, control.Fragment{Text: term.Line(f.Text), Hit: f.Hit})
	}
	first := 0
	lead := ""
	for first < len(text) && !text[first].Hit {
		lead += text[first].Text
		first++
	}
	if first == len(text) || !v.Narrow() || term.Width(lead) <= maxLead {
		return text
	}
	end := cli.ToEnd(lead, maxLead)
	if _, words, spaced := strings.Cut(end, " "); spaced && words != "" {
		end = "… " + words
	}
	return append(excerpt{{Text: end}}, text[first:]...)
}

func (e excerpt) plain() string {
	var b strings.Builder
	for _, f := range e {
		b.WriteString(f.Text)
	}
	return b.String()
}

// styled is a cell with its hits in a style. The cell begins like the excerpt, and may have been
// cut.
func (e excerpt) styled(cell string, style func(string) string) string {
	var b strings.Builder
	for _, f := range e {
		end := 0
		for i, r := range cell {
			next := i + len(string(r))
			if !strings.HasPrefix(f.Text[min(i, len(f.Text)):], string(r)) {
				break
			}
			end = next
		}
		shown := cell[:end]
		cell = cell[len(shown):]
		if f.Hit {
			b.WriteString(style(shown))
		} else {
			b.WriteString(shown)
		}
		if len(shown) < len(f.Text) {
			break
		}
	}
	return b.String() + cell
}
