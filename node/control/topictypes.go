package control

import (
	"time"

	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// Topics lists what an agent works on with others. ShowTopic shows one topic as a whole, and
// ShowRelation what an agent has with another one. Everything follows from the record, so nobody is
// asked.
var (
	Topics = NewVerb[TopicsRequest, TopicList](VerbSpec{
		Name: "topics", Access: Reads, Doing: "list topics",
		Doc: "Lists what an agent works on with others.",
	})
	ShowTopic = NewVerb[TopicRequest, Topic](VerbSpec{
		Name: "topic", Access: Reads, Doing: "show a topic",
		Doc: "Shows a topic: items, scores, checkpoints, and what does not count.",
	})
	ShowRelation = NewVerb[RelationRequest, Relation](VerbSpec{
		Name: "relation", Access: Reads, Doing: "show a relationship",
		Doc: "Shows what an agent has with another one.",
	})
)

// OpenTopic opens a topic, or loads it if it is open. DoInTopic does something in one. Both act
// only for the one for whom they are asked (R59).
var (
	OpenTopic = NewVerb[OpenTopicRequest, Topic](VerbSpec{
		Name: "open-topic", Access: Speaks, Doing: "open a topic",
		Doc: "Opens a topic between two, or loads it where it is open.",
	})
	DoInTopic = NewVerb[TopicDeedRequest, TopicDeed](VerbSpec{
		Name: "topic-deed", Access: Speaks, Doing: "do that in a topic",
		Doc: "Does something in a topic: agree, accept, defer, close and so on.",
	})
)

// SweepTopics writes an agent's files of collaborations as the record is now, and says what has
// timed out. Doing it again changes nothing.
var SweepTopics = NewVerb[SweepRequest, Sweep](VerbSpec{
	Name: "sweep-topics", Access: Speaks, Doing: "write the files of collaborations",
	Doc: "Writes an agent's files of collaborations, and says what has timed out.",
})

// PageOfTopic is the text of a topic's file in ψ, as it is when nobody has written anything into
// it.
var PageOfTopic = NewVerb[TopicRequest, TopicPage](VerbSpec{
	Name: "topic-page", Access: Reads, Doing: "export a topic",
	Doc: "Shows a topic as a page of Markdown.",
})

// TopicPage is a topic for people and programs that ask no node.
type TopicPage struct {
	Text string `json:"text"` // Markdown
}

// Acting says for whom something is asked (R59). If an agent calls, it is that agent. If a human
// calls, it is the agent that is named, else the agent in whose folder Dir is, else the only agent
// of the host.
type Acting struct {
	As  string `json:"as,omitempty"`
	Dir string `json:"dir,omitempty"` // the folder in which it is asked; an absolute path
}

// Viewing says whose view is asked for: that of For, who may be anybody. Without For, it is the one
// that Acting gives.
type Viewing struct {
	For string `json:"for,omitempty"`
	Dir string `json:"dir,omitempty"` // the folder in which it is asked; an absolute path
}

// TopicsRequest asks for the topics of an agent, of the whole fleet, or with one partner.
type TopicsRequest struct {
	Viewing
	With   string `json:"with,omitempty"`   // only those with this partner
	Fleet  bool   `json:"fleet,omitempty"`  // those of everybody in the record
	Closed bool   `json:"closed,omitempty"` // closed ones too
	Items  bool   `json:"items,omitempty"`  // with their items
}

// TopicRequest names a topic: by its name or its short form. If there is only one, nothing need be
// named.
type TopicRequest struct {
	Viewing
	With  string `json:"with"`
	Topic string `json:"topic,omitempty"`
}

// OpenTopicRequest opens a topic.
type OpenTopicRequest struct {
	Acting
	With   string `json:"with"`
	Topic  string `json:"topic"`
	Anchor string `json:"anchor,omitempty"` // an issue: 332, repo#332, owner/repo#332 or its address
	Origin string `json:"origin,omitempty"` // the repository in which it is asked, as owner/repo: it completes the anchor
}

// TopicDeedRequest does something in a topic. The comments say which fields a deed needs.
type TopicDeedRequest struct {
	Acting
	With    string       `json:"with"`
	Topic   string       `json:"topic,omitempty"` // "": the only topic that is open with that partner
	Deed    protocol.Act `json:"deed"`            // agree, open, resolve, teach-back, disagree, accept, reject, defer, revoke, re-accept, validate, checkpoint, ratified, amendment, rejected, close, join-request
	Item    string       `json:"item,omitempty"`  // its label or its words; for defer, "" means all items that await one's decision
	Text    string       `json:"text,omitempty"`  // the words of agree, open, teach-back, disagree and amendment; of checkpoint, whose default is a list of what was decided; new words of re-accept; what an acceptance changes; the outcome of resolve
	Reason  string       `json:"reason,omitempty"`
	Until   time.Time    `json:"until,omitzero"`    // for defer
	Partner string       `json:"partner,omitempty"` // for join-request: the second of the two participants
	// Forward says, for a checkpoint, that a session ends with it. Then the other participant is
	// asked whether what was agreed on another day still holds (R29).
	Forward bool `json:"forward,omitempty"`
}

// TopicList are topics, and whose they are.
type TopicList struct {
	Me     string  `json:"me"`     // the one for whom it was asked; "" for the whole fleet
	Chosen string  `json:"chosen"` // why that one, if nobody named it: "folder" or "only"
	Topics []Topic `json:"topics"` // those in which something was done last come first
}

// Topic is what two participants have between them on one subject.
type Topic struct {
	topic.Head
	Me        string             `json:"me"`         // the participant whose view it is; the opener's if it is neither's
	With      string             `json:"with"`       // the other participant
	WithHost  string             `json:"with_host"`  // the host of the other participant; "" if it is not known
	CrossHost bool               `json:"cross_host"` // the two are served on different hosts
	Channel   protocol.ChannelID `json:"channel"`    // its channel
	OpenedBy  string             `json:"opened_by"`  // who opened it
	Terms     int                `json:"terms"`      // 1, and one more for each time that it was closed and opened again
	AnchorURL string             `json:"anchor_url"` // the address of the issue; "" if the repository is not known

	Status     topic.Status   `json:"status"`     // by the raw score, or that `me` has closed it
	Raw        protocol.Score `json:"raw"`        // the score that the other participant last gave
	Decayed    protocol.Score `json:"decayed"`    // what that score is worth now
	Colour     topic.Colour   `json:"colour"`     // of the decayed score; "" for none
	Mechanical bool           `json:"mechanical"` // a program compared, and no agent answered
	topic.Lambda
	LastSync  time.Time `json:"last_sync,omitzero"` // time of the answer; UTC
	Sparkline []float64 `json:"sparkline"`          // what the last seven answers are worth now

	Items       []TopicItem       `json:"items"`       // in the order of the record; none in lists, unless asked for
	Awaiting    int               `json:"awaiting"`    // agreements that await the decision of `me`
	Put         int               `json:"deferred"`    // agreements that `me` has put off
	Checks      []TopicCheck      `json:"checks"`      // sync-checks, the last one last; none in lists
	Checkpoints []TopicCheckpoint `json:"checkpoints"` // none in lists
	Exchanges   []topic.Word      `json:"exchanges"`   // what the two wrote to each other since it was opened, the last ones; none in lists
	Void        []TopicVoid       `json:"void"`        // what was said in it and does not count; none in lists
}

// TopicItem is an item of a topic, and what follows from it.
type TopicItem struct {
	topic.Item
	Text    string       `json:"text"`    // what it says now
	Phase   topic.Phase  `json:"phase"`   // of an agreement: the less settled of the two phases
	Agreed  bool         `json:"agreed"`  // both have accepted it
	Earlier []topic.Word `json:"earlier"` // the words that it had before
}

// TopicCheck is a sync-check with its answer.
type TopicCheck struct {
	topic.Check
	Prose      protocol.Path  `json:"prose"`             // the message that answered it without the form; "" for none
	Answer     protocol.Path  `json:"answer"`            // the message with the answer; "" if there is none
	Answered   time.Time      `json:"answered,omitzero"` // UTC
	Signed     bool           `json:"signed"`            // the answer was signed by a host that declares its author
	Mechanical bool           `json:"mechanical"`        // a program compared, and no agent answered
	Raw        protocol.Score `json:"raw"`               // the mean of the rows that count
	Counted    int            `json:"counted"`           // how many rows count
	Groupthink bool           `json:"groupthink"`        // everything is agreed on: a yellow flag
	Rows       []topic.Row    `json:"rows"`              // one for each claim
}

// TopicCheckpoint is a checkpoint, and how it stands.
type TopicCheckpoint struct {
	topic.Checkpoint
	Ratified time.Time    `json:"ratified,omitzero"` // UTC
	State    protocol.Act `json:"state"`             // pending, ratified, amendment or rejected
}

// TopicVoid is a deed that does not count.
type TopicVoid struct {
	topic.Word
	Act protocol.Act `json:"act"` // what it was meant to do
	Why string       `json:"why"` // why it does not count
}

// TopicDeed is what was done in a topic, and the topic after it.
type TopicDeed struct {
	Me       string   `json:"me"`       // the one for whom it was done
	Chosen   string   `json:"chosen"`   // why that one, if nobody named it: "folder" or "only"
	Messages []string `json:"messages"` // what was written; none if there was nothing to say
	Items    []string `json:"items"`    // labels of the items that it was about
	Topic    Topic    `json:"topic"`    // as it is now
	Validate []string `json:"validate"` // labels of the items about which the other participant is asked whether they still hold
	ByIssue  bool     `json:"by_issue"` // its issue is the only way to the other participant, and it has to be told there
}

// RelationRequest asks what an agent has with another one.
type RelationRequest struct {
	Viewing
	With string `json:"with"`
}

// Relation is what an agent has with another one.
type Relation struct {
	Me            string      `json:"me"`             // the one for whom it was asked
	Chosen        string      `json:"chosen"`         // why that one, if nobody named it: "folder" or "only"
	With          string      `json:"with"`           // the other one
	Host          string      `json:"host"`           // the host that serves the other one; "" if it is not known
	Node          string      `json:"node"`           // where contacts.json says that it is served; "" if that says nothing, or if a host serves it
	Transport     string      `json:"transport"`      // how a message reaches it: hey, wormhole, issue if no host serves it and a topic has an issue, else record
	Since         time.Time   `json:"since,omitzero"` // when their first topic was opened, UTC
	Trust         topic.Trust `json:"trust"`          // how much of what it says can be taken without a check
	Sessions      int         `json:"sessions"`       // days on which both wrote to each other
	Messages      int         `json:"messages"`       // messages that they wrote to each other
	TeachGiven    int         `json:"teach_given"`    // lessons that `me` said back
	TeachReceived int         `json:"teach_received"` // lessons that the other one said back
	Dissents      int         `json:"dissents"`       // differences that are not settled
	Soul          string      `json:"soul"`           // "same", "other", or "" if it is not known
	Prose         string      `json:"prose"`          // what people wrote about the two in context.md of `me`; "" if somebody else asks
	Topics        []Topic     `json:"topics"`         // those that `me` has not closed
}

// SweepRequest asks that the files of an agent be written.
type SweepRequest struct {
	Acting
}

// Sweep is the result of SweepTopics.
type Sweep struct {
	Me       string      `json:"me"`        // the one for whom it was asked
	Chosen   string      `json:"chosen"`    // why that one, if nobody named it: "folder" or "only"
	Folder   string      `json:"folder"`    // the folder of the files; "" if the agent has none
	Files    []string    `json:"files"`     // files that were changed
	TimedOut []SweptItem `json:"timed_out"` // agreements on which somebody has not decided in time
}

// SweptItem is an agreement on which somebody has not decided in time. This is observed, and is no
// rejection.
type SweptItem struct {
	Topic     string    `json:"topic"`               // its name
	With      string    `json:"with"`                // the partner
	ID        string    `json:"id"`                  // the label of the item
	Text      string    `json:"text"`                // what it says
	Who       string    `json:"who"`                 // who has not decided
	TimeoutAt time.Time `json:"timeout_at,omitzero"` // when the time had run out; UTC
	New       bool      `json:"new"`                 // the files did not say so before
}
