package protocol

import (
	"errors"
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
	ActTimeout     Act = "timeout"      // Timeout. If somebody sends one all the same, it changes nothing
)

// Opening opens a topic between two, or loads it if it is open (R65). A participant who closed the
// topic before begins a new term with it (R30).
type Opening struct {
	FormHead        // From and With are the two participants, Topic is the name of the topic
	Anchor   string // the issue on which the topic hangs, such as maw-js#332; empty: none, or the one that the topic has
}

// OpenTopic is the act by which a topic is opened.
var OpenTopic = NewAct(ActSpec{
	Act: ActTopic, Heading: "TOPIC", Class: ClassDeed, Doc: "Opens a topic between two, or begins a new term of it.",
}, parseOpening, formatOpening, Opening{FormHead{From: "skills-cli", With: "mawjs", Topic: "tmux design", At: exampleTime}, "maw-js#332"})

func formatOpening(o Opening) string {
	return writeForm("TOPIC", o.FormHead).put("ANCHOR", flatText(o.Anchor)).String()
}

func parseOpening(body string) (Opening, error) {
	f := readForm("TOPIC", body, "ANCHOR")
	if f.Topic == "" {
		return Opening{}, errors.New("it does not say what the topic is called")
	}
	return Opening{f.FormHead, f.flat("ANCHOR")}, nil
}

// Closing ends a topic for its author; the other sees who closed it (R30).
type Closing struct {
	FormHead
	Reason string // may be empty
}

// CloseTopic is the act by which a participant closes their side of a topic.
var CloseTopic = NewAct(ActSpec{
	Act: ActClose, Heading: "CLOSE", Class: ClassDeed, Doc: "Closes its author's side of a topic.",
}, parseClosing, formatClosing, Closing{exampleHead, "It is built."})

func formatClosing(c Closing) string {
	return writeForm("CLOSE", c.FormHead).put("REASON", c.Reason).String()
}

func parseClosing(body string) (Closing, error) {
	f := readForm("CLOSE", body, "REASON")
	return Closing{f.FormHead, f.text("REASON")}, nil
}

// JoinRequest asks to take part in a topic of two others (R31).
type JoinRequest struct {
	FormHead
	Reason string // may be empty
}

// RequestJoin is the act by which somebody asks to join.
var RequestJoin = NewAct(ActSpec{
	Act: ActJoinRequest, Heading: "JOIN-REQUEST", Class: ClassDeed, Doc: "Asks to take part in a topic.",
}, parseJoinRequest, formatJoinRequest, JoinRequest{exampleHead, "I build the panes."})

func formatJoinRequest(j JoinRequest) string {
	return writeForm("JOIN-REQUEST", j.FormHead).put("REASON", j.Reason).String()
}

func parseJoinRequest(body string) (JoinRequest, error) {
	f := readForm("JOIN-REQUEST", body, "REASON")
	return JoinRequest{f.FormHead, f.text("REASON")}, nil
}

// Proposal puts an agreement to the other participant of a topic. By that its author is committed
// to it (R60).
type Proposal struct {
	FormHead
	Item     ItemRef
	AnswerBy time.Time // UTC; until then silence is no timeout. Zero: the rules have their own
}

// Agree is the act by which an agreement is proposed.
var Agree = NewAct(ActSpec{
	Act: ActAgree, Heading: "AGREE", Class: ClassDeed, Doc: "Proposes an agreement, to which its author commits.",
}, parseProposal, formatProposal, Proposal{
	exampleHead, ItemRef{Label: "A1", Text: "Heartbeat keys are PROGRESS/STUCK/DONE/ABORT"}, exampleTime.Add(7 * 24 * time.Hour),
})

func formatProposal(p Proposal) string {
	return writeForm("AGREE", p.FormHead).put("ITEM", p.Item.String()).put("ANSWER-BY", formatInstant(p.AnswerBy)).
		line("REQUEST: Commit, decline or put it off: a message that begins as one of these.").
		line("  ACCEPT | from: <you> then a line ITEM: <label> and a line COMMITMENT: <what changes>").
		line("  REJECT | from: <you> then a line ITEM: <label> and a line REASON: <why>").
		line("  DEFER | from: <you> then a line ITEM: <label> and a line UNTIL: <date>").String()
}

func parseProposal(body string) (Proposal, error) {
	f := readForm("AGREE", body, "ITEM", "ANSWER-BY")
	p := Proposal{FormHead: f.FormHead, Item: ParseItemRef(f.flat("ITEM"))}
	if p.Item.Text == "" {
		return p, errors.New("it does not say what is to be agreed")
	}
	var err error
	p.AnswerBy, err = f.instant("ANSWER-BY")
	return p, err
}

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
var TeachBack = NewAct(ActSpec{
	Act: ActTeachBack, Heading: "TEACH-BACK", Class: ClassDeed, Doc: "Says back what its author has learned from the other one.",
}, parseLesson, formatLesson, Lesson{exampleHead, "T1", "Panes keep their titles over a restart."})

func formatLesson(l Lesson) string {
	return writeForm("TEACH-BACK", l.FormHead, "label", l.Label.String()).put("LEARNED", l.Learned).String()
}

func parseLesson(body string) (Lesson, error) {
	f := readForm("TEACH-BACK", body, "LEARNED")
	l := Lesson{f.FormHead, f.label(), f.text("LEARNED")}
	if l.Learned == "" {
		return l, errors.New("it does not say what was learned")
	}
	return l, nil
}

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
var Disagree = NewAct(ActSpec{
	Act: ActDisagree, Heading: "DISAGREE", Class: ClassDeed, Doc: "Puts on record what its author sees otherwise.",
}, parseDissent, formatDissent, Dissent{exampleHead, "D1", "Titles belong to the panes, not to the team."})

func formatDissent(d Dissent) string {
	return writeForm("DISAGREE", d.FormHead, "label", d.Label.String()).put("POSITION", d.Position).String()
}

func parseDissent(body string) (Dissent, error) {
	f := readForm("DISAGREE", body, "POSITION", "ITEM")
	d := Dissent{f.FormHead, f.label(), f.text("POSITION")}
	if d.Position == "" {
		d.Position = f.text("ITEM")
	}
	if d.Position == "" {
		return d, errors.New("it does not say what is seen otherwise")
	}
	return d, nil
}

// OpenQuestion puts a question on a topic's list.
type OpenQuestion struct {
	FormHead
	Item ItemRef
}

// Ask is the act by which a question is put on the list.
var Ask = NewAct(ActSpec{
	Act: ActOpen, Heading: "OPEN", Class: ClassDeed, Doc: "Puts an open question on the list of a topic.",
}, parseOpenQuestion, formatOpenQuestion, OpenQuestion{exampleHead, ItemRef{Label: "P2", Text: "Who owns the pane titles?"}})

func formatOpenQuestion(q OpenQuestion) string {
	return writeForm("OPEN", q.FormHead).put("ITEM", q.Item.String()).String()
}

func parseOpenQuestion(body string) (OpenQuestion, error) {
	f := readForm("OPEN", body, "ITEM")
	q := OpenQuestion{f.FormHead, ParseItemRef(f.flat("ITEM"))}
	if q.Item.Text == "" {
		return q, errors.New("it asks nothing")
	}
	return q, nil
}

// Resolution settles an open question, or what its author disagreed about.
type Resolution struct {
	FormHead
	Item    ItemRef
	Outcome string // may be empty
}

// Resolve is the act by which a question is settled.
var Resolve = NewAct(ActSpec{
	Act: ActResolve, Heading: "RESOLVE", Class: ClassDeed, Doc: "Settles an open question.",
}, parseResolution, formatResolution, Resolution{exampleHead, ItemRef{Label: "P2", Text: "Who owns the pane titles?"}, "mawjs does."})

func formatResolution(r Resolution) string {
	return writeForm("RESOLVE", r.FormHead).put("ITEM", r.Item.String()).put("OUTCOME", r.Outcome).String()
}

func parseResolution(body string) (Resolution, error) {
	f := readForm("RESOLVE", body, "ITEM", "OUTCOME")
	return Resolution{f.FormHead, ParseItemRef(f.flat("ITEM")), f.text("OUTCOME")}, nil
}

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
var Sum = NewAct(ActSpec{
	Act: ActCheckpoint, Heading: "CHECKPOINT", Class: ClassDeed, Wakes: true, Doc: "Sums up where a topic stands, to be ratified, amended or rejected.",
}, parseCheckpoint, formatCheckpoint, Checkpoint{exampleHead, "Keys are settled.\nTitles are open.\nNext: the restart."})

func formatCheckpoint(c Checkpoint) string {
	return writeForm("CHECKPOINT", c.FormHead).put("Summary", c.Summary).
		line("REQUEST: Ratify, amend, or reject: a message that begins as one of these.").
		line("  RATIFIED | from: <you>").
		line("  AMENDMENT: <changes>").
		line("  REJECTED: <reason>").String()
}

func parseCheckpoint(body string) (Checkpoint, error) {
	f := readForm("CHECKPOINT", body, "SUMMARY")
	c := Checkpoint{f.FormHead, f.text("SUMMARY")}
	if c.Summary == "" {
		return c, errors.New("it has no summary")
	}
	return c, nil
}

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
	parse := func(body string) (Verdict, error) {
		f := readForm(heading, body, key, heading)
		v := Verdict{f.FormHead, f.text(key)}
		if v.Text == "" {
			v.Text = f.text(heading)
		}
		if v.Text == "" && lacking != "" {
			return v, errors.New(lacking)
		}
		return v, nil
	}
	format := func(v Verdict) string { return writeForm(heading, v.FormHead).put(key, v.Text).String() }
	return NewAct(ActSpec{Act: act, Heading: heading, Class: ClassDeed, Doc: doc}, parse, format, Verdict{exampleHead, text})
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
var Validate = NewAct(ActSpec{
	Act: ActValidate, Heading: "VALIDATE", Class: ClassDeed, Wakes: true, Doc: "Asks whether what was accepted some time ago still holds.",
}, parseValidation, formatValidation, Validation{exampleCommit, exampleItem, MilestoneSessions, exampleTime.Add(7 * 24 * time.Hour)})

func formatValidation(v Validation) string {
	return writeForm("VALIDATE", v.FormHead).put("ITEM", v.Item.String()).
		line("QUESTION: Do you still accept this? Current behavior matches?").
		put("MILESTONE", string(v.Milestone)).put("ANSWER-BY", formatInstant(v.AnswerBy)).
		line("REQUEST: Answer with a message that begins as one of these.").
		line("  RE-ACCEPT | from: <you> then a line ITEM: <label>, where it still holds").
		line("  REVOKE | from: <you> then a line ITEM: <label> and a line REASON: <why>").String()
}

func parseValidation(body string) (Validation, error) {
	f := readForm("VALIDATE", body, "ITEM", "MILESTONE", "ANSWER-BY")
	v := Validation{FormHead: f.FormHead, Item: ParseItemRef(f.flat("ITEM")), Milestone: ParseMilestone(f.flat("MILESTONE"))}
	var err error
	v.AnswerBy, err = f.instant("ANSWER-BY")
	return v, err
}

// Timeout says that nobody decided on an item in time. Each host that looks observes it and writes
// it down for itself. It is sent to nobody: silence is no answer (R29).
type Timeout struct {
	ObservedBy string
	At         time.Time // UTC
	Item       ItemRef
	From, To   time.Time // UTC: the time within which an answer was waited for
}

// ObserveTimeout is the act that says a Timeout.
var ObserveTimeout = NewAct(ActSpec{
	Act: ActTimeout, Heading: "TIMEOUT", Class: ClassNotice, Doc: "Notes that no answer came in time: it is observed, never sent, and no refusal.",
}, parseTimeout, formatTimeout, Timeout{"skills-cli", exampleTime.Add(24 * time.Hour), exampleItem, exampleTime, exampleTime.Add(24 * time.Hour)})

func formatTimeout(t Timeout) string {
	w := writeForm("TIMEOUT", FormHead{At: t.At}, "observed-by", t.ObservedBy).put("ITEM", t.Item.String())
	if !t.From.IsZero() && !t.To.IsZero() {
		w.put("WINDOW", formatInstant(t.From)+".."+formatInstant(t.To))
	}
	return w.line(`NOTE: No response received — state is "unknown", not "no".`).String()
}

func parseTimeout(body string) (Timeout, error) {
	f := readForm("TIMEOUT", body, "ITEM", "WINDOW")
	t := Timeout{ObservedBy: f.head("observed-by"), At: f.At, Item: ParseItemRef(f.flat("ITEM"))}
	from, to, ok := strings.Cut(f.flat("WINDOW"), "..")
	if !ok {
		return t, nil
	}
	var err error
	if t.From, err = ParseInstant(from); err == nil {
		t.To, err = ParseInstant(to)
	}
	return t, err
}
