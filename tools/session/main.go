// Session draws docs/session.svg, the picture in README.md: it plays "parley demo
// party" and "parley demo frame" for real, with real git and NATS, and puts some of
// their steps on one picture of a terminal. Times, ids and keys in it are those of
// that run. It takes a minute or two. In tools/:
//
//	go run ./session
//
// With a recording of two real machines it draws docs/two-machines.svg instead; from the root:
//
//	PARLEY_PROGRAMS=DIR PARLEY_RECORD=FILE go test ./cmd/parley -run TestRealTwoMachines
//	(cd tools && go run ./session FILE)
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
	if len(os.Args) == 2 {
		if err := machines(os.Args[1], filepath.Join("..", "docs", "two-machines.svg")); err != nil {
			fmt.Fprintf(os.Stderr, "cannot draw the two machines: %v\n", err)
			os.Exit(1)
		}
		return
	}
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
	return os.WriteFile(file, draw("A session of parley", "A terminal: agents of two hosts keep what they agree on, check how far they are in sync and work in a party; "+
		"then a question is looked at from two perspectives. Humans decide at each gate.", lines), 0o644)
}

// machines writes the picture of a recording to file.
func machines(recording, file string) error {
	in, err := os.Open(recording)
	if err != nil {
		return err
	}
	defer in.Close()
	lines, err := fromRecording(in)
	if err != nil {
		return err
	}
	return os.WriteFile(file, draw("Two machines", "Two terminals: parley is installed on a laptop and on a server, which joins by a line; "+
		"then a sentence to Codex on the server wakes Claude Code on the laptop, and the answer comes back.", lines), 0o644)
}
