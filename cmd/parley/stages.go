package main

import (
	"strings"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// stages is how far a message has come, in the six words of the design:
// "heard by white · recorded".
func stages(m control.Message) string {
	var words []string
	if m.Stage == protocol.StageStored {
		words = append(words, m.Stage.String())
	}
	switch {
	case len(m.Heard) > 0:
		words = append(words, "heard by "+names(m.Heard))
	case m.Stage == protocol.StageHeard:
		words = append(words, m.Stage.String())
	}
	if m.Stage > protocol.StageHeard {
		words = append(words, m.Stage.String())
	}
	return strings.Join(words, " · ")
}

// sentStages is stages for a message that was just sent from here, of which
// "stored" holds always.
func sentStages(m control.Message) string {
	stored, reached := protocol.StageStored.String(), stages(m)
	switch {
	case reached == "":
		return stored
	case strings.HasPrefix(reached, stored):
		return reached
	}
	return stored + " · " + reached
}

func names[N ~string](list []N) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}
