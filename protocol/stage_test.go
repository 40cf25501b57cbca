package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

func TestStages(t *testing.T) {
	words := []string{"", "stored", "heard", "recorded", "pushed", "read", "answered"}
	for i, word := range words {
		stage := protocol.Stage(i)
		if stage.String() != word {
			t.Errorf("stage %d is %q, want %q", i, stage, word)
		}
		text, err := json.Marshal(stage)
		if err != nil || string(text) != `"`+word+`"` {
			t.Errorf("%s stands in JSON as %s, %v", stage, text, err)
		}
		back := protocol.Stage(99)
		if err := json.Unmarshal(text, &back); err != nil || back != stage {
			t.Errorf("%s is read as %s, %v", text, back, err)
		}
	}
	if protocol.StageAnswered != protocol.Stage(len(words)-1) {
		t.Error("answered is not the last stage")
	}
}

func TestUnknownStages(t *testing.T) {
	for _, word := range []string{"Stored", "sent", "stage(9)", " "} {
		stage := protocol.StageHeard
		if err := stage.UnmarshalText([]byte(word)); err == nil || stage != protocol.StageHeard {
			t.Errorf("%q is read as %s, %v", word, stage, err)
		}
	}
	for _, stage := range []protocol.Stage{-1, 7} {
		if stage.String() == "" {
			t.Errorf("stage %d has no word at all", int(stage))
		}
	}
}
