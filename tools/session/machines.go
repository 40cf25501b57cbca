package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// step is a line of the recording that TestRealTwoMachines of cmd/parley writes with PARLEY_RECORD.
type step struct {
	Machine string   `json:"machine"`
	Second  int      `json:"second"` // since the start
	Typed   string   `json:"typed"`
	Answer  string   `json:"answer"`
	Shown   []string `json:"shown"`
}

// telling are the beginnings of the lines that the picture shows, of all that the screens did. Each has
// to be in the recording.
var telling = []string{
	"installed:", "Fleet to join", "laptop is a host", "Its node runs", "parley is in ", "Claude Code v", "parley://",
	"Waiting for the human", "server of nat knocks", "words:", "Does the other screen show the same words, and may it join? [y/N] y", "Write this? [y/N, d: every line] y", "server (", "server is a host", "Hooks need review",
	"• Called parley.hey", "8443 since", "● Monitor event", "● I have answered",
}

// fromRecording makes the lines of the picture from a recording.
func fromRecording(in io.Reader) ([]line, error) {
	var lines []line
	found, last := map[string]bool{}, ""
	for d := json.NewDecoder(in); ; {
		var s step
		if err := d.Decode(&s); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("read the recording: %w", err)
		}
		if s.Machine != last {
			lines, last = append(lines, line{kind: "heading", text: fmt.Sprintf("%s, after %d s", s.Machine, s.Second)}), s.Machine
		}
		switch {
		case s.Typed != "" && len(s.Shown) > 0 && strings.HasPrefix(s.Shown[0], "›"):
			lines = append(lines, line{kind: "command", host: "›", text: cut(s.Typed)})
		case s.Typed != "":
			lines = append(lines, line{kind: "command", host: "$", text: cut(s.Typed)})
		case strings.HasPrefix(s.Answer, "⏎ parley://"):
			lines = append(lines, line{kind: "command", text: cut("  " + strings.TrimPrefix(s.Answer, "⏎ "))})
		}
		for _, text := range s.Shown {
			begins := strings.TrimLeft(text, " ▐▛█▜▝▘─└›\u00a0")
			at := slices.IndexFunc(telling, func(t string) bool { return strings.HasPrefix(begins, t) })
			if at < 0 || strings.HasPrefix(text, "Fleet to join") && found[telling[at]+s.Machine] {
				continue
			}
			found[telling[at]], found[telling[at]+s.Machine] = true, true
			lines = append(lines, line{kind: "answer", text: cut("  " + begins)})
		}
	}
	for _, t := range telling {
		if !found[t] {
			return nil, fmt.Errorf("the recording has no line that begins with %q", t)
		}
	}
	return append(lines, line{kind: "heading", text: "Two homes on one machine, scripted models; all else ran as it stands here. Some lines are left out."}), nil
}
