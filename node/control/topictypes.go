package control

import (
	"time"

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
	Me          string             `json:"me"`                 // the participant whose view it is; the opener's if it is neither's
	With        string             `json:"with"`               // the other participant
	WithHost    string             `json:"with_host"`          // the host of the other participant; "" if it is not known
	CrossHost   bool               `json:"cross_host"`         // the two are served on different hosts
	Name        string             `json:"name"`               // the name of the topic
	Slug        string             `json:"slug"`               // the short form of the name, as in file names
	Channel     protocol.ChannelID `json:"channel"`            // its channel
	Derived     bool               `json:"derived"`            // its channel follows from the two and the name. Otherwise somebody has chosen it by hand, and to work in it one opens the topic anew
	Opened      string             `json:"opened"`             // the message that opened this term
	OpenedBy    string             `json:"opened_by"`          // who opened it
	Since       time.Time          `json:"since,omitzero"`     // UTC
	Terms       int                `json:"terms"`              // 1, and one more for each time that it was closed and opened again
	Anchor      string             `json:"anchor"`             // its issue; "" for none
	AnchorURL   string             `json:"anchor_url"`         // the address of the issue; "" if the repository is not known
	Status      string             `json:"status"`             // by the raw score: NEW, SYNCED, PARTIAL, DEGRADED, DESYNC; CLOSED
	Raw         *float64           `json:"raw"`                // the score that the other participant last gave; null if there is none
	Decayed     *float64           `json:"decayed"`            // what that score is worth now
	Colour      string             `json:"colour"`             // of the decayed score: green, amber, cyan, gray; "" for none
	Mechanical  bool               `json:"mechanical"`         // a program compared, and no agent answered
	Lambda      float64            `json:"lambda"`             // how fast a score loses its worth: by the factor e^(-λ) in each hour
	Tier        string             `json:"tier"`               // why λ has that value; "intra-soul, by contacts.json" if the record does not say whose the two are
	LastSync    time.Time          `json:"last_sync,omitzero"` // time of the answer; UTC
	Sparkline   []float64          `json:"sparkline"`          // what the last seven answers are worth now
	Items       []TopicItem        `json:"items"`              // in the order of the record; none in lists, unless asked for
	Awaiting    int                `json:"awaiting"`           // agreements that await the decision of `me`
	Put         int                `json:"deferred"`           // agreements that `me` has put off
	Checks      []TopicCheck       `json:"checks"`             // sync-checks, the last one last; none in lists
	Checkpoints []TopicCheckpoint  `json:"checkpoints"`        // none in lists
	Closed      []TopicWord        `json:"closed"`             // who has closed their side
	Joins       []TopicWord        `json:"joins"`              // who has asked to take part
	Exchanges   []TopicWord        `json:"exchanges"`          // what the two wrote to each other since it was opened, the last ones; none in lists
	Void        []TopicVoid        `json:"void"`               // what was said in it and does not count; none in lists
}

// TopicItem is one thing of a topic: an agreement (A1), an open question (P1), a lesson
// (T1) or a difference (D1).
type TopicItem struct {
	ID          string            `json:"id"`                 // its label
	Path        string            `json:"path"`               // the message that brought it, which identifies it
	Sort        string            `json:"sort"`               // agreement, question, lesson or dissent
	Text        string            `json:"text"`               // what it says now
	By          string            `json:"by"`                 // who brought it
	Time        time.Time         `json:"time,omitzero"`      // UTC
	Signed      bool              `json:"signed"`             // by a host that declares its author
	Phase       string            `json:"phase"`              // of an agreement: the less settled of the two phases
	Agreed      bool              `json:"agreed"`             // both have accepted it
	Stands      []TopicStand      `json:"stands"`             // of an agreement: where each of the two stands
	Earlier     []TopicWord       `json:"earlier"`            // the words that it had before
	Resolved    *TopicWord        `json:"resolved,omitempty"` // how it was settled; absent if it is open
	Validations []TopicValidation `json:"validations"`        // when it was asked whether it still holds
}

// TopicStand is where one of the two stands on an agreement.
type TopicStand struct {
	Who       string    `json:"who"`                 // the participant
	Phase     string    `json:"phase"`               // pending, accept, reject, defer or timeout
	Previous  string    `json:"previous"`            // the phase before; "" for none
	Decided   time.Time `json:"decided,omitzero"`    // UTC
	Path      string    `json:"path"`                // the decision; "" if there is none
	Signed    bool      `json:"signed"`              // by a host that declares its author
	Reason    string    `json:"reason"`              // the reason, or what an acceptance changes
	Until     time.Time `json:"until,omitzero"`      // of a deferral
	AnswerBy  time.Time `json:"answer_by,omitzero"`  // if it is pending: until when an answer is waited for
	TimeoutAt time.Time `json:"timeout_at,omitzero"` // when the time had run out: this is observed, and no refusal
}

// TopicWord is something that somebody said.
type TopicWord struct {
	By   string    `json:"by"`            // who
	Time time.Time `json:"time,omitzero"` // UTC
	Text string    `json:"text"`          // "" if nothing was said
	Path string    `json:"path"`          // the message
}

// TopicValidation is a question whether an agreement still holds.
type TopicValidation struct {
	By        string    `json:"by"`            // who asks
	Of        string    `json:"of"`            // who is asked
	Time      time.Time `json:"time,omitzero"` // UTC
	Milestone string    `json:"milestone"`     // the reason for asking at that time
	Answer    string    `json:"answer"`        // the message with the answer; "" if there is none
	Holds     bool      `json:"holds"`         // the agreement still holds
	Stale     bool      `json:"stale"`         // no answer came in time: the agreement should be revoked or accepted anew
}

// TopicCheck is a sync-check with its answer.
type TopicCheck struct {
	Path       string     `json:"path"`               // the message that asks
	By         string     `json:"by"`                 // who asks
	Of         string     `json:"of"`                 // who is asked
	Time       time.Time  `json:"time,omitzero"`      // UTC
	AnswerBy   time.Time  `json:"answer_by,omitzero"` // until when an answer is waited for
	TimedOut   bool       `json:"timed_out"`          // nothing came in time; that is observed, and no refusal
	Prose      string     `json:"prose"`              // the message that answered it without the form; "" for none
	Answer     string     `json:"answer"`             // the message with the answer; "" if there is none
	Answered   time.Time  `json:"answered,omitzero"`  // UTC
	Signed     bool       `json:"signed"`             // the answer was signed by a host that declares its author
	Mechanical bool       `json:"mechanical"`         // a program compared, and no agent answered
	Raw        *float64   `json:"raw"`                // the mean of the rows that count; null if none counts
	Counted    int        `json:"counted"`            // how many rows count
	Groupthink bool       `json:"groupthink"`         // everything is agreed on: a yellow flag
	Rows       []CheckRow `json:"rows"`               // one for each claim
}

// CheckRow is a claim of a sync-check, and what was answered to it.
type CheckRow struct {
	ID       string   `json:"id"`       // its label
	Text     string   `json:"text"`     // what is claimed
	Source   string   `json:"source"`   // the source of the claim; "" if none is given
	Score    *float64 `json:"score"`    // null if there is none
	Decision string   `json:"decision"` // ACCEPT, PARTIAL, REJECT; "" for none
	Evidence string   `json:"evidence"` // what the score rests on; "" for nothing
	Flag     string   `json:"flag"`     // unanswered, no evidence, contradicts, not in memory; "" for none
}

// TopicCheckpoint is a summary of a topic.
type TopicCheckpoint struct {
	Path       string      `json:"path"`              // the message
	By         string      `json:"by"`                // who wrote it
	Time       time.Time   `json:"time,omitzero"`     // UTC
	Summary    string      `json:"summary"`           // the words
	Mechanical bool        `json:"mechanical"`        // a program listed what was decided
	Agreements int         `json:"agreements"`        // agreements that both had accepted then
	Pending    int         `json:"pending"`           // questions that were open then
	Score      *float64    `json:"score"`             // raw score of the last check before it; null for none
	Verdicts   []TopicWord `json:"verdicts"`          // what the other participant said
	Ratified   time.Time   `json:"ratified,omitzero"` // UTC
	State      string      `json:"state"`             // pending, ratified, amendment or rejected
}

// TopicVoid is a deed that does not count.
type TopicVoid struct {
	TopicWord
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
	Me            string    `json:"me"`             // the one for whom it was asked
	Chosen        string    `json:"chosen"`         // why that one, if nobody named it: "folder" or "only"
	With          string    `json:"with"`           // the other one
	Host          string    `json:"host"`           // the host that serves the other one; "" if it is not known
	Node          string    `json:"node"`           // where contacts.json says that it is served; "" if that says nothing, or if a host serves it
	Transport     string    `json:"transport"`      // how a message reaches it: hey, wormhole, issue if no host serves it and a topic has an issue, else record
	Since         time.Time `json:"since,omitzero"` // when their first topic was opened, UTC
	Trust         string    `json:"trust"`          // high, medium, initial or uncalibrated
	Sessions      int       `json:"sessions"`       // days on which both wrote to each other
	Messages      int       `json:"messages"`       // messages that they wrote to each other
	TeachGiven    int       `json:"teach_given"`    // lessons that `me` said back
	TeachReceived int       `json:"teach_received"` // lessons that the other one said back
	Dissents      int       `json:"dissents"`       // differences that are not settled
	Soul          string    `json:"soul"`           // "same", "other", or "" if it is not known
	Prose         string    `json:"prose"`          // what people wrote about the two in context.md of `me`; "" if somebody else asks
	Topics        []Topic   `json:"topics"`         // those that `me` has not closed
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
