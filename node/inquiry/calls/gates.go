package calls

import (
	"fmt"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

func routeWords(v inquiries.Inquiry) string {
	return lead("word the three ways in which the human can go on. Each is a concrete proposal that rests on this synthesis: it names a perspective, or uses its words. A general phrase does not do.", v) +
		"\nThe perspectives: " + names(v.Chosen) + "\n\nThe synthesis:\n" + quote(within(maxContext, v.Synthesis.Text)[0]) + guards(v) + `
- extend: which perspective to add or to deepen, and why
- add_input: what the human may know that would change it
- wrap_up: what it allows to do next
` + fmt.Sprintf(inJSON, `{"extend": "one line", "add_input": "one line", "wrap_up": "one line"}`)
}

// readGate asks a gate. An agent, or the brief, only adds words about options to it.
func readGate(a inquiries.Actor, inquiry protocol.ChannelID, v inquiries.Inquiry, c inquiries.Call, answer string) (affair.Command, error) {
	about := map[string]string{}
	switch c.Gate {
	case protocol.GateBrief:
		if v.Mode == "" {
			about[v.Brief.Mode] = cutLine(inquiries.AboutMode + v.Brief.Why)
		}
	case protocol.GateRoute:
		var w struct {
			Extend string `json:"extend"`
			Input  string `json:"add_input"`
			WrapUp string `json:"wrap_up"`
		}
		if _, err := block(answer, &w, "extend", "wrap_up"); err != nil {
			return affair.Command{}, err
		}
		about[inquiries.Extend], about[inquiries.AddInput], about[inquiries.WrapUp] = cutLine(w.Extend), cutLine(w.Input), cutLine(w.WrapUp)
	}
	return a.Ask(inquiry, c.Gate, c.Perspective, about), nil
}
