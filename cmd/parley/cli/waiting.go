package cli

import (
	"cmp"
	"context"
	"time"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// waits is what an agent's work may wait for: a word, if it is another one than in JSON, and what
// that means.
func waits(why control.JobWhy) (word, meaning string) {
	words := map[control.JobWhy][2]string{
		control.WhyNothing: {"next", "about to start"},
		control.WhyBusy:    {"", "it works on others"},
		control.WhySlots:   {"in line", "its host runs as many commands as it may"},
		control.WhyPaused:  {"", "somebody has paused it"},
		control.WhyStalled: {"cannot start", "the disk does not take the note that it starts"},
		control.WhyRetry:   {"failing", "an attempt failed"},
		control.WhyOrder:   {"", "what was written before it is on the way"},
		control.WhyReceipt: {"", "the receipt that may say what it answers is on the way"},
		control.WhyBudget:  {"over budget", "agents have had it run as often as they may"},
		control.WhyParty:   {"", "it is busy in the party"},
		control.WhyQuiet:   {"", "it is quiet hours for it"},
		control.WhyClaim:   {"", "hosts settle which of them does it"},
		control.WhyHalted:  {"", "its host runs no agent for now"},
	}[why]
	return cmp.Or(words[0], string(why)), words[1]
}

// Waiting is the word for what an agent's work waits for. It is the same wherever an agent or a
// message in that state is shown.
func Waiting(why control.JobWhy) string {
	word, _ := waits(why)
	return word
}

// WaitsFor says what that word means; "" if a later version has made it.
func WaitsFor(why control.JobWhy) string {
	_, meaning := waits(why)
	return meaning
}

// busyAfter is how long something may take before a person is told what it is.
const busyAfter = time.Second

// Busy tells a person at a terminal what is being waited for, if the wait takes longer than a
// second. `done` ends it.
func (v View) Busy(what string) (done func()) {
	return v.While(what, busyAfter, func(context.Context, *Bar) bool {
		v.Err.Printf("%s\n", v.Err.Dim(what+" …"))
		return false
	})
}

// watchEvery is the time between two questions about how far a node has come.
const watchEvery = 250 * time.Millisecond

// Watch tells a person at a terminal how far the node has come with a request, if that takes longer
// than a second. It asks the node by the question `progress`. `done` ends it. If the node does not
// know that question, the wait is silent.
func (v View) Watch(what string, progress control.Question[control.Progress], client control.Service) (done func()) {
	return v.While(what, watchEvery, func(ctx context.Context, bar *Bar) bool {
		far, err := progress.Ask(ctx, client)
		bar.Show(far.Done, far.Total)
		return err == nil
	})
}

// While has `tell` tell a person at a terminal about a wait: after each `every`, until it returns
// false or `done` is called. After that it tells no more.
func (v View) While(what string, every time.Duration, tell func(context.Context, *Bar) bool) (done func()) {
	if !v.Err.Terminal || v.JSON {
		return func() {}
	}
	bar := v.Progress(what)
	stop := wait.Background(func(ctx context.Context) { // ends with done
		for wait.Sleep(ctx, every) && tell(ctx, bar) {
		}
	})
	return func() {
		stop()
		bar.End()
	}
}

// Waits says what a session of an agent program waits for, and `why` if that does not say it itself.
func (v View) Waits(w protocol.Waits) (text, why string) {
	at := v.Stamp(w.Time)
	switch w.For {
	case protocol.WaitsForHuman:
		return "waits for its human since " + at, ""
	case protocol.WaitsForTurns:
		return "takes up no more mail until " + at, "mail has begun as many turns of it within an hour as it may; what somebody types begins one"
	case protocol.WaitsForTurn:
		return "hears at its next turn", ""
	}
	return "waits (" + term.Line(w.For) + ")", "" // a word of a later version
}
