package cli

import "github.com/parleyfleet/parley/node/control"

// Waiting is the word for what an agent's work waits for. It is the same wherever an agent or a
// message in that state is shown.
func Waiting(why control.JobWhy) string {
	switch why {
	case control.WhyNothing:
		return "next"
	case control.WhySlots:
		return "in line"
	case control.WhyStalled:
		return "cannot start"
	case control.WhyRetry:
		return "failing"
	case control.WhyBudget:
		return "over budget"
	}
	return string(why)
}

// WaitsFor says what that word means; "" if a later version has made it.
func WaitsFor(why control.JobWhy) string {
	switch why {
	case control.WhyNothing:
		return "about to start"
	case control.WhyBusy:
		return "it works on others"
	case control.WhySlots:
		return "its host runs as many commands as it may"
	case control.WhyPaused:
		return "somebody has paused it"
	case control.WhyStalled:
		return "the disk does not take the note that it starts"
	case control.WhyRetry:
		return "an attempt failed"
	case control.WhyOrder:
		return "what was written before it is on the way"
	case control.WhyReceipt:
		return "the receipt that may say what it answers is on the way"
	case control.WhyBudget:
		return "agents have had it run as often as they may"
	case control.WhyParty:
		return "it is busy in the party"
	case control.WhyQuiet:
		return "it is quiet hours for it"
	case control.WhyClaim:
		return "hosts settle which of them does it"
	case control.WhyHalted:
		return "its host runs no agent for now"
	}
	return ""
}
