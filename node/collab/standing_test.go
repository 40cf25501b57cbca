package collab

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: a member of a party is trusted by its scores on the party's topic alone, as if the
// two knew each other from nothing else.
func TestTrustIsOfTheRelation(t *testing.T) {
	score := func(asker string, day int, raw float64) Score {
		return Score{Asker: asker, Sample: topic.Sample{At: time.Date(2026, 4, day, 0, 0, 0, 0, time.UTC), Raw: raw}}
	}
	design, ports, other := score("skills", 1, 0.9), score("skills", 2, 0.7), score("volt", 3, 0.1)
	all := Scores{"": {"mawjs": {design, ports, other}}, "design": {"mawjs": {design}}, "ports": {"mawjs": {ports, other}}}
	for slug, want := range map[string]int{"design": 2, "ports": 1, "release": 2} { // volt was the last one who asked about the ports
		if got := all.Relation(protocol.Slug(slug), "skills", "mawjs"); len(got) != want {
			t.Errorf("a party on %q sees %v", slug, got)
		}
	}
	if got := all.Relation("release", "nobody", "mawjs"); got != nil {
		t.Errorf("somebody who never asked has %v", got)
	}
}
