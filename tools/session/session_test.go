package main

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

const played = `Two machines.

1  Two hosts, one record.
  white$ parley up

2  A topic: what <two> agree on.
  white$ parley work-with skills panes
    Opened & kept

    one` + "\x1b" + `[31m
    two
  north$ parley who
    🤝 panes

3  A party: more.
  white$ parley party leave

Done in 2s.
`

// A scene shows only the lines of its own step. Long answers are cut, and no text of the session
// can break the picture.
func TestSceneIsDrawn(t *testing.T) {
	lines, err := scene{play: "party", step: "A topic:", lines: 2}.from(played)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for d := xml.NewDecoder(strings.NewReader(string(draw("", "", lines)))); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
		if words, ok := token.(xml.CharData); ok {
			text.Write(words)
		}
	}
	const want = `A topic: what <two> agree on.
white$ parley work-with skills panes
  Opened & kept
  one` + "\uFFFD" + `[31m
  …
north$ parley who
  🤝 panes
`
	if !strings.HasSuffix(strings.TrimRight(text.String(), "\n")+"\n", want) {
		t.Errorf("drawn:\n%s\nwant at its end:\n%s", text.String(), want)
	}
}

// A demo that lost a step must not leave a gap in the picture.
func TestSceneThatIsGone(t *testing.T) {
	if lines, err := (scene{play: "party", step: "A gate:", lines: 2}).from(played); err == nil {
		t.Errorf("a step that is not there was drawn: %v", lines)
	}
}

// A recording without a line that the picture tells its story with is not drawn.
func TestRecordingThatLacksALine(t *testing.T) {
	if lines, err := fromRecording(strings.NewReader(`{"machine":"laptop","typed":"claude","shown":["installed: x"]}`)); err == nil {
		t.Errorf("it was drawn: %v", lines)
	}
}
