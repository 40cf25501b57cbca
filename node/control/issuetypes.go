package control

import "time"

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
// the word of others: nobody has verified the authors, and none of it is a deed.
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
	Scores []SyncLine `json:"scores"`        // what it answers to a sync-check, if it has that form; it counts for nothing
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
