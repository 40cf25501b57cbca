package talk

import (
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// showLetter shows a whole message: what is known about it, an empty line, and its text.
func showLetter(v cli.View, m control.Message) {
	field := func(name, value string) { v.Labelled(7, name, value) }
	field("from", Sender(m))
	field("to", strings.Join(m.To, ", "))
	field("time", v.At(m.Timestamp, cli.TimeForm))
	if m.Act != protocol.ActHey {
		field("act", string(m.Act))
	}
	field("re", m.Re)
	field("cause", m.Because)
	field("ref", m.Ref)
	field("path", m.Path.String())
	field("signed", Signed(v, m.Signature))
	if m.Unattended {
		field("caller", "unattended: its host could not tell which program wrote it in that name")
	}
	if m.Second != "" {
		field("second", "answer: another host, which also serves "+Sender(m)+", had answered before: "+m.Second)
	}
	field("stage", Stages(m))
	for _, line := range waiting(m, v) {
		field("waits", line)
	}
	if len(m.Addressees) > 1 {
		field("reach", reachOfEach(m))
	}
	if m.Body != "" {
		v.Out.Printf("\n%s\n", v.Out.Body(m.Body))
	}
}

// Signed says whether the signature of a message counts, and what it means if not.
func Signed(v cli.View, s protocol.Signature) string {
	switch s {
	case protocol.SignatureValid:
		return "valid"
	case protocol.SignatureUnverified:
		return "unverified: anyone who may push can have written it"
	case protocol.SignatureRefused:
		return "refused: the key that signed it does not count; why: " + v.Command("parley record verify")
	}
	return string(s)
}
