package with

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/protocol"
)

// handKept is a folder of collaborations that a person or a language model has kept.
type handKept struct {
	folder string
	topics []handTopic
	kept   []Kept // what is in it and stays there alone
}

// handTopic is a topic in such a folder.
type handTopic struct {
	partner, name, anchor string
	items                 []handItem
}

// handItem is a line of a topic.
type handItem struct {
	label, text string
	deed        protocol.Act // agree or open
	note        string       // what the files say that nobody but the partner can say
	why         string       // why it is not taken; "" where it is
}

// Kept is what an import leaves where it is.
type Kept struct {
	File string `json:"file"` // below the folder
	What string `json:"what"` // "" for all of it
	Why  string `json:"why"`  // why it is left there
}

// maxHandKept bounds what is read of a file, in bytes.
const maxHandKept = 4 << 20

// readHandKept reads a folder ψ, or the folder of collaborations in one. Its files stay as
// they are.
func readHandKept(dir string) (*handKept, error) {
	h := &handKept{folder: dir}
	for _, below := range []string{"memory/collaborations", "ψ/memory/collaborations"} {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(below))); err == nil && info.IsDir() {
			h.folder = filepath.Join(dir, filepath.FromSlash(below))
		}
	}
	partners, err := os.ReadDir(h.folder)
	if err != nil {
		return nil, err
	}
	registry := h.registry()
	for _, p := range partners {
		if !p.IsDir() || p.Name() == "archive" || p.Name() == "parties" {
			if p.IsDir() {
				h.leave(p.Name(), "", "it stays as it is")
			}
			continue
		}
		h.partner(p.Name(), registry)
	}
	for _, row := range registry {
		if !slices.ContainsFunc(h.topics, func(t handTopic) bool { return t.partner == row.partner && protocol.SameTopic(t.name, row.name) }) {
			h.topics = append(h.topics, row)
		}
	}
	contacts := filepath.Join(h.folder, "..", "..", "contacts.json")
	if _, err := os.Stat(contacts); err == nil {
		h.leave("contacts.json", "", contactsIn(contacts))
	}
	return h, nil
}

// contactsIn says what there is in a file of contacts (W13).
func contactsIn(path string) string {
	var file struct {
		Contacts map[string]struct{ Maw, Node, Soul string } `json:"contacts"`
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		return fmt.Sprintf("it cannot be read: %v", err)
	}
	return fmt.Sprintf("it names %d; who is reached where follows from the fleet's hosts", len(file.Contacts))
}

func (h *handKept) leave(file, what, why string) {
	h.kept = append(h.kept, Kept{File: filepath.ToSlash(file), What: what, Why: why})
}

// text is a file below the folder; "" for none.
func (h *handKept) text(name string) string {
	path := filepath.Join(h.folder, name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxHandKept) {
		err = errors.New("it is no plain file, or too large")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		h.leave(name, "", fmt.Sprintf("it cannot be read: %v", err))
		return ""
	}
	return strings.ToValidUTF8(string(data), "�")
}

// registry are the rows of registry.md that parley did not write.
func (h *handKept) registry() (rows []handTopic) {
	for _, line := range byHand(h.text("registry.md")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(strings.TrimSpace(line), "|") || len(cells) < 2 {
			continue
		}
		name, partner := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1])
		if name == "" || partner == "" || strings.EqualFold(name, "topic") || strings.Trim(name, "-: ") == "" {
			continue
		}
		rows = append(rows, handTopic{partner: partner, name: name})
	}
	return rows
}

// byHand are the lines of a file outside of what parley writes.
func byHand(text string) (lines []string) {
	inside := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(trimmed, "<!-- parley:begin "):
			inside = true
		case strings.HasPrefix(trimmed, "<!-- parley:end "):
			inside = false
		case !inside:
			lines = append(lines, line)
		}
	}
	return lines
}

func (h *handKept) partner(name string, registry []handTopic) {
	files, _ := os.ReadDir(filepath.Join(h.folder, name, "topics")) // none: no topics
	for _, f := range files {
		file := filepath.Join(name, "topics", f.Name())
		stem, isTopic := strings.CutSuffix(f.Name(), ".md")
		switch {
		case isTopic:
			h.topics = append(h.topics, h.topic(name, stem, file, registry))
		case !strings.HasSuffix(f.Name(), ".state.json"):
			h.leave(file, "", "it is no file of a topic")
		}
	}
	if h.text(filepath.Join(name, "context.md")) != "" {
		h.leave(filepath.Join(name, "context.md"), "", "what it says of no topic stays in it")
	}
	if lines := strings.Count(h.text(filepath.Join(name, "sync.history.jsonl")), "\n"); lines > 0 {
		h.leave(filepath.Join(name, "sync.history.jsonl"), "", fmt.Sprintf("%d scores stay in it: only who gave them can give them again", lines))
	}
}

var (
	titleLine  = regexp.MustCompile(`^#\s+(?:Topic:\s*)?(.+?)\s*$`)
	anchorLine = regexp.MustCompile(`^\*\*Anchor\*\*:\s*(\S.*?)\s*$`)
	headLine   = regexp.MustCompile(`^##\s+(.+?)\s*$`)
	itemLine   = regexp.MustCompile(`^\s*[-*]\s+(?:\[([ xX])\]\s*)?(?:\[([APTD]\d+(?:-[0-9a-f]+)?)\]\s*)?(.+?)\s*$`)
	markWords  = regexp.MustCompile(`^(?:✓ ACCEPTED:|✓|\[spec\])\s*`)
)

// handState is a state file as the seed has it.
type handState struct {
	Items map[string]struct {
		Text, Phase, DecidedBy, DecidedAt, Reason, DeferredUntil string
	} `json:"items"`
}

func (h *handKept) topic(partner, stem, file string, registry []handTopic) handTopic {
	t := handTopic{partner: partner, name: strings.ReplaceAll(stem, "-", " ")}
	for _, row := range registry {
		a, errA := protocol.SlugOf(row.name)
		b, errB := protocol.SlugOf(stem)
		if row.partner == partner && errA == nil && errB == nil && a == b {
			t.name = row.name
		}
	}
	section := ""
	lines := byHand(h.text(file))
	for n, line := range lines {
		if m := titleLine.FindStringSubmatch(line); m != nil && section == "" {
			t.name = m[1]
			continue
		}
		if m := headLine.FindStringSubmatch(line); m != nil {
			section = strings.ToLower(m[1])
			continue
		}
		if m := anchorLine.FindStringSubmatch(line); m != nil && section == "" && m[1] != "—" {
			t.anchor = m[1]
			continue
		}
		m := itemLine.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "" || section == "" || strings.HasPrefix(line, "> Not taken in"):
		case m != nil && section == "agreements":
			t.items = append(t.items, handItem{label: m[2], text: markWords.ReplaceAllString(m[3], ""), deed: protocol.ActAgree})
		case m != nil && section == "pending":
			item := handItem{label: m[2], text: m[3], deed: protocol.ActOpen}
			if strings.TrimSpace(m[1]) != "" {
				item.why = "it is done"
			}
			t.items = append(t.items, item)
		case strings.Contains(line, "(none"):
		default:
			h.leave(file, fmt.Sprintf("line %d below %q", n+1, section), "it has no form that is known")
		}
	}
	state := strings.TrimSuffix(file, ".md") + ".state.json"
	// Where the topic is open by now, that file is parley's, and the one that was kept by hand
	// has been put away.
	if before := filepath.Join("archive", partner+"."+stem+".by-hand-1.state.json"); h.text(before) != "" {
		state = before
	}
	h.phases(&t, partner, state)
	return t
}

// phases takes in what a state file says of a topic's agreements. What its partner decided
// stays words: nobody decides for another one.
func (h *handKept) phases(t *handTopic, partner, file string) {
	text := h.text(file)
	if text == "" {
		return
	}
	var state handState
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		h.leave(file, "", fmt.Sprintf("it cannot be read: %v", err))
		return
	}
	var labels []string
	for label := range state.Items {
		labels = append(labels, label)
	}
	slices.Sort(labels)
	for _, label := range labels {
		s := state.Items[label]
		i := slices.IndexFunc(t.items, func(it handItem) bool {
			return it.deed == protocol.ActAgree && (it.label == label || sameText(it.text, s.Text))
		})
		if i < 0 && strings.TrimSpace(s.Text) != "" && strings.HasPrefix(label, "A") {
			t.items = append(t.items, handItem{label: label, text: s.Text, deed: protocol.ActAgree})
			i = len(t.items) - 1
		}
		if i < 0 {
			h.leave(file, label, "it is no agreement")
			continue
		}
		it := &t.items[i]
		theirs := protocolName(s.DecidedBy) == protocolName(partner)
		switch {
		case s.Phase == "reject":
			it.why = "it was declined"
		case s.Phase == "defer" && !theirs:
			it.why = "you put it off: propose it when it is time"
		case s.Phase == "accept" && theirs:
			it.note = fmt.Sprintf("%s accepted it %s", partner, s.DecidedAt)
		case s.Phase == "defer":
			it.note = fmt.Sprintf("%s put it off until %s", partner, s.DeferredUntil)
		}
	}
}

// protocolName is a name as it signs: without the -oracle that folders have (W14).
func protocolName(name string) string { return strings.TrimSuffix(strings.TrimSpace(name), "-oracle") }

func sameText(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}
