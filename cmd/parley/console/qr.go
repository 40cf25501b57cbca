package console

import (
	"strings"

	"github.com/parleyfleet/parley/internal/term"
	"rsc.io/qr"
)

// code is a QR code as lines of half blocks.
type code struct {
	lines []string
	width int
}

const margin = 2 // the margin around a code; cameras need less than the four of the norm

// drawCode draws a text as a QR code: light on dark, with colours of its own, so that it is the same on
// dark and light terminals. Without colours it is as light as what the terminal writes.
func drawCode(text string, colour bool) (code, error) {
	c, err := qr.Encode(text, qr.L)
	if err != nil {
		return code{}, err
	}
	drawn := code{width: c.Size + 2*margin}
	for y := -margin; y < c.Size+margin; y += 2 {
		var row strings.Builder
		for x := -margin; x < c.Size+margin; x++ {
			switch upper, lower := c.Black(x, y), c.Black(x, y+1); { // outside it is light
			case upper && lower:
				row.WriteString(" ")
			case upper:
				row.WriteString("▄")
			case lower:
				row.WriteString("▀")
			default:
				row.WriteString("█")
			}
		}
		line := row.String()
		if colour {
			line = "\x1b[38;5;231;48;5;16m" + line + "\x1b[0m"
		}
		drawn.lines = append(drawn.lines, line)
	}
	return drawn, nil
}

// beside writes text to the right of a drawing, or above it where there is no room.
func beside(out term.Screen, drawing code, about []string) {
	var lines []string
	room := out.Width - drawing.width - 2
	if room < 24 {
		room = out.Width
	}
	for _, line := range about {
		lines = append(lines, term.Wrap(line, room)...)
	}
	if room == out.Width {
		out.Printf("%s\n%s\n", strings.Join(lines, "\n"), strings.Join(drawing.lines, "\n"))
		return
	}
	for i, row := range drawing.lines {
		if i < len(lines) {
			row += "  " + lines[i]
		}
		out.Printf("%s\n", row)
	}
	for _, line := range lines[min(len(lines), len(drawing.lines)):] {
		out.Printf("%s\n", line)
	}
}
