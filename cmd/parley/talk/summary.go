package talk

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Summary is a message in one line: first what no host proved, then what kind of message it is if
// that is unusual, then the beginning of the text.
func Summary(m control.Message) string {
	if m.Act == protocol.ActReply {
		return marks(m) + "↳ " + FirstLine(m.Body)
	}
	return inTree(m)
}

// inTree is Summary for a place that already shows that the message is an answer.
func inTree(m control.Message) string {
	text := Gist(m)
	if r, err := protocol.Redact.Parse(m.Body); err == nil && m.Act == protocol.ActRedact {
		what := r.File
		if path, err := protocol.ParsePath(what); err == nil {
			what = path.Short()
		}
		text = term.Line(what + ": " + r.Reason)
	}
	if act := unusualAct(m); act != "" && m.Act != protocol.ActReply {
		text = strings.TrimSpace("[" + act + "] " + text)
	}
	return marks(m) + text
}

// marks come before the text of a message if its signature does not say who wrote it, or if its
// host could not tell. So a list shows that as well as chat and show do.
func marks(m control.Message) string {
	marks := ""
	for _, doubt := range Doubts(m) {
		marks += "[" + term.Line(doubt) + "] "
	}
	if m.Second != "" {
		marks += "[second answer] "
	}
	return marks
}

// Doubts say why a message has no text, and why its author may be another one than it says.
func Doubts(m control.Message) []string {
	words := protocol.Doubts(m.Signature, m.Unattended)
	if m.Unreadable != "" {
		words = append([]string{"no text: " + m.Unreadable}, words...)
	}
	return words
}

// unusualAct is the act of a message, if it is worth a word.
func unusualAct(m control.Message) string {
	if m.Act == protocol.ActHey {
		return ""
	}
	return term.Line(string(m.Act))
}

// IsForm reports whether a message has the lines of a form, which programs read.
func IsForm(m control.Message) bool {
	head, _, _ := strings.Cut(strings.TrimSpace(m.Body), "\n")
	class := m.Act.Class()
	return strings.Contains(head, " | ") && m.Act != protocol.ActNote && (class == protocol.ClassDeed || class == protocol.ClassNotice)
}

// Gist is the text of a message in one line: its first line, or what the lines of a form are about.
// That is what the form's heading names, and the next line, without what every list shows anyway.
func Gist(m control.Message) string {
	if !IsForm(m) {
		return FirstLine(m.Body)
	}
	head, rest, _ := strings.Cut(strings.TrimSpace(m.Body), "\n")
	var words []string
	for _, field := range strings.Split(head, " | ")[1:] {
		key, _, _ := strings.Cut(field, ":")
		if !slices.Contains([]string{"from", "with", "collaboration", "timestamp", "of"}, key) {
			words = append(words, strings.TrimPrefix(field, "topic: "))
		}
	}
	for line := range strings.Lines(rest) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "- ")
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "REQUEST:") {
			break
		}
		if line != "" && !strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "#") {
			words = append(words, strings.TrimPrefix(line, "ITEM: "))
			break
		}
	}
	if act, known := protocol.FindAct(m.Act); known && len(words) == 0 {
		return act.Doc
	}
	return term.Line(strings.Join(words, " · "))
}

// FirstLine is the first line of a body that has text in it, with a mark if more follows.
func FirstLine(body string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(body), "\n")
	first = term.Line(strings.TrimRight(first, "\r"))
	if rest != "" {
		first += " …"
	}
	return first
}

// Sender is "name@host"; only the name if the host is not known.
func Sender(m control.Message) string {
	if m.Host == "" {
		return m.From
	}
	return m.From + "@" + m.Host.String()
}

// ChannelLabel is the name that people use for the channel of a message. That is its own name, or
// "direct" or "all" if it is the channel of the author and the addressees, or else the beginning of
// its id.
func ChannelLabel(m control.Message) string {
	switch {
	case m.ChannelName != "":
		return term.Line(m.ChannelName)
	case m.Direct && len(m.To) == 1 && m.To[0] == protocol.All:
		return protocol.All
	case m.Direct && len(m.To) == 1:
		return "direct"
	}
	first, _, _ := strings.Cut(m.Channel.String(), "-")
	return first + "…" // tells it from the id of a message
}
