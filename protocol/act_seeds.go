package protocol

// Acts of the seeds whose bodies are free text here. They are known by their headings, shown by
// their names and taken to agents like any mail. Those that ask an agent for an answer in words
// wake it (R63).
var (
	introduction  = ActSpec{Act: "introduction", Heading: "INTRODUCTION", Wakes: true, Doc: "Says who somebody is, to one who does not know them."}
	statusRequest = ActSpec{Act: "work-with-status-request", Heading: "WORK-WITH-STATUS-REQUEST", Doc: "Asks another how work with them stands."}
)
