package with

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// runSync asks partners about the claims of topics, and shows the results.
func runSync(ctx context.Context, c *call) error {
	r := control.SyncRequest{Acting: c.acting, Topic: c.topic(), Claims: c.claims, Wait: c.wait, Persist: c.persist}
	if c.partner() != "" {
		r.With = strings.Split(c.partner(), ",")
	}
	return follow(ctx, r, c.client, c.view)
}

// follow asks for a sync-check, and shows what comes of it.
func follow(ctx context.Context, r control.SyncRequest, client control.Service, v cli.View) error {
	w := waiting{v: v, began: v.Now()}
	defer w.stop()
	answered, silent, other, refused := 0, 0, 0, ""
	err := control.Sync.Ask(ctx, client, r, func(e control.SyncEvent) error {
		w.stop()
		defer w.note(e)
		switch e.Kind {
		case control.SyncResult:
			answered++
		case control.SyncTimeout:
			silent++
		case control.SyncFailed, control.SyncProse:
			other++
		case control.SyncRefused:
			refused = e.Problem
		}
		if v.JSON {
			return v.WriteJSON(e)
		}
		showSync(v, e)
		return nil
	})
	switch {
	case err == nil && answered > 0 && refused != "":
		return control.Errorf(control.KindFailed, "", "one that was to be checked was not: %s", term.Line(refused))
	case err != nil || answered > 0:
		return err
	case other > 0:
		return control.Errorf(control.KindFailed, "a result that comes later counts: the next --sync shows it", "nobody answered in the form of a result")
	case silent > 0:
		return control.Errorf(control.KindTimeout, "a late result counts: the next --sync shows it", "nobody answered in time")
	case refused != "":
		return control.Errorf(control.KindRefused, "", "cannot check: %s", term.Line(refused))
	}
	return nil
}

// waiting tells a person at a terminal for whom the command waits.
type waiting struct {
	v     cli.View
	began time.Time
	names []string
	end   func() // nil while no line is shown
}

// note says after an event whose answer is still missing.
func (w *waiting) note(e control.SyncEvent) {
	name := term.Line(e.With)
	switch e.Kind {
	case control.SyncSent:
		if e.Transport == control.ByIssue {
			break // nobody waits for that one
		}
		w.names = append(w.names, name)
	case control.SyncResult, control.SyncTimeout, control.SyncFailed:
		if i := slices.Index(w.names, name); i >= 0 {
			w.names = slices.Delete(w.names, i, i+1)
		}
	}
	if len(w.names) == 0 {
		return
	}
	line := "waiting for " + strings.Join(w.names, ", ")
	w.end = w.v.While("sync", cli.ProgressEvery, func(_ context.Context, bar *cli.Bar) bool {
		bar.Say(fmt.Sprintf("%s (%s)", line, span.Text(w.v.Now().Sub(w.began).Round(time.Second))))
		return true
	})
}

// stop removes the line.
func (w *waiting) stop() {
	if w.end != nil {
		w.end()
		w.end = nil
	}
}

// symbol returns a sign of the seed if there is a terminal, and "" if there is none.
func symbol(v cli.View, sign string) string {
	if v.Out.Terminal {
		return sign + " "
	}
	return ""
}

func showSync(v cli.View, e control.SyncEvent) {
	with, topic := term.Line(e.With), term.Line(e.Topic)
	showNews(v, e.Issue)
	switch e.Kind {
	case control.SyncSent:
		v.Out.Printf("%s%s ↔ %s: %q asked by way of %s\n", symbol(v, "📨"), term.Line(e.Via), with, topic, way(e))
		showComment(v, e.Comment)
		if e.Transport == control.ByIssue {
			v.Out.Printf("%s\n", v.Out.Dim("  The next --sync or --recap reads the answer."))
		}
	case control.SyncRefused:
		v.Out.Printf("%s%s: no check of %q: %s\n", symbol(v, "⚠️"), with, topic, term.Line(e.Problem))
	case control.SyncTimeout:
		v.Out.Printf("%s%s: no result for %q within %s\n", symbol(v, "⏱"), with, topic, span.Text(e.Took.Duration().Round(time.Second)))
		v.Out.Printf("%s\n", v.Out.Dim("  Unknown state, not rejection: a late result counts, and the next --sync shows it."))
	case control.SyncProse:
		v.Out.Printf("%s%s answered %q in prose, which scores nothing: parley show %s\n", symbol(v, "⚠️"), with, topic, term.Line(e.Problem))
	case control.SyncFailed:
		v.Out.Printf("%s%s failed on %q: parley show %s\n", symbol(v, "⚠️"), with, topic, term.Line(e.Problem))
	case control.SyncResult, control.SyncLate:
		if e.Result != nil {
			showOutcome(v, e)
		}
	}
}

// ways has the ways that a check can go, in words.
var ways = map[string]string{
	control.BySameHost: "hey, on this host", control.ByOtherHost: "wormhole, on another host", control.ByRecord: "inbox: the record brings it there, by git",
}

// showOutcome shows a result as the seed draws it.
func showOutcome(v cli.View, e control.SyncEvent) {
	r, with := e.Result, term.Line(e.With)
	how := ""
	if r.Mechanical {
		how = " (mechanical)"
	}
	if !r.Signed {
		how += " (unverified)"
	}
	if r.Late {
		how += " (late)"
	}
	v.Out.Printf("\n%sSynchronic Score: %s ↔ %s, %q%s\n", symbol(v, "🔄"), term.Line(e.Via), with, term.Line(e.Topic), how)
	t := term.Table{Heading: []string{"Claim", "Raw", "Decay", "Decision", "Evidence"}, Flexible: 4}
	for _, row := range r.Rows {
		decision := string(row.Decision)
		if row.Flag == topic.Unanswered {
			decision = "unanswered"
		}
		t.Rows = append(t.Rows, []string{claim(row), row.Raw.String(), row.Decayed.String(), decision, term.Line(row.Evidence)})
	}
	v.Out.Table(t)
	v.Out.Printf("Raw overall: %s  Decayed overall: %s  λ: %s\n", cli.Percent(r.Raw), v.Out.Colour(string(topic.ColourOf(r.Decayed)), cli.Percent(r.Decayed)), fmt.Sprintf("%g (%s)", r.Lambda.Value, r.Tier))
	status := "nothing scored"
	if r.Status != "" {
		status = string(r.Status)
	}
	if r.Status == topic.Partial {
		status += " SYNC"
	}
	v.Out.Printf("Last sync: %s, Status: %s", v.At(r.Time, cli.TimeForm), status)
	if r.Counted < len(r.Rows) {
		v.Out.Printf(", %d of %d answered", r.Counted, len(r.Rows))
	}
	v.Out.Printf("\n")
	flags := flagsOf(r, with)
	if len(flags) > 0 {
		v.Out.Printf("%sYellow flags:\n", symbol(v, "⚠️"))
		for _, f := range flags {
			v.Out.Printf("- %s\n", f)
		}
	}
	v.Out.Printf("%sActions:\n- Kept in the record, raw: %s\n", symbol(v, "✓"), r.Path)
	for _, label := range e.Validate {
		v.Out.Printf("- Asked %s whether [%s] still holds\n", with, term.Line(label))
	}
}

func flagsOf(r *control.SyncOutcome, with string) (flags []string) {
	for _, row := range r.Rows {
		switch row.Flag {
		case topic.NotInMemory:
			flags = append(flags, fmt.Sprintf("%s not in %s's memory: remove or re-discuss?", claim(row), with))
		case topic.NoEvidence:
			flags = append(flags, claim(row)+" without evidence: it does not count")
		case topic.Unanswered:
			flags = append(flags, claim(row)+" unanswered: it does not count")
		case topic.Contradiction:
			flags = append(flags, fmt.Sprintf("%s rejected here, though %s accepted it: does it still hold?", claim(row), with))
		}
	}
	switch {
	case r.Groupthink && r.Counted < len(r.Rows):
		flags = append(flags, fmt.Sprintf("100%%: all is agreed on that was answered, %d of %d. What of the others?", r.Counted, len(r.Rows)))
	case r.Groupthink:
		flags = append(flags, "100%: all is agreed on, also what is open to interpretation? What do you see otherwise?")
	}
	return flags
}

func claim(row control.SyncLine) string {
	if row.Label == "" {
		return term.Line(row.Text)
	}
	return "[" + term.Line(row.Name()) + "]"
}
