package protocol

import "strings"

// ActOfAnswer is the act of an answer that names none itself, such as the output of an agent's
// command. `asked` is the act of the message that is answered. It says which forms of answers are
// looked for: the body must have one of them. Words may stand before and after the form. Prose is
// never a decision, and neither are two decisions in one answer (R65).
func ActOfAnswer(asked Act, body string) (Act, bool) {
	switch asked {
	case ActSyncCheck:
		_, err := parseSyncResult(body)
		return ActSyncResult, err == nil
	case ActCheckpoint:
		return oneOf(body, Ratify.ActSpec, Amend.ActSpec, RejectSum.ActSpec)
	case ActAgree:
		return oneOf(body, Accept.ActSpec, Reject.ActSpec, Defer.ActSpec)
	case ActValidate:
		return oneOf(body, ReAccept.ActSpec, Accept.ActSpec, Revoke.ActSpec)
	}
	return "", false
}

// oneOf is the act among `specs` whose heading begins a line of the body. It finds none if two
// lines begin with such headings.
func oneOf(body string, specs ...ActSpec) (Act, bool) {
	var found *ActSpec
	for line := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
		for i := range specs {
			if !opens(specs[i].Heading, strings.TrimSuffix(line, "\n")) {
				continue
			}
			if found != nil {
				return "", false
			}
			found = &specs[i]
		}
	}
	if found == nil {
		return "", false
	}
	_, err := found.parse(body)
	return found.Act, err == nil
}

// opens reports whether a line begins a form with that heading. The short form of the seed
// ("AMENDMENT: text") counts too.
func opens(heading, line string) bool {
	if _, ok := cutHeading(heading, line); ok {
		return true
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t*#`"), heading)
	return ok && strings.HasPrefix(strings.TrimLeft(rest, "*"), ":")
}
