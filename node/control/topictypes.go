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
	Name: "topic-page", Access: Reads, Doing: "show a topic as a page",
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
	Unverified bool           `json:"unverified"` // the answer with that score is signed by no host
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

// ReadIssues reads what is new on the issues of topics, and PersistTopic tells there what was done
// in a topic. Both use the program gh of the host (R34). If that is not possible, the answer says
// why, and this is no failure.
var (
	ReadIssues = NewVerb[IssuesRequest, IssueList](VerbSpec{
		Name: "issues", Access: Speaks, Doing: "read issues", Long: true,
		Doc: "Reads what is new on the issues that an agent's topics hang on.",
	})
	PersistTopic = NewVerb[PersistRequest, IssueComment](VerbSpec{
		Name: "persist-topic", Access: Speaks, Doing: "comment on an issue", Long: true,
		Doc: "Tells on a topic's issue what was done last in the topic, once.",
	})
)

// IssuesRequest asks for the news of the issues of somebody's topics.
type IssuesRequest struct {
	Acting
	With  string `json:"with,omitempty"`  // only topics with this partner
	Topic string `json:"topic,omitempty"` // only that topic, by its name or short form
}

// IssueList is what is new on some issues.
type IssueList struct {
	Me     string      `json:"me"`     // the one for whom it was asked
	Chosen string      `json:"chosen"` // why that one, if nobody named it: "folder" or "only"
	Issues []IssueNews `json:"issues"` // one for each topic that has an issue
}

// IssueNews is what was written on a topic's issue since its agent's last sync-check. All of it is
// the word of others, and nobody has verified the authors. None of it is a deed, except an answer to
// a sync-check by the partner whom no host serves.
type IssueNews struct {
	With     string      `json:"with"`           // the partner in the topic
	Topic    string      `json:"topic"`          // the name of the topic
	Issue    string      `json:"issue"`          // such as owner/repo#332
	URL      string      `json:"url"`            // its address; "" if the repository is not known
	Since    time.Time   `json:"since,omitzero"` // time of the newest comment that was seen before; UTC; absent if none was
	Total    int         `json:"total"`          // how many comments the issue has
	Comments []IssueWord `json:"comments"`       // the new ones, the oldest first, without those that only tell what the record has
	More     bool        `json:"more"`           // there are newer ones, which the next call reads
	Skipped  string      `json:"skipped"`        // why nothing was read; else ""
}

// IssueWord is a comment on an issue.
type IssueWord struct {
	By     string     `json:"by"`            // the login at GitHub; unverified
	Time   time.Time  `json:"time,omitzero"` // UTC
	URL    string     `json:"url"`           // its address
	Text   string     `json:"text"`          // as it was written, at most 16 KiB
	Cut    bool       `json:"cut"`           // there is more of it
	Scores []SyncLine `json:"scores"`        // what it answers to a sync-check, if it has that form
	Mail   string     `json:"mail"`          // the unverified mail as which that answer was taken in and counts; "" if it counts for nothing
}

// PersistRequest asks that somebody's deeds in a topic be told on its issue.
type PersistRequest struct {
	Acting
	With  string `json:"with"`
	Topic string `json:"topic,omitempty"` // "": the only topic that is open with that partner
	// Messages are what is to be told; none: the last deed there.
	Messages []string `json:"messages,omitempty"`
}

// IssueComment is a comment that tells what was done in a topic.
type IssueComment struct {
	Issue    string   `json:"issue"`    // such as owner/repo#332; "" if the topic has none
	URL      string   `json:"url"`      // address of the comment; "" if there is none
	Messages []string `json:"messages"` // what it tells
	Again    bool     `json:"again"`    // it was already there
	Skipped  string   `json:"skipped"`  // why there is none; "" if there is one
}

// Sync puts the claims of topics to their other participants and tells what comes of it: what was
// sent to whom, each result as it comes, and who did not answer in time. A participant who did not
// answer in time has said nothing, and a result that comes later counts (R25).
var Sync = NewStream[SyncRequest, SyncEvent](VerbSpec{
	Name: "sync", Access: Speaks, Doing: "check how far topics are in sync", Long: true,
	Doc: "Puts the claims of topics to those they are with, and tells the results as they come.",
}, func(SyncRequest) bool { return true })

// SyncRequest asks for sync-checks of somebody's topics. With names the partners to ask; none: all.
// Topic is the topic, by its name or short form; empty: every topic that is open with them.
type SyncRequest struct {
	Acting
	With   []string      `json:"with,omitempty"`
	Topic  string        `json:"topic,omitempty"`
	Claims []string      `json:"claims,omitempty"` // claims for this check alone, besides those of the topic
	Wait   time.Duration `json:"wait,omitempty"`   // how long to wait for each result; 0: a minute on the same host, five on another
	// Persist says that each check is also written as a comment on its topic's issue.
	Persist bool `json:"persist,omitempty"`
}

// The kinds of SyncEvents.
const (
	SyncLate    = "late"    // a result of an earlier check that came when nobody waited for it any more
	SyncSent    = "sent"    // a check was stored, and its result is waited for
	SyncResult  = "result"  // a check was answered
	SyncProse   = "prose"   // it was answered in words without the form, and the form is asked for once more
	SyncFailed  = "failed"  // the command of the agent that is asked failed
	SyncTimeout = "timeout" // it was not answered in time: nothing is scored by that
	SyncRefused = "refused" // no check was made
)

// The ways by which a check goes.
const (
	BySameHost  = "hey"      // an agent of this host
	ByOtherHost = "wormhole" // an agent of a host that is live
	ByRecord    = "inbox"    // the record alone: it is read when somebody comes there
	ByIssue     = "issue"    // a comment on the topic's issue: no host serves the one that is asked
)

// SyncEvent is what came of one check.
type SyncEvent struct {
	Kind      string       `json:"kind"`             // "late", "sent", "result", "prose", "failed", "timeout" or "refused"
	Via       string       `json:"via"`              // the agent that asks
	With      string       `json:"with"`             // the partner that is asked
	Topic     string       `json:"topic"`            // the name of the topic
	Check     string       `json:"check"`            // the message that asks; "" if none was sent
	Transport string       `json:"transport"`        // the way by which it goes: "hey", "wormhole", "issue" or "inbox"
	Until     time.Time    `json:"until,omitzero"`   // until when it is waited for
	Problem   string       `json:"problem"`          // why no check was made, or where an answer without the form is; otherwise ""
	Result    *SyncOutcome `json:"result,omitempty"` // what was answered
	Validate  []string     `json:"validate"`         // labels of items about which was asked whether they still hold
	Took      Seconds      `json:"took"`             // how long it took since it was sent

	Issue   *IssueNews    `json:"issue,omitempty"`   // of "late" or, without that, of "sent": what is new on the topic's issue
	Comment *IssueComment `json:"comment,omitempty"` // of "sent": the comment on the issue, if there was to be one
}

// SyncOutcome is a result, and what it is worth now.
type SyncOutcome struct {
	topic.Result
	Rows    []SyncLine     `json:"rows"`    // one for each claim
	Decayed protocol.Score `json:"decayed"` // what its score is worth now
	Status  topic.Status   `json:"status"`  // by the raw score; "" without a score
	topic.Lambda
	Groupthink bool `json:"groupthink"` // everything is agreed on: a yellow flag
	Late       bool `json:"late"`       // it came when nobody waited for it any more
}

// SyncLine is what was answered to one claim.
type SyncLine struct {
	topic.Row
	Raw     protocol.Score `json:"raw"`     // what was answered
	Decayed protocol.Score `json:"decayed"` // what that score is worth now
}
