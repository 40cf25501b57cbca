package main

import (
	"strings"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// letter shows a whole message: what is known about it, a blank line, its text.
func (v view) letter(m control.Message) {
	v.field("from", sender(m))
	v.field("to", strings.Join(m.To, ", "))
	v.field("time", v.at(m.Timestamp, timeForm))
	if m.Act != protocol.ActHey {
		v.field("act", string(m.Act))
	}
	v.field("re", m.Re)
	v.field("ref", m.Ref)
	v.field("path", m.Path.String())
	v.field("signed", signed(m.Signature))
	v.field("stage", stages(m))
	if len(m.Addressees) > 1 {
		v.field("reach", reachOfEach(m))
	}
	if m.Body != "" {
		v.out.Printf("\n%s\n", v.out.Body(m.Body))
	}
}

func (v view) field(name, value string) {
	if value != "" {
		v.out.Printf("%s %s\n", v.out.Dim(term.Pad(name+":", 7)), term.Line(value))
	}
}

// signed says what the state of a signature means.
func signed(s protocol.Signature) string {
	switch s {
	case protocol.SignatureValid:
		return "valid"
	case protocol.SignatureUnverified:
		return "unverified: anyone who may push can have written it"
	case protocol.SignatureRefused:
		return "refused: it is not what its signer wrote"
	}
	return string(s)
}
