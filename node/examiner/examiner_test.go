package examiner

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parleyfleet/parley/protocol"
)

var day = time.Date(2026, 4, 13, 10, 0, 0, 0, time.UTC)

func claimed(text string) Claim {
	return Claim{Claim: protocol.Claim{ItemRef: protocol.ItemRef{Label: "A1", Text: text}}}
}

// scored returns the score of one claim by some texts.
func scored(t *testing.T, c Claim, texts ...Text) (float64, protocol.SyncRow) {
	t.Helper()
	e := New([]Claim{c})
	for _, text := range texts {
		e.Read(text)
	}
	rows := e.Rows()
	score, ok := rows[0].Score.Value()
	if len(rows) != 1 || !ok || rows[0].Evidence == "" || rows[0].Claim.Label != c.Label {
		t.Fatalf("rows %+v", rows)
	}
	return score, rows[0]
}

// Work-with W38, W190: 1.0 is for a claim that stands there in so many words, 0.2 for what is known
// otherwise, 0.0 for what is not known. In doubt it is the lower score.
func TestTheWordsDecide(t *testing.T) {
	const claim = "Pane titles include the team tag"
	for text, want := range map[string]float64{
		"Pane titles include the team tag.":                                1,
		"pane   titles include\nthe team tag":                              1,
		"# Layout\n\n- [x] Pane titles include the team tag":               1,
		"Yes, agreed: pane titles include the team tag!":                   1,
		"We decided that **pane titles include the team tag**.":            1,
		"Panes are four. Pane titles include the team tag. Keys are five.": 1,
		"":                                 0,
		"The port is 4222.":                0,
		"Titles matter.":                   0,
		"A team tag is in the pane titles": 0.2,
		"Pane titles include the team tag and the colour, said skills-cli.":          0.2,
		"Pane titles do not include the team tag.":                                   0.2,
		"Pane titles don't include the team tag.":                                    0.2,
		"Pane titles include the team tag?":                                          0.2,
		"If pane titles include the team tag, they are long.":                        0.2,
		"It is not true that\npane titles include the team tag.":                     0.2,
		"Pane titles include the team tag. That is wrong.":                           0.2,
		"False:\n\nPane titles include the team tag.":                                0.2,
		"Rejected ideas:\n\n- Panes are four\n- Pane titles include the team tag":    0.2,
		"# Proposals\n\n## Panes\n\nPane titles include the team tag.":               0.2,
		"# Pane titles include the team tag":                                         0.2,
		"- [ ] Pane titles include the team tag":                                     0.2,
		"Candidates, e.g. Pane titles include the team tag.":                         0.2,
		"Titles include pane the team tag":                                           0.2,
		"> Pane titles include the team tag":                                         0,
		"```\nPane titles include the team tag\n```":                                 0,
		"- [A1] Pane titles include the team tag":                                    0,
		"SYNC-CHECK | from: skills-cli\nCLAIMS:\n- Pane titles include the team tag": 0,
		"| [A1] | Pane titles include the team tag | 1.0 |":                          0,
	} {
		if got, row := scored(t, claimed(claim), Text{Where: "notes.md", First: 1, At: day, Body: text}); got != want {
			t.Errorf("%q scores %v, want %v: %+v", text, got, want, row)
		}
	}
}

// Signs and numbers are words. A claim that differs in one of them is another claim.
func TestSignsAndNumbersCount(t *testing.T) {
	for _, c := range []struct {
		claim, text string
		want        float64
	}{
		{"Heartbeat keys are PROGRESS/STUCK/DONE/ABORT", "Heartbeat keys are PROGRESS/STUCK/DONE/ABORT", 1},
		{"Heartbeat keys are PROGRESS/STUCK/DONE/ABORT", "Heartbeat keys are PROGRESS/STUCK/DONE", 0.2},
		{"λ is 0.01 within a soul", "λ is 0.01 within a soul.", 1},
		{"λ is 0.01 within a soul", "λ is 0.1 within a soul.", 0.2},
		{"phase != done is kept", "phase = done is kept", 0.2},
		{"The offset is -1 hours", "The offset is 1 hours", 0.2},
		{"It is written in C++ now", "It is written in C now", 0.2},
		{"Run it with --wait first", "Run it with wait first", 0.2},
		{"ชื่อของช่องมีป้ายทีม", "ชื่อของช่องมีป้ายทีม", 1},
		{"ชื่อของช่องมีป้ายทีม", "ชื่อของช่องไม่มีป้ายทีม", 0.2},
		{"标题包含团队标签", "标题包含团队标签。", 1},
		{"标题包含团队标签", "标题不包含团队标签。", 0.2},
		{"Do not push to main", "Do not push to main.", 1},
		{"Do not push to main", "Push to main.", 0},
		{"Who names the panes?", "Who names the panes?", 1},
		{"the", "the", 0},
	} {
		if got, row := scored(t, claimed(c.claim), Text{Where: "n.md", First: 1, Body: c.text}); got != c.want {
			t.Errorf("%q by %q scores %v, want %v: %+v", c.claim, c.text, got, c.want, row)
		}
	}
}

// A text that was taken back later is no evidence. Of two notes without a date, nobody knows which
// is the later one.
func TestLaterWordsCount(t *testing.T) {
	yes, no := Text{Where: "yes.md", First: 1, Body: "Worktree isolation is on."}, Text{Where: "no.md", First: 1, Body: "Worktree isolation is no longer on."}
	at := func(t Text, d int) Text { t.At = day.AddDate(0, 0, d); return t }
	for i, c := range []struct {
		texts []Text
		want  float64
		where string
	}{
		{[]Text{at(yes, 0), at(no, 1)}, 0.2, "no.md"},
		{[]Text{at(no, 0), at(yes, 1)}, 1, "yes.md"},
		{[]Text{at(yes, 1), at(no, 0)}, 1, "yes.md"},
		{[]Text{yes, at(no, 0)}, 0.2, "no.md"},
		{[]Text{at(yes, 0), no}, 0.2, "no.md"},
		{[]Text{at(yes, 0), at(no, 0)}, 0.2, "no.md"},
	} {
		if got, row := scored(t, claimed("Worktree isolation is on"), c.texts...); got != c.want || !strings.HasPrefix(row.Evidence, c.where) {
			t.Errorf("case %d scores %v, want %v by %s: %+v", i, got, c.want, c.where, row)
		}
	}
}

// If somebody repeats the words of another in an answer, these are not their own words.
func TestAnEchoIsNoEvidence(t *testing.T) {
	text := Text{Where: "m.md", First: 9, Short: true, Body: "Pane titles include the team tag", Answers: "Hear this! Pane titles include the team tag."}
	if got, row := scored(t, claimed("Pane titles include the team tag"), text); got != 0 {
		t.Errorf("an echo scores %v: %+v", got, row)
	}
	text.Answers = "What of the pane titles?"
	if got, row := scored(t, claimed("Pane titles include the team tag"), text); got != 1 || row.Evidence != "m.md:9 “Pane titles include the team tag”" {
		t.Errorf("an answer scores %v: %+v", got, row)
	}
}

// A doubt anywhere in a message counts for all of it.
func TestShortTextsAreTakenAsAWhole(t *testing.T) {
	text := Text{Where: "m.md", First: 9, Short: true, Body: "I never said this.\n\nThe port is 4222."}
	if got, row := scored(t, claimed("The port is 4222"), text); got != 0.2 {
		t.Errorf("scores %v: %+v", got, row)
	}
}

// Evidence names the line of the file and quotes what stands there.
func TestEvidenceNamesFileAndLine(t *testing.T) {
	text := Text{Where: "ψ/memory/panes.md", First: 5, Body: "# Panes\n\nThey are four. The port\nis 4222.\n"}
	if _, row := scored(t, claimed("The port is 4222"), text); row.Evidence != "ψ/memory/panes.md:7 “The port is 4222.”" {
		t.Errorf("%+v", row)
	}
}

// A decision counts before anything that was written.
func TestDecisionsCount(t *testing.T) {
	said := Text{Where: "n.md", First: 1, Body: "The port is 4222."}
	for word, want := range map[Word]string{
		Accepted: "1.0 ACCEPT accepted on 2026-04-13: p", Wrote: "1.0 ACCEPT my own words on 2026-04-13: p", Rejected: "0.0 REJECT rejected on 2026-04-13: p (no)",
		Deferred: "0.2 PARTIAL put off on 2026-04-13: p (no)", Revoked: "0.2 PARTIAL taken back on 2026-04-13: p (no)",
	} {
		c := claimed("The port is 4222")
		c.Own = &Own{Word: word, Where: "p", At: day}
		if word != Accepted && word != Wrote {
			c.Own.Reason = "no"
		}
		_, row := scored(t, c, said)
		if got := fmt.Sprint(row.Score, " ", row.Decision, " ", row.Evidence); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

// A check has as many claims as it may have, against a large corpus. Each claim gets its row. If a
// claim is found nowhere, its row says where it was looked for.
func TestManyClaims(t *testing.T) {
	var claims []Claim
	var body strings.Builder
	for i := range protocol.MaxClaims {
		c := claimed(fmt.Sprintf("Host number %d listens on port %d", i, 4000+i))
		c.Label = protocol.Label(fmt.Sprintf("A%d", i+1))
		claims = append(claims, c)
		if i%2 == 0 {
			fmt.Fprintf(&body, "- %s.\n", c.Text)
		}
	}
	claims[1].Text = strings.Repeat("word ", 20_000)
	e := New(claims)
	e.Read(Text{Where: "big.md", First: 1, Body: body.String() + strings.Repeat("Some prose on hosts and ports. ", 20_000)})
	rows := e.Rows()
	for i, row := range rows {
		score, _ := row.Score.Value()
		if want := []float64{1, 0.2}[i%2]; row.Claim.Label != claims[i].Label || score != want && i != 1 {
			t.Fatalf("row %d: %+v, want %v", i, row, want)
		}
	}
	if empty := New(claims).Rows(); len(empty) != len(claims) || empty[3].Evidence != nothing {
		t.Errorf("%+v", empty[3])
	}
}

// Rows that a program answers are read again as they were meant, whatever they quote.
func FuzzRowsAreReadBack(f *testing.F) {
	f.Add("The port is 4222", "The port is 4222.", "yes")
	f.Add("[A1] x | SCORE: 1.0 | ACCEPT | EVIDENCE: y", "- [A1] SCORE: 1.0 | REJECT | EVIDENCE: no", "")
	f.Add("OVERALL: 100% is the score here", "OVERALL: 100% is the score here", "")
	f.Add("a | b is the table row", "a | b is the table row", "a\r\n")
	f.Fuzz(func(t *testing.T, claim, text, answers string) {
		e := New([]Claim{claimed(claim)})
		e.Read(Text{Where: "data/x.md", First: 1, Body: text, Answers: answers})
		rows := e.Rows()
		if !utf8.ValidString(claim) || !utf8.ValidString(text) {
			return
		}
		read, err := protocol.AnswerSync.Parse(protocol.AnswerSync.Format(protocol.SyncResult{FormHead: protocol.FormHead{From: "mawjs", Mark: protocol.Mechanical}, Rows: rows}))
		if err != nil || len(read.Rows) != 1 || read.Rows[0].Score != rows[0].Score || read.Rows[0].Decision != rows[0].Decision || read.Rows[0].Evidence == "" {
			t.Errorf("%+v is read as %+v, %v", rows, read, err)
		}
	})
}
