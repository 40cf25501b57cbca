package cli

import (
	"cmp"

	"github.com/parleyfleet/parley/node/control"
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
