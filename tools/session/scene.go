package main

import (
	"fmt"
	"regexp"
	"strings"
)

// scene is one step of one demo.
type scene struct {
	play  string // the demo: "party" for parley demo party
	step  string // how the step's heading begins, after its number
	lines int    // how many lines of one command's answer are shown at most
}

// line is one line of the picture.
type line struct {
	kind string // "heading", "command" or "answer": also its class in the picture
	host string // of a command: the prompt, such as "white$"
	text string
}

// columns is how wide the picture is, in characters. Longer lines are cut.
const columns = 124

var (
	heading = regexp.MustCompile(`^[0-9]+  (.+)$`)
	command = regexp.MustCompile(`^  (\S+\$) (.+)$`)
)

// from finds the scene in what its demo has printed.
func (s scene) from(text string) ([]line, error) {
	var shown []line
	here, answered := false, 0
	for row := range strings.Lines(text) {
		row = strings.TrimRight(row, " \n")
		if m := heading.FindStringSubmatch(row); m != nil {
			if here {
				break
			}
			here = strings.HasPrefix(m[1], s.step)
			if here {
				shown = append(shown, line{kind: "heading", text: cut(m[1])})
			}
			continue
		}
		if !here || row == "" || strings.HasPrefix(row, "Done in ") {
			continue
		}
		if m := command.FindStringSubmatch(row); m != nil {
			shown = append(shown, line{kind: "command", host: m[1], text: cut(m[2])})
			answered = 0
			continue
		}
		row = strings.TrimPrefix(row, "  ")
		if strings.TrimSpace(row) == "" {
			continue
		}
		switch answered++; {
		case answered <= s.lines:
			shown = append(shown, line{kind: "answer", text: cut(row)})
		case answered == s.lines+1:
			shown = append(shown, line{kind: "answer", text: "  …"})
		}
	}
	if len(shown) < 2 {
		return nil, fmt.Errorf("parley demo %s has no step that begins with %q", s.play, s.step)
	}
	return shown, nil
}

// cut makes a text fit into a line.
func cut(text string) string {
	if r := []rune(text); len(r) > columns {
		return string(r[:columns-1]) + "…"
	}
	return text
}
