// Session draws docs/session.svg, the picture in README.md: it plays "parley demo
// party" and "parley demo frame" for real, with real git and NATS, and puts some of
// their steps on one picture of a terminal. Times, ids and keys in it are those of
// that run. It takes a minute or two. In tools/:
//
//	go run ./session
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// scenes are the steps that the picture shows. If a demo has lost or renamed one of them, the
// program fails. Otherwise the picture would have a gap that nobody notices.
var scenes = []scene{
	{play: "party", step: "A topic:", lines: 4},
	{play: "party", step: "A sync-check:", lines: 9},
	{play: "party", step: "A party:", lines: 6},
	{play: "party", step: "A gate:", lines: 2},
	{play: "party", step: "who:", lines: 9},
	{play: "frame", step: "A question,", lines: 2},
	{play: "frame", step: "The second gate:", lines: 8},
	{play: "frame", step: "Two perspectives disagree:", lines: 9},
}

func main() {
	if err := run("..", filepath.Join("..", "docs", "session.svg")); err != nil {
		fmt.Fprintf(os.Stderr, "cannot draw the session: %v\n", err)
		os.Exit(1)
	}
}

// run plays the demos of the module in root and writes the picture of them to file.
func run(root, file string) error {
	played := map[string]string{}
	var lines []line
	for _, s := range scenes {
		text, ok := played[s.play]
		if !ok {
			cmd := exec.Command("go", "run", "./cmd/parley", "demo", s.play)
			cmd.Dir, cmd.Stderr = root, os.Stderr
			out, err := cmd.Output()
			if err != nil {
				return fmt.Errorf("play parley demo %s: %w", s.play, err)
			}
			text = string(out)
			played[s.play] = text
		}
		shown, err := s.from(text)
		if err != nil {
			return err
		}
		lines = append(lines, shown...)
	}
	return os.WriteFile(file, draw(lines), 0o644)
}
