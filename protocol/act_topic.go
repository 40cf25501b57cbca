package protocol

import (
	"strings"
	"time"
)

// The acts of topics, and what their bodies say.
const (
	ActTopic       Act = "topic"        // Opening
	ActClose       Act = "close"        // Closing
	ActJoinRequest Act = "join-request" // JoinRequest
	ActAgree       Act = "agree"        // Proposal
	ActTeachBack   Act = "teach-back"   // Lesson
	ActDisagree    Act = "disagree"     // Dissent
	ActOpen        Act = "open"         // OpenQuestion
	ActResolve     Act = "resolve"      // Resolution
	ActValidate    Act = "validate"     // Validation
	ActTimeout     Act = "timeout"      // see ObserveTimeout. If somebody sends one all the same, it changes nothing
)

// Opening opens a topic between two, or loads it if it is open (R65). A participant who closed the
// topic before begins a new term with it (R30).
type Opening struct {
	FormHead        // From and With are the two participants, Topic is the name of the topic
	Anchor   string // the issue on which the topic hangs, such as maw-js#332; empty: none, or the one that the topic has
}

// OpenTopic is the act by which a topic is opened.
var OpenTopic = formAct(deed(ActTopic, "TOPIC", "Opens a topic between two, or begins a new term of it."),
	Opening{FormHead{From: "skills-cli", With: "mawjs", Topic: "tmux design", At: exampleTime}, "maw-js#332"}, func(o *Opening) []part {
		return []part{needs(&o.Topic, "it does not say what the topic is called"), flatPart("ANCHOR", &o.Anchor)}
	})

// Closing ends a topic for its author; the other sees who closed it (R30).
type Closing struct {
	FormHead
	Reason string // may be empty
}

// CloseTopic is the act by which a participant closes their side of a topic.
var CloseTopic = formAct(deed(ActClose, "CLOSE", "Closes its author's side of a topic."),
	Closing{exampleHead, "It is built."}, func(c *Closing) []part { return []part{textPart("REASON", &c.Reason)} })

// JoinRequest asks to take part in a topic of two others (R31).
type JoinRequest struct {
	FormHead
	Reason string // may be empty
}

// RequestJoin is the act by which somebody asks to join.
var RequestJoin = formAct(deed(ActJoinRequest, "JOIN-REQUEST", "Asks to take part in a topic."),
	JoinRequest{exampleHead, "I build the panes."}, func(j *JoinRequest) []part { return []part{textPart("REASON", &j.Reason)} })

// Proposal puts an agreement to the other participant of a topic. By that its author is committed
// to it (R60).
type Proposal struct {
	FormHead
	Item     ItemRef
	AnswerBy time.Time // UTC; until then silence is no timeout. Zero: the rules have their own
}

// Agree is the act by which an agreement is proposed.
var Agree = formAct(deed(ActAgree, "AGREE", "Proposes an agreement, to which its author commits."), Proposal{exampleHead, exampleItem, exampleTime.Add(7 * 24 * time.Hour)}, func(p *Proposal) []part {
	return []part{
		itemPart(&p.Item), needs(&p.Item.Text, "it does not say what is to be agreed"), timePart("ANSWER-BY", &p.AnswerBy),
		noteLine("REQUEST: Commit, decline or put it off: a message that begins as one of these."),
		noteLine("  ACCEPT | from: <you> then a line ITEM: <label> and a line COMMITMENT: <what changes>"),
		noteLine("  REJECT | from: <you> then a line ITEM: <label> and a line REASON: <why>"),
		noteLine("  DEFER | from: <you> then a line ITEM: <label> and a line UNTIL: <date>"),
	}
})

// instant is a field that names a moment; the zero time if the field is missing.
func (f *form) instant(key string) (time.Time, error) {
	if f.flat(key) == "" {
		return time.Time{}, nil
	}
	return ParseInstant(f.flat(key))
}

// exampleTime and exampleHead stand in the examples of acts.
var (
	exampleTime = time.Date(2026, 4, 15, 10, 22, 0, 0, time.UTC)
	exampleHead = FormHead{From: "mawjs", Topic: "tmux design", At: exampleTime}
)

// Lesson says back what its author has learned from the other one.
type Lesson struct {
	FormHead
	Label   Label // empty if somebody wrote the message by hand
	Learned string
}

// TeachBack is the act by which somebody says what they have learned.
var TeachBack = formAct(deed(ActTeachBack, "TEACH-BACK", "Says back what its author has learned from the other one."),
	Lesson{exampleHead, "T1", "Panes keep their titles over a restart."}, func(l *Lesson) []part {
		return []part{labelPart(&l.Label), textPart("LEARNED", &l.Learned), needs(&l.Learned, "it does not say what was learned")}
	})

// label returns the label beside the heading, or "" if there is none that can be read.
func (f *form) label() Label {
	l, err := ParseLabel(strings.Trim(f.head("label"), "[]"))
	if err != nil {
		return ""
	}
	return l
}

// Dissent says what its author sees otherwise. It stays: differences are kept, not erased.
type Dissent struct {
	FormHead
	Label    Label  // empty if somebody wrote the message by hand
	Position string // what its author holds
}

// Disagree is the act by which a difference is put on record.
var Disagree = formAct(deed(ActDisagree, "DISAGREE", "Puts on record what its author sees otherwise."),
	Dissent{exampleHead, "D1", "Titles belong to the panes, not to the team."}, func(d *Dissent) []part {
		return []part{
			labelPart(&d.Label), textPart("POSITION", &d.Position), orPart("ITEM", &d.Position), needs(&d.Position, "it does not say what is seen otherwise"),
		}
	})

// OpenQuestion puts a question on a topic's list.
type OpenQuestion struct {
	FormHead
	Item ItemRef
}

// Ask is the act by which a question is put on the list.
var Ask = formAct(deed(ActOpen, "OPEN", "Puts an open question on the list of a topic."),
	OpenQuestion{exampleHead, ItemRef{Label: "P2", Text: "Who owns the pane titles?"}}, func(q *OpenQuestion) []part {
		return []part{itemPart(&q.Item), needs(&q.Item.Text, "it asks nothing")}
	})

// Resolution settles an open question, or what its author disagreed about.
type Resolution struct {
	FormHead
	Item    ItemRef
	Outcome string // may be empty
}

// Resolve is the act by which a question is settled.
var Resolve = formAct(deed(ActResolve, "RESOLVE", "Settles an open question."),
	Resolution{exampleHead, ItemRef{Label: "P2", Text: "Who owns the pane titles?"}, "mawjs does."}, func(r *Resolution) []part {
		return []part{itemPart(&r.Item), textPart("OUTCOME", &r.Outcome)}
	})

// ActOfAnswer is the act of an answer that names none itself, such as the output of an agent's
// command. `asked` is the act of the message that is answered. It says which forms of answers are
// looked for: the body must have one of them. Words may stand before and after the form. Prose is
// never a decision, and neither are two decisions in one answer (R65).
func ActOfAnswer(asked Act, body string) (Act, bool) {
	switch asked {
	case ActSyncCheck:
		_, err := parseSyncResult(body)
		return ActSyncResult, err == nil
	case ActCheckpoint:
		return oneOf(body, Ratify.ActSpec, Amend.ActSpec, RejectSum.ActSpec)
	case ActAgree:
		return oneOf(body, Accept.ActSpec, Reject.ActSpec, Defer.ActSpec)
	case ActValidate:
		return oneOf(body, ReAccept.ActSpec, Accept.ActSpec, Revoke.ActSpec)
	}
	return "", false
}

// oneOf is the act among `specs` whose heading begins a line of the body. It finds none if two
// lines begin with such headings.
func oneOf(body string, specs ...ActSpec) (Act, bool) {
	var found *ActSpec
	for line := range strings.Lines(strings.ReplaceAll(body, "\r\n", "\n")) {
		for i := range specs {
			if !opens(specs[i].Heading, strings.TrimSuffix(line, "\n")) {
				continue
			}
			if found != nil {
				return "", false
			}
			found = &specs[i]
		}
	}
	if found == nil {
		return "", false
	}
	_, err := found.parse(body)
	return found.Act, err == nil
}

// opens reports whether a line begins a form with that heading. The short form of the seed
// ("AMENDMENT: text") counts too.
func opens(heading, line string) bool {
	if _, ok := cutHeading(heading, line); ok {
		return true
	}
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t*#`"), heading)
	return ok && strings.HasPrefix(strings.TrimLeft(rest, "*"), ":")
}

// Checkpoint sums up where a topic stands, so that the summary outlasts a compaction of the agent's
// context. The other participant ratifies, amends or rejects it.
type Checkpoint struct {
	FormHead
	Summary string // 3 to 5 lines
}

// The acts of checkpoints and of the answers to them.
const (
	ActCheckpoint Act = "checkpoint"
	ActRatified   Act = "ratified"
	ActAmendment  Act = "amendment"
	ActRejected   Act = "rejected"
)

// Sum is the act by which a topic is summed up.
var Sum = formAct(ActSpec{
	Act: ActCheckpoint, Heading: "CHECKPOINT", Class: ClassDeed, Wakes: true, Doc: "Sums up where a topic stands, to be ratified, amended or rejected.",
}, Checkpoint{exampleHead, "Keys are settled.\nTitles are open.\nNext: the restart."}, func(c *Checkpoint) []part {
	return []part{
		textPart("Summary", &c.Summary), needs(&c.Summary, "it has no summary"),
		noteLine("REQUEST: Ratify, amend, or reject: a message that begins as one of these."),
		noteLine("  RATIFIED | from: <you>"), noteLine("  AMENDMENT: <changes>"), noteLine("  REJECTED: <reason>"),
	}
})

// Verdict is what the other participant says to a checkpoint.
type Verdict struct {
	FormHead
	Text string // what is to be changed, or why it is rejected; may be empty where it is ratified
}

// Ratify, Amend and RejectSum are the acts by which a checkpoint is answered.
var (
	Ratify    = verdict(ActRatified, "RATIFIED", "NOTE", "", "Ratifies a checkpoint.", "")
	Amend     = verdict(ActAmendment, "AMENDMENT", "CHANGES", "it does not say what to change", "Says what is to be changed in a checkpoint.", "Titles are settled too.")
	RejectSum = verdict(ActRejected, "REJECTED", "REASON", "it gives no reason", "Rejects a checkpoint, and says why.", "Nothing of it was agreed.")
)

// verdict makes an act that says a Verdict. It also reads the seed's short form ("AMENDMENT:
// text").
func verdict(act Act, heading, key, lacking, doc, text string) WordAct[Verdict] {
	return formAct(deed(act, heading, doc), Verdict{exampleHead, text}, func(v *Verdict) []part {
		return []part{textPart(key, &v.Text), orPart(heading, &v.Text), check(func() bool { return v.Text != "" || lacking == "" }, lacking)}
	})
}

// Milestone is the reason to ask whether an acceptance still holds (R29).
type Milestone string

// The milestones of the seed. Nothing else is a reason to ask.
const (
	MilestoneSessions      Milestone = "sessions"      // five sessions since it was accepted
	MilestoneScore         Milestone = "score"         // a raw score below 70%
	MilestoneContradiction Milestone = "contradiction" // a result rejects what its author accepted
	MilestoneForward       Milestone = "forward"       // the end of a session
)

// ParseMilestone reads a milestone. It gives "" for any other text.
func ParseMilestone(s string) Milestone {
	switch m := Milestone(strings.ToLower(strings.TrimSpace(s))); m {
	case MilestoneSessions, MilestoneScore, MilestoneContradiction, MilestoneForward:
		return m
	}
	return ""
}

// Validation asks whether its addressee still accepts an item.
type Validation struct {
	FormHead
	Item      ItemRef
	Milestone Milestone // empty: somebody asks without one of these reasons
	AnswerBy  time.Time // UTC; zero: the rules have their own
}

// Validate is the act by which somebody asks whether an acceptance still holds.
var Validate = formAct(ActSpec{
	Act: ActValidate, Heading: "VALIDATE", Class: ClassDeed, Wakes: true, Doc: "Asks whether what was accepted some time ago still holds.",
}, Validation{exampleCommit, exampleItem, MilestoneSessions, exampleTime.Add(7 * 24 * time.Hour)}, func(v *Validation) []part {
	return []part{
		itemPart(&v.Item), noteLine("QUESTION: Do you still accept this? Current behavior matches?"),
		partOf("MILESTONE", &v.Milestone, func(s string) (Milestone, error) { return ParseMilestone(s), nil }, func(m Milestone) string { return string(m) }),
		timePart("ANSWER-BY", &v.AnswerBy),
		noteLine("REQUEST: Answer with a message that begins as one of these."),
		noteLine("  RE-ACCEPT | from: <you> then a line ITEM: <label>, where it still holds"),
		noteLine("  REVOKE | from: <you> then a line ITEM: <label> and a line REASON: <why>"),
	}
})

// ObserveTimeout is the act of the seed which notes that nobody decided on an item in time. Each host
// that looks observes that for itself: silence is no answer, so nobody writes the act or reads its words
// (R29).
var ObserveTimeout = NewAct(ActSpec{
	Act: ActTimeout, Heading: "TIMEOUT", Class: ClassNotice, Doc: "Notes that no answer came in time: it is observed, never sent, and no refusal.",
}, func(body string) (string, error) { return NormalBody(body), nil }, NormalBody, `TIMEOUT | observed-by: skills-cli | timestamp: 2026-04-16T10:22:00.000Z
ITEM: [A1] Heartbeat keys are PROGRESS/STUCK/DONE/ABORT
WINDOW: 2026-04-15T10:22:00.000Z..2026-04-16T10:22:00.000Z
NOTE: No response received — state is "unknown", not "no".`)
