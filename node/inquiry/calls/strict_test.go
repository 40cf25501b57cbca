package calls

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: an inquiry that does not go on because a language model errs in what can be mended: the
// kind of a basis, the strength of an agreement, a heading for a quote, a word for none, a limit that is
// left out.
func TestErrorsThatAreMended(t *testing.T) {
	changed := func(state inquiries.State, file string, change ...string) *walk {
		t.Helper()
		w := newWalk(t, nil)
		w.until(state)
		text := strings.NewReplacer(change...).Replace(w.file(file))
		if text == w.file(file) {
			t.Fatalf("%s has none of %q", file, change)
		}
		if err := w.answer(inquiries.Next(w.v)[0], text); err != nil {
			t.Fatalf("%s with %q: %v", file, change, err)
		}
		return w
	}
	s := changed(inquiries.Synthesize, "synthesis", `"Dialogue Divergence"`, `"result"`, `"Moderate"`, `"strong"`, `"The second store is cheaper by 300 a month"`, `"## Assessment"`).v.Synthesis
	if s.Basis[0].Kind != protocol.BasisFusion || s.Basis[1].Kind == protocol.BasisFusion || s.Agreements[0].Strength == "strong" {
		t.Errorf("it is read as %+v, %+v", s.Basis, s.Agreements)
	}
	if b := changed(inquiries.Opened, "brief", `"scope": "`, `"scope": "None", "aside": "`).v.Brief; inquiries.SaysNothing(b.Scope) {
		t.Errorf("the scope is %q", b.Scope)
	}
	w := newWalk(t, nil)
	w.until(inquiries.Preview)
	answer := `{"results": [{"perspective": "Cost accounting", "title": "money", "summary": "The second.", "limits": "None."}, {"perspective": "Reliability engineering", "title": "nights", "summary": "The first.", "limits": "see above"}]}`
	if err := w.answer(inquiries.Next(w.v)[0], answer); err != nil || !strings.Contains(w.result("Cost accounting"), strings.TrimSuffix(w.v.Preview.Results[0].Limits, "…")[:20]) {
		t.Errorf("%v, the limits are %+v", err, w.v.Preview.Results)
	}
	w.until(inquiries.Detect)
	w.around.Refused = "the topic says who is right"
	if err := w.answer(inquiries.Next(w.v)[0], w.file("detection-leak")); err != nil || w.v.Detection.Triggers[0].Topic != asks {
		t.Errorf("%v, the topics are %+v", err, w.v.Detection.Triggers)
	}
	w.around.Refused = ""
	w.until(inquiries.Trace)
	answer = `{"rows": [{"perspective": "Cost accounting", "sections": ["Divergence", "Divergence"], "survived": false}, {"perspective": "Reliability engineering", "sections": [], "survived": true}]}`
	if err := w.answer(inquiries.Next(w.v)[0], answer); err != nil {
		t.Error(err)
	}
}
