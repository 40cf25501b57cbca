package fleet

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// keyVectors are what another implementation must judge alike. The file is made by
// protocol/testdata/keys.py, which shares no code with this program.
type keyVectors struct {
	Story struct {
		Record  string             `json:"record"`
		System  protocol.ChannelID `json:"system"`
		Founder struct {
			Alias  protocol.Name   `json:"alias"`
			Key    string          `json:"key"`
			Humans []protocol.Name `json:"humans"`
		} `json:"founder"`
		Keys     map[protocol.Name]string `json:"keys"`
		Out      []protocol.Name          `json:"out"`
		Messages []struct {
			Path    protocol.Path      `json:"path"`
			File    string             `json:"file"`
			Verdict protocol.Signature `json:"verdict"`
			Why     string             `json:"why"`
		} `json:"messages"`
	} `json:"story"`
}

func TestVectorsOfKeys(t *testing.T) {
	text, err := os.ReadFile("../protocol/testdata/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	var v keyVectors
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	story := v.Story
	if got := protocol.SystemChannel(story.Record); got != story.System {
		t.Errorf("the system channel is %s, want %s", got, story.System)
	}
	f := story.Founder
	for range 2 {
		s := New(keys.Anchor{RecordID: story.Record, Founder: protocol.HostState{Host: f.Alias, Key: f.Key, Humans: f.Humans}})
		for _, m := range story.Messages {
			if _, err := s.Apply(m.Path, []byte(m.File)); err != nil {
				t.Errorf("%s (%s): %v", m.Path, m.Why, err)
			}
		}
		for _, m := range story.Messages {
			if it, ok := s.Ledger.Item(m.Path); !ok || s.Signature(it) != m.Verdict {
				t.Errorf("%s: it is %s, want %s: %s", m.Path, s.Signature(it), m.Verdict, m.Why)
			}
		}
		for alias, key := range story.Keys {
			h, _ := s.Keys().Host(alias)
			if h.Key != key || h.Out() != slices.Contains(story.Out, alias) {
				t.Errorf("%s has the key %s, out %t; want %s", alias, h.Key, h.Out(), key)
			}
		}
		slices.Reverse(story.Messages)
	}
}
