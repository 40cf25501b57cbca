package control

import "time"

// ReadIssues reads what is new on the issues that topics hang on, and PersistTopic tells
// what was done in a topic there, both by the program gh of the host (R34). Where that cannot
// be done they say why, and are no failure.
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
	With  string `json:"with,omitempty"`  // only topics with that one
	Topic string `json:"topic,omitempty"` // only that topic, by its name or short form
}

// IssueList is what is new on some issues.
type IssueList struct {
	Me     string      `json:"me"`     // for whom it was asked
	Chosen string      `json:"chosen"` // why that one, where nobody named it: "folder" or "only"
	Issues []IssueNews `json:"issues"` // one for each topic that hangs on an issue
}

// IssueNews is what was written on a topic's issue since its agent's last sync-check. All of
// it is what others wrote: nobody has verified whose it is, and none of it is a deed.
type IssueNews struct {
	With     string      `json:"with"`           // the other one of the topic
	Topic    string      `json:"topic"`          // what the topic is called
	Issue    string      `json:"issue"`          // such as owner/repo#332
	URL      string      `json:"url"`            // its address; "" where nobody knows the repository
	Since    time.Time   `json:"since,omitzero"` // of the newest comment that was seen before; UTC, none where nothing was
	Total    int         `json:"total"`          // comments that the issue has
	Comments []IssueWord `json:"comments"`       // the new ones, the oldest first, without those that tell what the record has
	More     bool        `json:"more"`           // there are newer ones, which the next look reads
	Skipped  string      `json:"skipped"`        // why nothing was read; else ""
}

// IssueWord is a comment on an issue.
type IssueWord struct {
	By     string     `json:"by"`            // the login at GitHub; unverified
	Time   time.Time  `json:"time,omitzero"` // UTC
	URL    string     `json:"url"`           // its address
	Text   string     `json:"text"`          // as it was written, at most 16 KiB
	Cut    bool       `json:"cut"`           // there is more of it
	Scores []SyncLine `json:"scores"`        // what it answers to a sync-check, where it has that form: it counts for nothing
}

// PersistRequest asks that what somebody did in a topic be told on its issue.
type PersistRequest struct {
	Acting
	With  string `json:"with"`
	Topic string `json:"topic,omitempty"` // "": the only one that is open with that partner
	// Messages are what is told; none: the last thing that they did there.
	Messages []string `json:"messages,omitempty"`
}

// IssueComment is a comment that tells what was done in a topic.
type IssueComment struct {
	Issue    string   `json:"issue"`    // such as owner/repo#332; "" where the topic hangs on none
	URL      string   `json:"url"`      // of the comment; "" where there is none
	Messages []string `json:"messages"` // what it tells
	Again    bool     `json:"again"`    // it was there already
	Skipped  string   `json:"skipped"`  // why there is none; else ""
}
