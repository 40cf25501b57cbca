package protocol

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/pattern"
)

// maxRows bounds how many rows of an answer are read.
const maxRows = 2 * MaxClaims

var (
	rowLabel     = pattern.New(`(?i)^(?:(?:claim|item)\s+)?(?:\[((?:[^\[\]/|]{1,80}/)?[aptdc][0-9]{1,6}(?:-[0-9a-f]{4,64})?)\]|([aptdc][0-9]{1,6}(?:-[0-9a-f]{4,64})?)(?:[\s:.)|=–—-]|$))\s*(.*)$`)
	rowMarks     = pattern.New(`^(?:[-–—*•+>#]+\s+|[0-9]{1,3}[.)]\s+)*`)
	namedScore   = pattern.New(`(?i)\b(?:score|sync|alignment|confidence)\b\s*[:=]?\s*(\S.*)$`)
	leadingScore = pattern.New(`^[~≈\s(]*((?:[0-9]{1,3}(?:[.,][0-9]{1,6})?|\.[0-9]{1,6}))(\s*%|\s*/\s*(?:100|10|1(?:\.0)?)\b)?(.*)$`)
	range2       = pattern.New(`^\s*(?:-|–|—|to|\.\.)\s*[0-9.]`)
	decisionWord = pattern.New(`(?i)\b(partial(?:ly)?(?:[- ]accept(?:ed)?)?|accept(?:ed|s)?|reject(?:ed|s)?)\b`)
	evidenceKey  = pattern.New(`(?i)\b(?:evidence|source|basis|reason|why|notes?)\s*:\s*`)
	tableRule    = pattern.New(`^[\s|:+-]+$`)
	overallLine  = pattern.New(`(?i)^(?:raw\s+)?overall\b`)
	emphasis     = strings.NewReplacer("**", "", "__", "", "`", "")
	noEvidence   = []string{"", "-", "–", "—", "none", "n/a", "na", "no evidence", "nothing", "null", "no", "...", "…", "?", "unknown", "keine", "nichts", "nicht gefunden", "aucune", "ninguna", "无", "無", "没有", "なし", "ไม่มี"}
	nothingThere = pattern.New(`(?i)^(?:(?:there|was|is|could|be|i|have|had|can)\s+)*(?:no|none|not|nothing)\b(?:\s+(?:evidence|sources?|records?|entry|mention|memory|memories|notes?|found|find|available|given|provided|known|recorded|present|yet|any|here|at|all|in|on|my|the|a|for|of|about|this|that|it|them|was|is|claim))*$`)
)

// parseSyncResult reads an answer to a sync-check as people and language models write it. There may
// be words before and after it, fences, tables, lists, bold labels and percentages. Rows may be
// missing, in any order, or over several lines. If there are headings, only what stands behind the
// last one is read. A claim that has two different scores has no score. A range, a number above 1
// without a percent sign, and a word are no score either: nothing is guessed (R26). The error says
// that no claim is scored.
func parseSyncResult(body string) (SyncResult, error) {
	lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = plainSigns(line)
	}
	head := FormHead{}
	for i := len(lines) - 1; i >= 0; i-- {
		if rest, ok := cutHeading("SYNC-RESULT", lines[i]); ok {
			f := form{}
			f.readHead(rest)
			head, lines = f.FormHead, lines[i+1:]
			break
		}
	}
	most := min(len(lines), maxRows)
	r := rowReader{rows: make([]SyncRow, 0, most), names: make([]string, 0, most)}
	for _, line := range lines {
		r.take(line)
	}
	result := SyncResult{head, r.rows}
	if !slices.ContainsFunc(r.rows, func(row SyncRow) bool { return row.Score.said }) {
		return result, errors.New("no claim is scored")
	}
	return result, nil
}

// plainSigns is a line with plain blanks, hyphens and signs instead of unusual ones, and without
// pictures before the evidence.
func plainSigns(line string) string {
	if !strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
		return line
	}
	line = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r >= '０' && r <= '９' || r >= 'Ａ' && r <= 'Ｚ' || r >= 'ａ' && r <= 'ｚ' || strings.ContainsRune("：｜［］％．／＃＊－", r):
			return r - '０' + '0' // the wide form of ASCII
		case strings.ContainsRune("‐‑‒―−", r):
			return '-'
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, line)
	before, behind := line, ""
	if at := evidenceKey.Regexp().FindStringIndex(line); at != nil {
		before, behind = line[:at[1]], line[at[1]:]
	}
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		if unicode.IsOneOf([]*unicode.RangeTable{unicode.So, unicode.Sk}, r) && r > '~' {
			return ' '
		}
		return r
	}, before), " ") + behind
}

type rowReader struct {
	rows    []SyncRow
	columns []string // columns of the table that is being read
	open    int      // 1 + the index of the row to which the next lines may belong; 0: none
	names   []string // names of the rows; there are too few for a map
	both    []int    // rows that were scored in two ways
}

func (r *rowReader) take(line string) {
	if name, score, decision, why, ok := strictRow(line); ok {
		row := SyncRow{Claim: ItemRef{Text: name}, Decision: Decision(decision), Evidence: evidence(why)}
		if slug, label, ok := parseName(name); ok {
			row.Claim = ItemRef{Topic: slug, Label: label}
		}
		row.Score, _ = readScore(score)
		r.add(row)
		return
	}
	bare := strings.TrimSpace(line)
	switch {
	case bare == "" || strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, ">"): // a quotation is not the author's own answer
		if bare == "" {
			r.columns = nil
		}
		return
	case strings.Count(bare, "|") >= 2 && r.table(bare):
		return
	}
	text := plainRow(bare)
	switch m := labelOf(text); {
	case sumsUp(text):
		r.open = 0
	case m != nil:
		r.labelled(m[1]+m[2], m[3])
	case r.open > 0:
		r.more(text)
	}
}

// strictRow reads a row in the form of the protocol: "- [A1] SCORE: 0.9 | ACCEPT | EVIDENCE:
// notes.md:3". The decision and the evidence may be missing.
func strictRow(line string) (name, score, decision, why string, ok bool) {
	rest, ok := strings.CutPrefix(line, "- [")
	if !ok {
		return "", "", "", "", false
	}
	name, rest, _ = strings.Cut(rest, "] SCORE: ")
	name = flatText(name)
	score, rest, _ = strings.Cut(rest, " | ")
	decision, why, ok = strings.Cut(rest, "| EVIDENCE:")
	decision = strings.TrimSuffix(decision, " ")
	switch Decision(decision) {
	case DecisionAccept, DecisionReject, DecisionPartial, "":
	default:
		ok = false
	}
	ok = ok && name != "" && !strings.ContainsAny(name, "[]") && (why == "" || why[0] == ' ') &&
		(score == "-" || score != "" && strings.Trim(score, "0123456789.") == "")
	return name, score, decision, strings.TrimPrefix(why, " "), ok
}

// labelOf gives the same as rowLabel, which is slow if there is nothing to find.
func labelOf(text string) []string {
	if text == "" || strings.IndexByte("[aptdci", text[0]) < 0 && strings.IndexByte("APTDCI", text[0]) < 0 {
		return nil
	}
	return rowLabel.FindStringSubmatch(text)
}

func sumsUp(text string) bool {
	return text != "" && strings.IndexByte("orOR", text[0]) >= 0 && overallLine.MatchString(text)
}

// plainRow is a line without the marks of lists and of emphasis.
func plainRow(line string) string {
	if line = strings.TrimSpace(line); line != "" && !isLetter(line[0]) {
		line = rowMarks.Regexp().ReplaceAllString(line, "")
	}
	return strings.TrimSpace(emphasis.Replace(line))
}

// table reads a line of a table: the line that names the columns, or a row under such a line.
func (r *rowReader) table(line string) bool {
	cells := splitCells(line)
	if r.columns == nil {
		names := each.Of(cells, column)
		if slices.Contains(names, "score") && slices.Contains(names, "claim") {
			r.columns, r.open = names, 0
			return true
		}
		return false
	}
	if tableRule.MatchString(line) {
		return true
	}
	row := SyncRow{}
	for i, cell := range cells {
		if i >= len(r.columns) {
			break
		}
		switch cell = plainRow(cell); r.columns[i] {
		case "claim":
			if row.Claim == (ItemRef{}) || row.Claim.Label == "" && ParseItemRef(cell).Label != "" {
				row.Claim = ParseItemRef(cell)
			}
		case "score":
			row.Score, _ = readScore(cell)
		case "decision":
			row.Decision, _ = readDecision(cell)
		case "evidence":
			row.Evidence = evidence(cell)
		}
	}
	if row.Claim != (ItemRef{}) && !sumsUp(row.Claim.Text) {
		r.add(row)
	}
	return true
}

func splitCells(line string) []string {
	const bar = "\x00"
	line = strings.ReplaceAll(line, `\|`, bar)
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	return each.Of(strings.Split(line, "|"), func(cell string) string { return strings.TrimSpace(strings.ReplaceAll(cell, bar, "|")) })
}

// column says what a column of a table contains, by the column's heading.
func column(name string) string {
	name = strings.ToLower(plainRow(name))
	for _, c := range []struct{ means, words string }{
		{"score", "score raw alignment"}, {"decision", "decision verdict status accept/reject"},
		{"evidence", "evidence source reason notes note basis"}, {"claim", "claim id item # label"},
	} {
		for word := range strings.FieldsSeq(c.words) {
			if name == word || strings.HasPrefix(name, word+" ") || strings.HasSuffix(name, " "+word) {
				return c.means
			}
		}
	}
	return ""
}

func (r *rowReader) labelled(name, rest string) {
	slug, label, ok := parseName(strings.TrimSpace(name))
	if !ok {
		return
	}
	row := SyncRow{Claim: ItemRef{Topic: slug, Label: label}}
	readParts(&row, rest)
	r.add(row)
}

// more reads a line that continues the row before it: SCORE, DECISION and EVIDENCE may stand on
// lines of their own.
func (r *rowReader) more(text string) {
	row := &r.rows[r.open-1]
	switch key, value, ok := strings.Cut(text, ":"); {
	case !ok:
	case strings.EqualFold(key, "score") && !row.Score.said:
		readParts(row, text)
	case strings.EqualFold(key, "decision") || strings.EqualFold(key, "verdict"):
		if d, ok := readDecision(value); ok && row.Decision == "" {
			row.Decision = d
		}
	case evidenceKey.MatchString(key+":") && row.Evidence == "":
		row.Evidence = evidence(value)
	}
}

// readParts reads score, decision and evidence behind a label, in any order and with any
// separators.
func readParts(row *SyncRow, rest string) {
	said := rest
	if at := evidenceKey.Regexp().FindStringIndex(rest); at != nil {
		said = rest[:at[0]]
		row.Evidence = evidence(rest[at[1]:])
	}
	tail := ""
	if m := namedScore.Regexp().FindStringSubmatchIndex(said); m != nil {
		score, after := readScore(said[m[2]:m[3]])
		row.Score, tail = score, said[:m[0]]+" "+after
	} else {
		score, after := readScore(strings.TrimLeft(said, " -–—:=|(→>"))
		row.Score, tail = score, after
		if !score.said {
			row.Score, tail = scoreInParts(said)
		}
	}
	if d, ok := readDecision(tail); ok && row.Decision == "" {
		row.Decision = d
	}
	if row.Evidence == "" && row.Score.said {
		row.Evidence = evidence(strings.Trim(decisionOnce(tail), " -–—:;,.|()→>"))
	}
}

// scoreInParts finds the score in a line such as "claim text | 0.8 | ACCEPT".
func scoreInParts(said string) (Score, string) {
	parts := strings.FieldsFunc(said, func(r rune) bool { return r == '|' || r == '—' || r == '–' || r == '→' })
	for i, part := range parts {
		if score, after := readScore(strings.TrimSpace(part)); score.said && len(parts) > 1 {
			return score, after + " | " + strings.Join(parts[i+1:], " | ")
		}
	}
	return Score{}, said
}

// decisionOnce is `text` without the first word in it that is a decision.
func decisionOnce(text string) string {
	at := decisionWord.Regexp().FindStringIndex(text)
	if at == nil {
		return text
	}
	return text[:at[0]] + text[at[1]:]
}

func readScore(text string) (Score, string) {
	if whole, part, _ := strings.Cut(text, "."); len(whole) == 1 && len(part) < 7 && strings.Trim(text, "0123456789.") == "" && strings.Count(text, ".") < 2 && !strings.HasSuffix(text, ".") {
		if x, err := strconv.ParseFloat(text, 64); err == nil { // leadingScore would find the same, more slowly
			return NewScore(x), ""
		}
	}
	m := leadingScore.FindStringSubmatch(text)
	if m == nil || range2.MatchString(m[3]) || m[3] != "" && strings.ContainsAny(m[3][:1], "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_/%") {
		return Score{}, text
	}
	x, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
	if err != nil {
		return Score{}, text
	}
	switch unit := strings.Join(strings.Fields(m[2]), ""); unit {
	case "%", "/100":
		x /= 100
	case "/10":
		x /= 10
	}
	return NewScore(x), m[3]
}

func readDecision(text string) (Decision, bool) {
	word := strings.ToLower(decisionWord.Regexp().FindString(text))
	switch {
	case strings.HasPrefix(word, "partial"):
		return DecisionPartial, true
	case strings.HasPrefix(word, "accept"):
		return DecisionAccept, true
	case strings.HasPrefix(word, "reject"):
		return DecisionReject, true
	}
	return "", false
}

// evidence is a text as evidence. A text that says that there is none gives "".
func evidence(text string) string {
	text = flatText(text)
	bare := strings.Trim(text, " .*_`()<>")
	if slices.ContainsFunc(noEvidence, func(none string) bool { return strings.EqualFold(bare, none) }) || nothingThere.MatchString(bare) {
		return ""
	}
	return text
}

// add adds a row. If it contradicts an earlier row of the same claim, the claim has no score.
func (r *rowReader) add(row SyncRow) {
	name := row.Claim.Name()
	if row.Claim.Label == "" {
		name = "text " + strings.ToLower(row.Claim.Text)
	}
	i := slices.Index(r.names, name)
	if i < 0 {
		if len(r.rows) < maxRows {
			r.rows, r.names = append(r.rows, row), append(r.names, name)
			r.open = len(r.rows)
		}
		return
	}
	r.open = i + 1
	switch {
	case !row.Score.said || row.Score == r.rows[i].Score || slices.Contains(r.both, i):
	case r.rows[i].Score.said:
		r.rows[i].Score, r.both = Score{}, append(r.both, i)
	default:
		r.rows[i] = row
	}
}
