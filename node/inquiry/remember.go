package inquiry

import (
	"context"
	"fmt"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/node/control"
)

// remember keeps the findings that the human preserved, and the limits that nobody addressed, as
// memories of the coordinator (R56). What was kept before a crash is not kept twice.
func (q *Inquiries) remember(ctx context.Context, v inquiries.Inquiry) error {
	if len(v.Preserve) == 0 {
		return nil
	}
	texts, _ := inquiries.Sections(v.Synthesis.Text, inquiries.SynthesisSections()...)
	var all []control.AddMemoryRequest
	keep := func(what, text string, tags ...string) {
		all = append(all, control.AddMemoryRequest{
			Subject: fmt.Sprintf("%s (inquiry %s)", what, id8(v.Channel)), Scope: v.Opening.Channel, Tags: tags, Body: v.Opening.Text + "\n\n" + text,
		})
	}
	for _, category := range v.Preserve {
		section := inquiries.SectionOf(category)
		keep(section, texts[section], "frame")
	}
	if gaps := v.Trace.Gaps; len(gaps) > 0 {
		text := ""
		for _, gap := range gaps {
			text += "- " + gap + "\n"
		}
		keep("Coverage gaps", text, "frame", "coverage-gap")
	}
	for _, r := range all {
		there := false
		q.Folded(func(s *fleet.State) {
			there = len(s.Memories.List(shelf.MemoryFilter{From: v.Coordinator.Name, Subject: r.Subject})) > 0
		})
		if there {
			continue
		}
		if err := q.Remember(ctx, r, v.Coordinator.Name); err != nil {
			return fmt.Errorf("cannot keep what was preserved: %w", err)
		}
	}
	return nil
}
