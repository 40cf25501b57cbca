package talk

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Stages says how far a message has come, in the six words of the design:
// "heard by white · recorded".
func Stages(m control.Message) string {
	var words []string
	if m.Stage == protocol.StageStored {
		words = append(words, m.Stage.String())
	}
	switch {
	case len(m.Heard) > 0:
		words = append(words, "heard by "+cli.Names(m.Heard))
	case m.Stage == protocol.StageHeard:
		words = append(words, m.Stage.String())
	}
	if m.Stage > protocol.StageHeard && m.Stage < protocol.StageRead {
		words = append(words, m.Stage.String())
	}
	if m.Stage >= protocol.StageRead {
		words = append(words, reach(m))
	}
	if woken := Woken(m); len(woken) > 0 && len(m.Addressees) == 1 {
		words = append(words, protocol.TraceWoken)
	} else if len(woken) > 0 {
		words = append(words, protocol.TraceWoken+" "+strings.Join(woken, ", "))
	}
	return strings.Join(words, " · ")
}

// Woken are the addressees whose programs took the bell for a message that they have not read.
func Woken(m control.Message) (names []string) {
	for _, a := range m.Addressees {
		if a.Woken && a.Stage < protocol.StageRead {
			names = append(names, a.Name)
		}
	}
	return names
}

// moment says what is known only of the moment: whose program took the bell for a message, and what
// sessions wait for.
func moment(m control.Message, v cli.View) (lines []string) {
	for _, name := range Woken(m) {
		lines = append(lines, term.Line(name)+" is woken")
	}
	return append(lines, waiting(m, v)...)
}

// waiting says what the sessions wait for to which a message is addressed.
func waiting(m control.Message, v cli.View) (lines []string) {
	for _, a := range m.Addressees {
		if a.Waits != nil {
			text, why := v.Waits(*a.Waits)
			lines = append(lines, strings.TrimSuffix(term.Line(a.Name)+" "+text+": "+why, ": "))
		}
	}
	return lines
}

// reach says how far a message has come with its addressees: "read", "answered" or, if there are
// several, "read by 2 of 3 · answered by 1".
func reach(m control.Message) string {
	if len(m.Addressees) < 2 {
		if m.Stage < protocol.StageRead {
			return ""
		}
		return m.Stage.String()
	}
	read, answered := 0, 0
	for _, a := range m.Addressees {
		if a.Stage >= protocol.StageRead {
			read++
		}
		if a.Stage == protocol.StageAnswered {
			answered++
		}
	}
	switch {
	case m.Stage < protocol.StageRead:
		return ""
	case answered > 0:
		return fmt.Sprintf("read by %d of %d · answered by %d", read, len(m.Addressees), answered)
	case read == 0:
		return m.Stage.String() // somebody else answered
	}
	return fmt.Sprintf("read by %d of %d", read, len(m.Addressees))
}

// shortReach is reach for a line in which other things are more important: "read", "answered" or,
// if there are several addressees, "read by 2 of 3".
func shortReach(m control.Message) string {
	short, _, _ := strings.Cut(reach(m), " · ")
	return short
}

func reachOfEach(m control.Message) string {
	var parts []string
	for _, stage := range []protocol.Stage{protocol.StageAnswered, protocol.StageRead, protocol.StageNone} {
		var names []string
		for _, a := range m.Addressees {
			if a.Stage == stage {
				names = append(names, a.Name)
			}
		}
		word := stage.String()
		if stage == protocol.StageNone {
			word = "not read"
		}
		if len(names) > 0 {
			parts = append(parts, word+": "+strings.Join(names, ", "))
		}
	}
	return strings.Join(parts, " · ")
}

// SentStages is Stages for a message that was just sent from here. "stored" is always true for it.
func SentStages(m control.Message) string {
	stored, reached := protocol.StageStored.String(), Stages(m)
	switch {
	case reached == "":
		return stored
	case strings.HasPrefix(reached, stored):
		return reached
	}
	return stored + " · " + reached
}
