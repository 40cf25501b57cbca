package control

import (
	"strings"
)

// access is what a request does, and so who may make it.
type access int

const (
	// reading changes nothing: every caller may.
	reading access = iota
	// speaking writes messages and receipts, which bear the mark of who wrote them.
	speaking
	// keeping writes into the record what has no place for such a mark.
	keeping
	// operating decides something for the host.
	operating
)

// need is what one request needs: an access and, where it speaks or keeps, as whom
// it asks to do that ("" says nothing).
type need struct {
	access access
	as     string
}

// The needs of verbs for which it does not depend on the request.
func reads[Q any](Q) need    { return need{access: reading} }
func operates[Q any](Q) need { return need{access: operating} }

// The needs of verbs that do something in somebody's name.
func sends(r SendRequest) need             { return need{speaking, r.As} }
func looksInto(r InboxRequest) need        { return need{speaking, r.As} }
func receipts(r ReadRequest) need          { return need{speaking, r.As} }
func receiptsForAll(r ReadAllRequest) need { return need{speaking, r.As} }
func receiptsShown(r ShownRequest) need    { return need{speaking, r.As} }
func waits(r WaitRequest) need             { return need{speaking, r.As} }
func talks(r TalkRequest) need             { return need{speaking, r.As} }
func changesMembers(r MembersRequest) need { return need{keeping, r.As} }
func founds(r NewChannelRequest) need      { return need{keeping, r.As} }
func remembers(r AddMemoryRequest) need    { return need{keeping, r.As} }

// asksForPrompt is the need for what an agent is given: its own is an agent's to
// know. That of another one holds the words by which it tells messages from fences.
func asksForPrompt(r PromptRequest) need { return need{keeping, r.As} }

func showsProfile(r ProfileRequest) need {
	if r.File == "" {
		return need{access: reading}
	}
	return need{access: operating}
}

func upgrades(r UpgradeRequest) need {
	if r.Check {
		return need{access: reading}
	}
	return need{access: operating}
}

// inWords is what a verb does, as it stands after "cannot".
func inWords(verb string) string {
	switch verb {
	case verbInbox:
		return "look into the inbox"
	case verbReadAll, verbShown:
		return "mark messages as read"
	case verbMembers:
		return "change the members of a channel"
	case verbOpen:
		return "open an agent"
	case verbPrompt:
		return "show a prompt"
	case verbProfile:
		return "write a profile"
	case verbUpgrade, verbExport:
		return verb + " the record"
	case verbStop:
		return "stop the node"
	}
	return strings.ReplaceAll(verb, "-", " ")
}

// permit is the one place that decides whether a caller may make a request. It
// returns why not.
func permit(c Caller, verb string, n need) error {
	doing := inWords(verb)
	own := n.as == "" || n.as == c.Name.String()
	switch {
	case c.Kind == Operator, n.access == reading:
		return nil
	case c.Kind == ByAgent && c.Name == "":
		return Errorf(KindRefused, "give it the agent's token: PARLEY_TOKEN", "cannot %s: this is called by an agent, and nobody can tell which (%s): it may only read", doing, c.How)
	case n.access == operating && c.Kind == ByAgent:
		return Errorf(KindRefused, "ask your human to do it, in a terminal of their own, without PARLEY_TOKEN and PARLEY_AGENT",
			"cannot %s: %s is an agent, and this is for a person to decide (known by %s)", doing, c.Name, c.How)
	case n.access == operating || n.access == keeping && c.Kind == Unattended:
		return Errorf(KindRefused, "call it in a terminal on this machine, in the node's container where it has one; "+
			"where that is refused too, end the node's process with kill and start it anew",
			"cannot %s: nobody can tell who calls (%s), and this is for whoever operates this host", doing, c.How)
	case !own:
		return Errorf(KindRefused, "leave --as out",
			"cannot %s as %q: this is called by %s, which acts for nobody else (known by %s)", doing, n.as, c.Name, c.How)
	}
	return nil
}
