package protocol

// ActRedact is the act of a Redaction.
const ActRedact Act = "redact"

// Redaction hides the text of a message or a memory from all who look at it through a host that
// knows this act (R75). Git keeps the text.
type Redaction struct {
	FormHead
	File   string // of the message or memory, from the top of the record
	Reason string
}

// Decides is what a human's signature of a redaction is about.
func (r Redaction) Decides() string { return r.File + ": " + flatText(r.Reason) }

// Redact is the act by which a text is redacted.
var Redact = formAct(ActSpec{
	Act: ActRedact, Heading: "REDACT", Class: ClassNotice, Doc: "Hides the text of a message or a memory on every host; git keeps it (R75).",
}, Redaction{FormHead{From: "nat", At: exampleTime}, exampleRun.RepoPath(), "It has a token."}, func(r *Redaction) []part {
	return []part{flatPart("FILE", &r.File), check(func() bool { return redactable(r.File) }, "it names no message and no memory"), flatPart("REASON", &r.Reason), needs(&r.Reason, "it gives no reason")}
})

// redactable reports whether a message or a memory can be at that path.
func redactable(file string) bool {
	_, memory := ParseMemoryPath(file)
	message, err := ParsePath(file)
	return memory || err == nil && message.RepoPath() == file
}

// FreeText reports whether messages of the act are talk: their words change nothing that is agreed,
// and no program reads them. An act that is not known may be more than that.
func (a Act) FreeText() bool {
	spec, known := byName[a]
	return known && spec.parse == nil && (spec.Class == ClassMail || spec.Class == ClassNotice)
}
