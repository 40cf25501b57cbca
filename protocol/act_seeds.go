package protocol

// The acts of the seeds whose bodies are free text here: they are known by their
// headings, shown by their names and taken to agents as any mail is. Those wake an agent that
// ask it for an answer in words (R63).
var (
	invite        = ActSpec{Act: "invite", Heading: "PARTY INVITE", Doc: "Asks others into a party."}
	introduction  = ActSpec{Act: "introduction", Heading: "INTRODUCTION", Wakes: true, Doc: "Says who somebody is, to one who does not know them."}
	syncCheck     = ActSpec{Act: "sync-check", Heading: "SYNC-CHECK", Wakes: true, Doc: "Asks another what they hold to be agreed."}
	syncResult    = ActSpec{Act: "sync-result", Heading: "SYNC-RESULT", Doc: "Says how far two who checked are aligned."}
	checkpoint    = ActSpec{Act: "checkpoint", Heading: "CHECKPOINT", Wakes: true, Doc: "Sums up where a topic stands, to be ratified, amended or rejected."}
	accept        = ActSpec{Act: "accept", Heading: "ACCEPT", Doc: "Assents to what `re` names."}
	reject        = ActSpec{Act: "reject", Heading: "REJECT", Doc: "Refuses what `re` names."}
	deferAct      = ActSpec{Act: "defer", Heading: "DEFER", Doc: "Puts the answer to what `re` names off."}
	revoke        = ActSpec{Act: "revoke", Heading: "REVOKE", Doc: "Takes an assent back."}
	reAccept      = ActSpec{Act: "re-accept", Heading: "RE-ACCEPT", Doc: "Assents again to what was taken back."}
	validate      = ActSpec{Act: "validate", Heading: "VALIDATE", Wakes: true, Doc: "Asks whether what was accepted some time ago still holds."}
	statusRequest = ActSpec{Act: "work-with-status-request", Heading: "WORK-WITH-STATUS-REQUEST", Doc: "Asks another how work with them stands."}
)
