package protocol

import (
	"strings"
	"time"
)

// Timeout says that nobody decided on an item in time. Each host that looks observes it and writes
// it down for itself. It is sent to nobody: silence is no answer (R29).
type Timeout struct {
	ObservedBy string
	At         time.Time // UTC
	Item       ItemRef
	From, To   time.Time // UTC: the time within which an answer was waited for
}

// ActTimeout is the act of a Timeout. If somebody sends one all the same, it changes nothing.
const ActTimeout Act = "timeout"

// ObserveTimeout is the act that says a Timeout.
var ObserveTimeout = NewAct(ActSpec{
	Act: ActTimeout, Heading: "TIMEOUT", Class: ClassNotice, Doc: "Notes that no answer came in time: it is observed, never sent, and no refusal.",
}, parseTimeout, formatTimeout, Timeout{"skills-cli", exampleTime.Add(24 * time.Hour), exampleItem, exampleTime, exampleTime.Add(24 * time.Hour)})

func formatTimeout(t Timeout) string {
	w := writeForm("TIMEOUT", FormHead{At: t.At}, "observed-by", t.ObservedBy).put("ITEM", t.Item.String())
	if !t.From.IsZero() && !t.To.IsZero() {
		w.put("WINDOW", formatInstant(t.From)+".."+formatInstant(t.To))
	}
	return w.line(`NOTE: No response received — state is "unknown", not "no".`).String()
}

func parseTimeout(body string) (Timeout, error) {
	f := readForm("TIMEOUT", body, "ITEM", "WINDOW")
	t := Timeout{ObservedBy: f.head("observed-by"), At: f.At, Item: ParseItemRef(f.flat("ITEM"))}
	from, to, ok := strings.Cut(f.flat("WINDOW"), "..")
	if !ok {
		return t, nil
	}
	var err error
	if t.From, err = ParseInstant(from); err == nil {
		t.To, err = ParseInstant(to)
	}
	return t, err
}
