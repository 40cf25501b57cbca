package calls

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: an inquiry that stalls because a peer wrote its report in another form, and a dialogue
// that goes on because "Keine" is no English.
func TestFormsOfReports(t *testing.T) {
	const one, two, four = "Keep the first, by `a.md`.", "Both count **four** restarts.", "A night costs 260."
	for name, answer := range map[string]string{
		"plain":             "## Final position\nONE\n## Agreement points\nTWO\n## Remaining divergence\nNONE\n## Rationale\nFOUR",
		"another level":     "#### Final position\nONE\n\n#### Agreement points\nTWO\n#### Remaining divergence\nNONE\n#### Rationale\nFOUR",
		"fence with words":  "Here is my report:\n\n```markdown\n## Final position\nONE\n## Agreement points\nTWO\n## Remaining divergence\nNONE\n## Rationale\nFOUR\n```\n\nAnything else?",
		"fence without end": "Of course.\n~~~md\n## Final position\nONE\n## Agreement points\nTWO\n## Remaining divergence\nNONE\n## Rationale\nFOUR",
		"JSON":              "```json\n{\"final_position\": \"ONE\", \"agreement_points\": \"TWO\", \"remaining_divergence\": \"NONE\", \"rationale\": \"FOUR\"}\n```",
		"JSON within":       "Sure: {\"report\": {\"Final position\": \"ONE\", \"agreementPoints\": [\"TWO\"], \"Remaining divergence\": \"NONE\", \"rationale\": \"FOUR\",}}",
		"JSON of nothing":   "{\"final-position\": \"ONE\", \"agreement-points\": \"TWO\", \"remaining-divergence\": [], \"rationale\": \"FOUR\"}",
		"JSON in German":    "{\"Endposition\": \"ONE\", \"Einigkeit\": \"TWO\", \"Dissens\": \"NONE\", \"Begründung\": \"FOUR\"}",
		"JSON list":         "{\"sections\": [{\"heading\": \"Final position\", \"text\": \"ONE\"}, {\"heading\": \"Agreement points\", \"text\": \"TWO\"}, {\"heading\": \"Remaining divergence\", \"text\": \"NONE\"}, {\"heading\": \"Rationale\", \"text\": \"FOUR\"}]}",
		"bold":              "**Final position**\nONE\n\n**Agreement points:**\nTWO\n\n**Remaining divergence**\nNONE\n\n**Rationale**\nFOUR",
		"bold on the line":  "- **Final position:** ONE\n- **Agreement points:** TWO\n- **Remaining divergence:** NONE\n- **Rationale:** FOUR",
		"numbers":           "1. Final position\nONE\n2) Agreement points\nTWO\n(3) Remaining divergence\nNONE\nIV. Rationale\nFOUR",
		"numbers, bold":     "### 1. **Final position**\nONE\n### 2. **Agreement points**\nTWO\n### 3. **Remaining divergence**\nNONE\n### 4. **Rationale**\nFOUR",
		"labels":            "Final position: ONE\nAgreement points: TWO\nRemaining divergence: NONE\nRationale: FOUR",
		"labels, Chinese":   "Final position：ONE\nAgreement points：TWO\nRemaining divergence：NONE\nRationale：FOUR",
		"on the line":       "## Final position: ONE\n## Agreement points: TWO\n## Remaining divergence: NONE\n## Rationale: FOUR",
		"emoji":             "## 🎯 FINAL POSITION\nONE\n## 🤝 Agreement Points\nTWO\n## ⚖️ Remaining Divergence\nNONE\n## 💡 Rationale\nFOUR",
		"German":            "# Bericht\n\n## Endgültige Position\nONE\n## Übereinstimmung\nTWO\n## Verbleibende Differenzen\nNONE\n## Begründung\nFOUR",
		"Thai, bold":        "**จุดยืนสุดท้าย**\nONE\n**จุดที่เห็นตรงกัน**\nTWO\n**ความเห็นต่าง**\nNONE\n**เหตุผล**\nFOUR",
		"Chinese, leads":    "**最终立场**：ONE\n**一致点**：TWO\n**剩余分歧**：NONE\n**理由**：FOUR",
		"underlined":        "Final position\n==============\nONE\n\nAgreement points\n---\nTWO\n\nRemaining divergence\n---\nNONE\n\nRationale\n---\nFOUR",
		"tags":              "<final_position>ONE</final_position>\n<agreement_points>\nTWO\n</agreement_points>\n<remaining_divergence>NONE</remaining_divergence>\n<rationale>FOUR</rationale>",
		"HTML":              "<h3>Final position</h3>\nONE\n<h3>Agreement points</h3>\nTWO\n<h3>Remaining divergence</h3>\nNONE\n<h3>Rationale</h3>\nFOUR",
		"table":             "| Section | Text |\n|---|---|\n| Final position | ONE |\n| **Agreement points** | TWO |\n| Remaining divergence | NONE |\n| Rationale | FOUR |",
		"quoted":            "> ## Final position\n> ONE\n> ## Agreement points\n> TWO\n> ## Remaining divergence\n> NONE\n> ## Rationale\n> FOUR",
	} {
		for _, none := range []string{"None.", "Keine", "ไม่มี", "Ninguna.", "无", "n/a", "-", "—"} {
			texts := strings.NewReplacer("ONE", one, "TWO", two, "NONE", none, "FOUR", four)
			w := newWalk(t, nil)
			w.until(inquiries.Dialogue)
			for inquiries.Next(w.v)[0].Do != protocol.ActFrameReport {
				c := inquiries.Next(w.v)[0]
				if err := w.answer(c, w.fixture(c)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.answer(inquiries.Next(w.v)[0], texts.Replace(answer)); err != nil {
				t.Errorf("%s, %s: %v", name, none, err)
				continue
			}
			if r := w.v.Tensions[0].Reports[0]; r.Position != one || strings.TrimPrefix(r.Agreement, "- ") != two || r.Divergence != "" || r.Rationale != four {
				t.Errorf("%s, %s is read as %q, %q, %q, %q", name, none, r.Position, r.Agreement, r.Divergence, r.Rationale)
			}
		}
	}
}

// It prevents: a result of which nothing can be quoted, because its agent gave the sections in another
// form, or none at all. All that it says is in a section.
func TestFormsOfResults(t *testing.T) {
	want := "## Epistemic Contribution\nONE\n\n## Framework Analysis\nTWO, `a/b.go`\n\n## Horizon Limits\nTHREE\n\n## Assessment\nFOUR, 3 of 4"
	for name, c := range map[string]struct{ answer, want string }{
		"as asked":        {want, want},
		"chatter":         {"I looked.\n\n" + want, "I looked.\n\n" + want},
		"fence in words":  {"My analysis:\n```md\n" + want + "\n```\nDone!", want},
		"code in a fence": {"Look:\n````markdown\n" + strings.Replace(want, "TWO", "```go\nx\n```\nTWO", 1) + "\n````", strings.Replace(want, "TWO", "```go\nx\n```\nTWO", 1)},
		"JSON":            {"```json\n{\"epistemic_contribution\": \"ONE\", \"framework_analysis\": \"TWO, `a/b.go`\", \"horizon_limits\": \"THREE\", \"assessment\": \"FOUR, 3 of 4\"}\n```", want},
		"JSON, a list":    {"[{\"title\": \"Epistemic Contribution\", \"text\": \"ONE\"}, {\"title\": \"Framework Analysis\", \"text\": \"TWO, `a/b.go`\"}, {\"title\": \"Horizon Limits\", \"text\": \"THREE\"}, {\"title\": \"Assessment\", \"text\": \"FOUR, 3 of 4\"}]", want},
		"German":          {"# Ergebnis\n## Erkenntnisbeitrag\nONE\n## Rahmenanalyse\nTWO, `a/b.go`\n## Grenzen des Horizonts\nTHREE\n## Bewertung\nFOUR, 3 of 4", "# Ergebnis\n\n" + want},
		"prose":           {"Keep the first one.", "## Framework Analysis\nKeep the first one."},
		"one section":     {"The first costs less.\n## Assessment\nKeep it.", "## Framework Analysis\nThe first costs less.\n\n## Assessment\nKeep it."},
		"other headings":  {"## Summary\nONE\n## Details\nTWO", "## Framework Analysis\n## Summary\nONE\n## Details\nTWO"},
		"four points": {"## Epistemic Contribution\nONE\n## Framework Analysis\n**a**: 1\n**b**: 2\n**c**: 3\n**d**: 4\n## Assessment\nFOUR",
			"## Epistemic Contribution\nONE\n## Framework Analysis\n**a**: 1\n**b**: 2\n**c**: 3\n**d**: 4\n## Assessment\nFOUR"},
		"other JSON": {"{\"answer\": \"Keep it.\"}", "## Framework Analysis\n{\"answer\": \"Keep it.\"}"},
		"nothing":    {" \n", ""},
	} {
		if got := Result(c.answer); got != c.want {
			t.Errorf("%s is read as\n%s", name, got)
		}
	}
}

// A report without sections is asked for once more. Then the whole of it is the position, which can be
// quoted, and the peer is asked what divides it.
func TestAReportWithoutSections(t *testing.T) {
	w := newWalk(t, nil)
	w.until(inquiries.Dialogue)
	for inquiries.Next(w.v)[0].Do != protocol.ActFrameReport {
		c := inquiries.Next(w.v)[0]
		if err := w.answer(c, w.fixture(c)); err != nil {
			t.Fatal(err)
		}
	}
	c, said := inquiries.Next(w.v)[0], "We talked, and the first store is the cheaper one."
	if err := w.answer(c, said); err == nil {
		t.Error("it is not asked for once more")
	}
	w.around.Refused = "the report"
	if err := w.answer(c, ""); err == nil {
		t.Error("nothing is a report")
	}
	if err := w.answer(c, said); err != nil {
		t.Fatal(err)
	}
	if r := w.v.Tensions[0].Reports[0]; r.Position != said || r.Divergence != unsaid {
		t.Errorf("it is read as %+v", r)
	}
	w.around.Refused = ""
	w.until(inquiries.Synthesize)
}

// The synthesis is read in other forms too.
func TestFormsOfSyntheses(t *testing.T) {
	for _, change := range [][]string{
		{"### Convergence", "# 1. Konvergenz", "### Divergence", "# 2. Divergenz", "### Integrated Assessment", "# 3. Gesamtbewertung", "### Synthesis Basis", "# 4. Grundlage"},
		{"### Convergence", "<convergence>", "### Divergence", "</convergence>\n<divergence>", "### Integrated Assessment", "</divergence>\n<integrated_assessment>", "### Synthesis Basis", "</integrated_assessment>\n<synthesis_basis>"},
	} {
		w := newWalk(t, nil)
		w.until(inquiries.Synthesize)
		if err := w.answer(inquiries.Next(w.v)[0], strings.NewReplacer(change...).Replace(w.file("synthesis"))); err != nil {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}

// FuzzResult: all words of an answer are found again in what is read, or the answer stands as it is.
func FuzzResult(f *testing.F) {
	f.Add("## A\n{\"assessment\": [1, {\"a\": null}]}")
	f.Add("```\n**Assessment**: x\n<horizon_limits>\n> y")
	f.Fuzz(func(t *testing.T, answer string) {
		if got := Result(answer); strings.TrimSpace(got) == "" && strings.TrimSpace(answer) != "" && !strings.Contains(answer, "```") && !strings.Contains(answer, "{") && len(letters(answer)) > 60 {
			t.Errorf("%q is read as nothing", answer)
		}
	})
}
