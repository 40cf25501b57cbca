package notebook

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Book is all that one agent works on with others.
type Book struct {
	Me       string
	Partners []Partner
	Parties  []Party // in the order in which they were organized; only those whose files may change
}

// Partner is what the agent has in common with one partner.
type Partner struct {
	control.Relation
	Topics []Topic // closed ones included
	Stays  bool    // nothing has happened with the partner: its files are as they should be
}

// Topic is one of the agent's topics.
type Topic struct {
	control.Topic
	State   topics.Sidecar
	History []topic.Sample // of all terms: the scores that the partner gave
	Over    time.Time      // when the agent closed it; zero while it is open
	Past    []Term
	Stays   bool // nothing has happened in the topic: its files are as they should be
}

// Term is an earlier period for which a topic was open.
type Term struct {
	Opened string // the message that opened it
	Over   time.Time
}

const none = "—"

// Registry is the sheet of all open topics.
func (b Book) Registry() Sheet {
	lines := []string{"| Topic | Oracle | Since | Last Sync | Score | Status |", "|---|---|---|---|---|---|"}
	var rows []string
	for _, p := range b.Partners {
		for _, t := range p.Topics {
			if !t.Over.IsZero() {
				continue
			}
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |",
				inCell(t.Name), inCell(t.With), day(t.Since), day(t.LastSync), score(t.Topic), t.Status))
		}
	}
	slices.Sort(rows)
	return Sheet{Title: "Collaborations of " + inLine(b.Me), Sections: []Section{
		{Name: "registry", Lines: append(lines, rows...), Do: "To begin a topic: parley work-with PARTNER \"topic\""},
	}}
}

// Context is the sheet of a relationship.
func (p Partner) Context() Sheet {
	with := inLine(p.With)
	var learned, taught, dissents []string
	for _, t := range p.Topics {
		for _, it := range t.Items {
			line := fmt.Sprintf("- [%s] %s (%s, %s)", it.Label, inLine(it.Text), inLine(t.Name), day(it.Time))
			switch {
			case it.Sort == topic.Lesson && it.By == p.Me:
				learned = append(learned, line)
			case it.Sort == topic.Lesson:
				taught = append(taught, line)
			case it.Sort == topic.Dissent && it.Resolved == nil:
				dissents = append(dissents, fmt.Sprintf("- [%s] %s: %s (%s, %s)", it.Label, inLine(it.By), inLine(it.Text), inLine(t.Name), day(it.Time)))
			}
		}
	}
	basis := "(no interaction history yet)"
	if p.Trust != topic.TrustUncalibrated {
		basis = fmt.Sprintf("sessions: %d, messages: %d", p.Sessions, p.Messages)
	}
	do := "parley work-with " + visible.Shell(p.With) + ` "topic" `
	return Sheet{Title: "Collaboration Context: " + with, Sections: []Section{
		{Name: "head", Lines: []string{
			"**Since**: " + day(p.Since),
			"**Node**: " + cmp.Or(inLine(p.Host), "unknown"),
			"**Transport**: " + inLine(p.Transport),
		}},
		{Name: "learned", Heading: "What I've Learned From Them", Lines: orNone(learned, "(to be filled as collaboration progresses)"), Do: "To say it: " + do + "--teach \"…\""},
		{Name: "taught", Heading: "What They've Learned From Me", Lines: orNone(taught, "(to be filled via teach-back protocol)"), Do: "It is theirs to say, with --teach."},
		{Heading: "Working Style", Lines: []string{"(observed over time)"}},
		{Name: "trust", Heading: "Trust Level", Lines: []string{"- Level: " + strings.ToUpper(string(p.Trust)), "- Basis: " + basis}, Do: "It follows from scores that were recorded: parley work-with " + visible.Shell(p.With) + " --sync"},
		{Name: "dissents", Heading: "Active Disagreements", Lines: orNone(dissents, "(none)"), Do: "To put one on record: " + do + "--disagree \"…\""},
	}}
}

// Sheet is the sheet of a topic.
func (t Topic) Sheet() Sheet {
	var agreements, pending, lessons, dissents, checkpoints, talk []string
	for _, it := range t.Items {
		switch it.Sort {
		case topic.Agreement:
			agreements = append(agreements, agreement(it)...)
		case topic.Question:
			line := fmt.Sprintf("- [ ] [%s] %s", it.Label, inLine(it.Text))
			if r := it.Resolved; r != nil {
				line = fmt.Sprintf("- [x] [%s] %s", it.Label, inLine(it.Text)) + outcome(*r)
			}
			pending = append(pending, line)
		case topic.Lesson:
			lessons = append(lessons, fmt.Sprintf("- [%s] %s learned: %s", it.Label, inLine(it.By), inLine(it.Text)))
		case topic.Dissent:
			line := fmt.Sprintf("- [%s] %s: %s", it.Label, inLine(it.By), inLine(it.Text))
			if r := it.Resolved; r != nil {
				line += outcome(*r)
			}
			dissents = append(dissents, line)
		}
	}
	for _, cp := range t.Checkpoints {
		checkpoints = append(checkpoints, checkpoint(cp)...)
	}
	for _, w := range t.Exchanges {
		talk = append(talk, fmt.Sprintf("- %s, %s: %s (%s)", inLine(w.By), stamp(w.Time), inLine(w.Text), w.Path.Short()))
	}
	head := []string{
		"**Created**: " + stamp(t.Since),
		"**Participants**: " + inLine(t.Me) + ", " + inLine(t.With),
		"**Anchor**: " + cmp.Or(inLine(t.AnchorURL), inLine(t.Anchor), none),
		"**Record**: " + t.Opened.String(),
		"**Last sync**: " + stamp(t.LastSync),
		"**Score**: " + score(t.Topic) + " raw, " + string(t.Status),
	}
	for _, closed := range t.Closed {
		line := "**Closed**: by " + inLine(closed.By) + " at " + stamp(closed.Time)
		if closed.Text != "" {
			line += ": " + inLine(closed.Text)
		}
		head = append(head, line)
	}
	do := "parley work-with " + visible.Shell(t.With) + " " + visible.Shell(t.Name) + " "
	return Sheet{Title: "Topic: " + inLine(t.Name), Sections: []Section{
		{Name: "head", Lines: head},
		{Name: "agreements", Heading: "Agreements", Lines: orNone(agreements, "(none yet)"), Do: "To propose it: " + do + "--agree \"…\"; to decide: --accept, --reject, --defer"},
		{Name: "pending", Heading: "Pending", Lines: orNone(pending, "(none)"), Do: "To ask it: " + do + "--ask \"…\"; to settle one: --resolve P1 --text \"…\""},
		{Name: "lessons", Heading: "Teach-backs", Lines: orNone(lessons, "(none yet)"), Do: "To say it: " + do + "--teach \"…\""},
		{Name: "dissents", Heading: "Disagreements", Lines: orNone(dissents, "(none)"), Do: "To put one on record: " + do + "--disagree \"…\""},
		{Name: "checkpoints", Heading: "Checkpoints", Lines: orNone(checkpoints, "(none yet)"), Do: "To save one: " + do + "--checkpoint"},
		{Name: "talk", Heading: "Talk", Lines: orNone(talk, "(none yet)"), Do: "To write: parley hey " + visible.Shell(t.With) + " \"…\""},
	}}
}

// Page is the topic's sheet without the marks that separate a person's words from parley's.
func (t Topic) Page() string {
	s := t.Sheet()
	text := "# " + s.Title + "\n"
	for _, section := range s.Sections {
		if section.Heading != "" {
			text += "\n## " + section.Heading + "\n"
		}
		text += "\n" + strings.Join(section.Lines, "\n") + "\n"
	}
	return text
}

// agreement is the line of an agreement, followed by a line for each earlier wording.
func agreement(it control.TopicItem) []string {
	line := "- [" + it.Label.String() + "] "
	if it.Agreed {
		line += "✓ ACCEPTED: " + inLine(it.Text)
	} else {
		line += "[spec] " + inLine(it.Text)
		var stands []string
		for _, st := range it.Stands {
			if st.Phase != topic.Accepted {
				stands = append(stands, inLine(st.Who)+": "+stand(st))
			}
		}
		line += " (" + strings.Join(stands, "; ") + ")"
	}
	if !it.Signed {
		line += " (unverified)"
	}
	lines := []string{line}
	for _, w := range slices.Backward(it.Earlier) {
		lines = append(lines, fmt.Sprintf("  - until %s it said: %s", inLine(w.By), inLine(w.Text)))
	}
	return lines
}

func stand(st topic.Stand) string {
	text := string(st.Phase)
	switch {
	case !st.TimeoutAt.IsZero():
		text += " at " + stamp(st.TimeoutAt) + ", which is no rejection"
	case !st.Until.IsZero():
		text += " until " + stamp(st.Until)
	}
	if st.Reason != "" {
		text += ", " + inLine(st.Reason)
	}
	return text
}

func outcome(r topic.Word) string {
	text := " — settled by " + inLine(r.By)
	if r.Text != "" {
		text += ": " + inLine(r.Text)
	}
	return text
}

func checkpoint(cp control.TopicCheckpoint) []string {
	lines := []string{"### Checkpoint — " + stamp(cp.Time), ""}
	summary := "**Summary**:"
	if cp.Mechanical {
		summary = "**Summary** (mechanical):"
	}
	lines = append(lines, summary)
	for line := range strings.SplitSeq(cp.Summary, "\n") {
		if strings.TrimSpace(line) != "" {
			lines = append(lines, "> "+inLine(line))
		}
	}
	lines = append(lines, "", fmt.Sprintf("**Agreements**: %d", cp.Agreements), fmt.Sprintf("**Pending**: %d", cp.Pending), "**Score**: "+percent(cp.Score))
	ratified := "**Ratified by**: " + inLine(cp.By)
	if cp.Ratified.IsZero() {
		ratified += " (partner: " + string(cp.State) + ")"
	} else if n := len(cp.Verdicts); n > 0 {
		ratified += ", " + inLine(cp.Verdicts[n-1].By) + " at " + stamp(cp.Ratified)
	}
	lines = append(lines, ratified)
	for _, v := range cp.Verdicts {
		if v.Text != "" {
			lines = append(lines, fmt.Sprintf("- %s, %s: %s", inLine(v.By), stamp(v.Time), inLine(v.Text)))
		}
	}
	return append(lines, "")
}

// StateFile is a file for programs that says where agreements stand.
func (t Topic) StateFile() []byte {
	data, err := json.MarshalIndent(t.State, "", "  ")
	if err != nil {
		panic(err) // it holds only strings, and maps of strings
	}
	return append(data, '\n')
}

// sample is a line of a history (contract of sync.history.jsonl).
type sample struct {
	TS      time.Time `json:"ts"`
	Partner string    `json:"partner"`
	Topic   string    `json:"topic"`
	Raw     float64   `json:"raw"`
	Lambda  float64   `json:"lambda"`
	Node    string    `json:"node,omitempty"`
	Anchor  string    `json:"anchor,omitempty"`
	Source  string    `json:"source,omitempty"`
}

// History returns the bytes to add at the end of a history file: the lines that it lacks. A score
// is identified by its time, its topic and its partner. So a score that a person or another program
// has written into the file is not added again. The file may be large: History reads it once, and
// keeps in memory only which scores it lacks. If the last line of the file was cut short and is the
// beginning of a missing line, that line is completed. Else it stays a line of its own.
func (p Partner) History(existing io.Reader) (more []byte, err error) {
	type known struct {
		at             int64
		partner, topic string
	}
	lacks := map[known]sample{}
	for _, t := range p.Topics {
		for _, h := range t.History {
			s := sample{
				TS: h.At.UTC(), Partner: p.With, Topic: h.Topic, Raw: h.Raw, Lambda: h.Lambda, Node: p.Host, Anchor: t.Anchor, Source: p.Me,
			}
			lacks[known{s.TS.UnixMilli(), s.Partner, s.Topic}] = s
		}
	}
	if len(lacks) == 0 {
		return nil, nil
	}
	torn, err := eachLine(existing, func(line []byte) {
		var s sample
		if json.Unmarshal(line, &s) == nil {
			delete(lacks, known{s.TS.UnixMilli(), s.Partner, s.Topic})
		}
	})
	if err != nil || len(lacks) == 0 {
		return nil, err
	}
	samples := slices.SortedFunc(maps.Values(lacks), func(a, b sample) int { return cmp.Or(a.TS.Compare(b.TS), strings.Compare(a.Topic, b.Topic)) })
	var lines [][]byte
	for _, s := range samples {
		line, err := json.Marshal(s)
		if err != nil {
			panic(err) // the scores of the fold are numbers
		}
		lines = append(lines, append(line, '\n'))
	}
	if len(torn) > 0 {
		if i := slices.IndexFunc(lines, func(line []byte) bool { return bytes.HasPrefix(line, torn) }); i >= 0 {
			more = lines[i][len(torn):]
			lines = slices.Delete(lines, i, i+1)
		} else {
			more = []byte{'\n'}
		}
	}
	return append(more, bytes.Join(lines, nil)...), nil
}

// maxLine bounds the length of the lines of a history that are looked at, in bytes: no score is
// longer.
const maxLine = 64 << 10

// eachLine calls `each` with every line that is not longer than maxLine. It returns what stands
// after the last end of a line.
func eachLine(r io.Reader, each func(line []byte)) (torn []byte, err error) {
	lines := bufio.NewReaderSize(r, maxLine)
	for long := false; ; {
		line, err := lines.ReadSlice('\n')
		if !long && !errors.Is(err, bufio.ErrBufferFull) {
			each(line)
		}
		switch {
		case err == nil:
			long, torn = false, nil
		case errors.Is(err, bufio.ErrBufferFull):
			long, torn = true, []byte{0} // no beginning of a line of ours
		case errors.Is(err, io.EOF):
			return append(torn, line...), nil
		default:
			return nil, err
		}
	}
}

func orNone(lines []string, words string) []string {
	if len(lines) == 0 {
		return []string{words}
	}
	return lines
}

// score is the raw score of a topic, with a mark if no host signed the answer.
func score(t control.Topic) string {
	if t.Unverified {
		return percent(t.Raw) + " (unverified)"
	}
	return percent(t.Raw)
}

func percent(raw protocol.Score) string {
	return cmp.Or(raw.Percent(), none)
}

func day(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format(time.DateOnly)
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format(time.RFC3339)
}
