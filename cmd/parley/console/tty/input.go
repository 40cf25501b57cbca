package tty

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyfleet/parley/internal/term"
)

// input is a line that somebody types.
type input struct {
	prompt string
	text   []rune
	at     int               // where the next character goes
	done   func() tea.Cmd    // what Enter does
	busy   bool              // that is being done
	typed  func(text string) // is told of each change; may be nil
}

func (in *input) insert(text string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	added := []rune(strings.ReplaceAll(text, "\r", "\n"))
	in.text = slices.Insert(in.text, in.at, added...)
	in.at += len(added)
	in.changed()
}

func (in *input) changed() {
	if in.typed != nil {
		in.typed(string(in.text))
	}
}

// cut takes away what stands between two places.
func (in *input) cut(from, to int) {
	if from = max(0, from); from < min(to, len(in.text)) {
		in.text = slices.Delete(in.text, from, to)
		in.at = from
		in.changed()
	}
}

func (in *input) key(k tea.KeyPressMsg) {
	switch k.String() {
	case "left", "ctrl+b":
		in.at = max(0, in.at-1)
	case "right", "ctrl+f":
		in.at = min(len(in.text), in.at+1)
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.text)
	case "backspace", "ctrl+h":
		in.cut(in.at-1, in.at)
	case "delete", "ctrl+d":
		in.cut(in.at, in.at+1)
	case "ctrl+u":
		in.cut(0, in.at)
	case "ctrl+k":
		in.cut(in.at, len(in.text))
	case "ctrl+w", "alt+backspace":
		word := in.at
		for word > 0 && unicode.IsSpace(in.text[word-1]) {
			word--
		}
		for word > 0 && !unicode.IsSpace(in.text[word-1]) {
			word--
		}
		in.cut(word, in.at)
	case "alt+enter", "ctrl+j":
		in.insert("\n")
	default:
		in.insert(k.Text)
	}
}

// line is the line as it fits `width` columns, and in which of them the cursor stands. A line that is
// too long is shown around the cursor.
func (in *input) line(s term.Screen, width int) (shown string, cursor int) {
	prompt := term.Cut(in.prompt, width*2/3)
	room := max(1, width-term.Width(prompt)-1)
	near := 4 * room // characters to each side, of which some have no width: somebody may have pasted a book
	before := term.Line(string(in.text[max(0, in.at-near):in.at]))
	after := term.Line(string(in.text[in.at:min(len(in.text), in.at+near)]))
	for runes := []rune(before); term.Width(before) > room; before = string(runes) {
		runes = runes[1:]
	}
	cursor = term.Width(prompt) + term.Width(before)
	for runes := []rune(after); term.Width(before+after) > room; after = string(runes) {
		runes = runes[:len(runes)-1]
	}
	return s.Colour(accent, prompt) + before + after, cursor
}
