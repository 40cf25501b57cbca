package protocol

// The acts of plain conversation.
const (
	ActHey       Act = "hey"
	ActTell      Act = "tell"
	ActBroadcast Act = "broadcast"
	ActNote      Act = "note"
	ActReply     Act = "reply"
	ActRead      Act = "read"
)

var (
	hey       = ActSpec{Act: ActHey, Wakes: true, Doc: "A message from one to one, and any whose act nothing else says."}
	tell      = ActSpec{Act: ActTell, Wakes: true, Doc: "A message to a list."}
	broadcast = ActSpec{Act: ActBroadcast, Wakes: true, Doc: "A message to all."}
	note      = ActSpec{Act: ActNote, Class: ClassNotice, Doc: "For the eyes of those it is for: nobody is to answer."}
	reply     = ActSpec{Act: ActReply, Wakes: true, Doc: "An answer to the message that `re` names."}
	read      = ActSpec{Act: ActRead, Class: ClassReceipt, Doc: "The receipt of the message that `ref` names; `type: read` says so too."}
)

// Acts of the seeds whose bodies are free text here. They are known by their headings, shown by
// their names and taken to agents like any mail. Those that ask an agent for an answer in words
// wake it (R63).
var (
	introduction  = ActSpec{Act: "introduction", Heading: "INTRODUCTION", Wakes: true, Doc: "Says who somebody is, to one who does not know them."}
	statusRequest = ActSpec{Act: "work-with-status-request", Heading: "WORK-WITH-STATUS-REQUEST", Doc: "Asks another how work with them stands."}
)
