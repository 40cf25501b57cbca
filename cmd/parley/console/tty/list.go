package tty

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
)

// row is one line of a list.
type row struct {
	text string
	key  string // names what can be chosen there; "": nothing can
	item int    // its number; of a thread: that of the message to which the line belongs
}

const none = -1

// list is lines of which some can be chosen, in a window of some height.
type list struct {
	head     []string // stays above
	rows     []row
	at, top  int // the line that is chosen, and the first that is shown
	height   int // of the window, without the head
	followed bool
	text     bool // it is read line by line, and what is chosen may be out of sight
}

// set gives the list new lines. What was chosen stays chosen, and where it was in the window. At the end
// of a list that is followed, the new end is chosen.
func (l *list) set(head []string, rows []row, height int) {
	last := l.followed && l.next(l.at, 1) == none
	height = max(1, height-len(head))
	same := len(l.rows) == len(rows) && l.height == height
	if l.at < len(l.rows) && l.rows[l.at].key != "" {
		key := l.rows[l.at].key
		if i := slices.IndexFunc(rows, func(r row) bool { return r.key == key }); i >= 0 {
			l.at, l.top = i, l.top+i-l.at
		}
	}
	l.head, l.rows, l.height = head, rows, height
	if last {
		l.at, l.top = len(rows)-1, len(rows)
	}
	l.at = max(0, min(l.at, len(rows)-1))
	if l.chosen() == none {
		for _, d := range []int{-1, 1} {
			if i := l.next(l.at, d); i != none {
				l.at = i
				break
			}
		}
	}
	l.clamp()
	if !l.text && !same {
		l.show()
	}
}

func (l *list) clamp() { l.top = max(0, min(l.top, len(l.rows)-l.height)) }

// show moves the window to what is chosen.
func (l *list) show() { l.top = max(l.at-l.height+1, min(l.top, l.at)); l.clamp() }

// chosen is the number of what is chosen.
func (l *list) chosen() int {
	if l.at >= len(l.rows) || l.rows[l.at].key == "" {
		return none
	}
	return l.rows[l.at].item
}

// next is the line from which on in a direction something can be chosen.
func (l *list) next(from, d int) int {
	for i := from + d; i >= 0 && i < len(l.rows); i += d {
		if l.rows[i].key != "" {
			return i
		}
	}
	return none
}

// move chooses the next item in a direction. Within a text that is longer than the window it only
// goes on by a line.
func (l *list) move(d int) {
	if i := l.next(l.at, d); i != none && i >= l.top-1 && i <= l.top+l.height {
		l.at = i
		l.show()
		return
	}
	l.top += d
	l.clamp()
}

// page moves by windows.
func (l *list) page(d int) {
	l.top += d * max(1, l.height-1)
	l.clamp()
	if l.at >= l.top && l.at < l.top+l.height {
		return
	}
	from := l.top - 1
	if d < 0 {
		from = l.top + l.height
	}
	if i := l.next(from, d); i != none && i >= l.top && i < l.top+l.height {
		l.at = i
	}
}

// end moves to one end of the list.
func (l *list) end(d int) {
	from := len(l.rows)
	if d < 0 {
		from = -1
	}
	if i := l.next(from, -d); i != none {
		l.at = i
	}
	l.top = d * len(l.rows)
	l.clamp()
}

// below is how many lines stand below the window.
func (l *list) below() int { return max(0, len(l.rows)-l.top-l.height) }

// lines are those of the window.
func (l *list) lines(s term.Screen) []string {
	var shown []string
	for _, head := range l.head {
		shown = append(shown, "  "+head)
	}
	for i := l.top; i < min(len(l.rows), l.top+l.height); i++ {
		text := "  " + l.rows[i].text
		if i == l.at && l.rows[i].key != "" {
			text = s.Colour(accent, "▸") + " " + s.Bold(strings.ReplaceAll(l.rows[i].text, "\x1b[0m", "\x1b[0;1m"))
		}
		shown = append(shown, text)
	}
	return shown
}
