package protocol

import "errors"

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
