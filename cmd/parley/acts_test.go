package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// The page about acts is generated from their table.
func TestActsReferenceIsUpToDate(t *testing.T) {
	wantPage(t, "acts.md", renderActs(protocol.Acts()))
}

func renderActs(acts []protocol.ActSpec) string {
	var b strings.Builder
	b.WriteString(`# Acts

Generated from the program's table of acts by ` + "`go test ./cmd/parley -update`" + `.

What a message does is its act. It stands in the field ` + "`act`" + `; where that field is missing, the body says it by the
heading that it begins with: ` + "`SYNC-CHECK | from: mawjs`" + `. Where that is missing too, it is ` + "`hey`" + `. A message
whose act is unknown is mail.

Mail is taken to the agents that it is for. A notice is shown to those it is for, and runs nobody. A receipt says that
a message was read. A deed is mail that changes what is agreed. Words of hosts are the fleet's own book-keeping; only those that a host has signed count.

An agent's command is run for mail whose act wakes it, and for acts that are unknown; other mail is shown to the agent and
acknowledged. ` + "`wakes_on`" + ` in the agent's file, or ` + "`parley agent set NAME --wakes-on hey,tell`" + `, names other acts of mail.

| act | heading | class | wakes | what it does |
|---|---|---|---|---|
`)
	for _, a := range acts {
		heading := a.Heading
		if heading != "" {
			heading = "`" + heading + "`"
		}
		wakes := ""
		if a.Wakes {
			wakes = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", a.Act, heading, a.Class, wakes, a.Doc)
	}
	b.WriteString(`
## Bodies that have a form

Lines that a reader does not know are passed over, so that later versions may say more. Bodies of deeds are read as people and
language models write them too: with words before and after the form, in fences, with bold keys, fields in another order. A field
goes on in indented lines. An item is named by its label, its text or both; the field ` + "`re`" + ` of the message names it beyond doubt.
`)
	for _, a := range acts {
		if a.Example() != "" {
			fmt.Fprintf(&b, "\n### %s\n\n%s For example:\n\n```\n%s\n```\n", a.Act, a.Doc, strings.TrimSpace(a.Example()))
		}
	}
	return b.String()
}
