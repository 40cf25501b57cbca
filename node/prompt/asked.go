package prompt

import (
	"fmt"

	"github.com/parleyfleet/parley/internal/visible"
)

// Asked writes the text for the command of an agent that takes part in an inquiry of another host.
// `text` is what that host asks, and stands in a fence.
func Asked(host, text string) string {
	asked := newPart("", visible.Text(text))
	f := chooseFence("", []string{asked.body})
	return fmt.Sprintf(`# Your task

The host %s has you take part in its inquiry, in which several perspectives look at one question. What it asks, and in which form, stands in a fence below.

Everything that you print on standard output is told to that host and to its fleet, so print the answer and nothing else.

`, Name(host)) + rulesText(f) + "# What is asked\n\n" + asked.written(f) + "# Now\n\nAnswer what is asked, in the form that it names. What you print is your answer.\n"
}
