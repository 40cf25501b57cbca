package with

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/internal/psi"
	"github.com/parleyfleet/parley/protocol"
)

// handKept is a folder of collaborations that a person or a language model has kept.
type handKept struct {
	folder string
	root   *os.Root // the folder: else somebody who can put a link into it could have any file taken in
	topics []handTopic
	kept   []Kept // what is in the folder and stays only there
}

type handTopic struct {
	partner, name, anchor string
	items                 []handItem
}

type handItem struct {
	label, text string
	deed        protocol.Act // agree or open
	note        string       // what the files say and only the partner can decide
	why         string       // why it is not taken; "" if it is
}

// Kept is something that an import leaves where it is.
type Kept struct {
	File string `json:"file"` // path below the folder
	What string `json:"what"` // the part of the file; "" for all of it
	Why  string `json:"why"`  // why it is left there
}

// maxHandKept is how many bytes of a file are read at most.
const maxHandKept = 4 << 20

// readHandKept reads a folder ψ, or the folder of collaborations in it. It does not change the
// files. If a link leads out of the folder, its target is not read, and the link is listed as kept.
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
	if h.root, err = os.OpenRoot(h.folder); err != nil {
		return nil, err
	}
	defer h.root.Close()
	registry := h.registry()
	for _, p := range partners {
		if p.Type()&fs.ModeSymlink != 0 {
			if info, err := h.root.Stat(p.Name()); err != nil || info.IsDir() {
				h.leave(p.Name(), "", "it is a link: put the folder itself there, if it is a partner's")
			}
			continue
		}
		if !p.IsDir() || p.Name() == "archive" || p.Name() == "parties" {
			if p.IsDir() {
				h.leave(p.Name(), "", "it stays as it is")
			}
			continue
		}
		h.partner(p.Name(), registry)
	}
	for _, row := range registry {
		if !slices.ContainsFunc(h.topics, func(t handTopic) bool {
			return protocolName(t.partner) == protocolName(row.partner) && protocol.SameTopic(t.name, row.name)
		}) {
			h.topics = append(h.topics, row)
		}
	}
	h.contacts()
	return h, nil
}

// contacts says what is in the file of contacts of ψ (W13), if there is one.
func (h *handKept) contacts() {
	root, err := os.OpenRoot(filepath.Join(h.folder, "..", ".."))
	if err != nil {
		return // a folder that may not be opened is not the one that was named
	}
	defer root.Close()
	var all map[string]psi.Contact
	data, err := psi.Read(root, psi.ContactsFile, psi.MaxContacts)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		all, err = psi.ParseContacts(data)
	}
	if err != nil {
		h.leave(psi.ContactsFile, "", unread(err))
		return
	}
	h.leave(psi.ContactsFile, "", fmt.Sprintf("it names %d; who is reached where follows from the fleet's hosts, whose they are is read from it", len(all)))
}

// unread says why a file that could not be read stays.
func unread(err error) string {
	for _, plain := range []error{psi.ErrNotPlain, psi.ErrTooLarge, psi.ErrOutside} {
		if errors.Is(err, plain) {
			return plain.Error()
		}
	}
	return fmt.Sprintf("it cannot be read: %v", err)
}

func (h *handKept) leave(file, what, why string) {
	h.kept = append(h.kept, Kept{File: filepath.ToSlash(file), What: what, Why: why})
}

// text returns the text of a file below the folder; "" if there is none.
func (h *handKept) text(name string) string {
	text, _ := h.read(name)
	return text
}

// read returns the text of a file below the folder, if it can be read.
func (h *handKept) read(name string) (text string, ok bool) {
	data, err := psi.Read(h.root, filepath.ToSlash(name), maxHandKept)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false
	}
	if err != nil {
		h.leave(name, "", unread(err))
		return "", false
	}
	return strings.ToValidUTF8(string(data), "�"), true
}

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
	for _, f := range h.topicFiles(name) {
		file := filepath.Join(name, "topics", f.Name())
		stem, isTopic := strings.CutSuffix(f.Name(), ".md")
		switch {
		case isTopic:
			if text, ok := h.read(file); ok {
				h.topics = append(h.topics, h.topic(name, stem, file, text, registry))
			}
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

func (h *handKept) topicFiles(partner string) []fs.DirEntry {
	dir := path.Join(partner, "topics")
	info, err := h.root.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.IsDir() {
		h.leave(dir, "", "it is a link or a file: put the folder itself there")
		return nil
	}
	var files []fs.DirEntry
	if err == nil {
		files, err = fs.ReadDir(h.root.FS(), dir)
	}
	if err != nil {
		h.leave(dir, "", unread(err))
	}
	return files
}

var (
	titleLine  = pattern.New(`^#\s+(?:Topic:\s*)?(.+?)\s*$`)
	anchorLine = pattern.New(`^\*\*Anchor\*\*:\s*(\S.*?)\s*$`)
	headLine   = pattern.New(`^##\s+(.+?)\s*$`)
	itemLine   = pattern.New(`^\s*[-*]\s+(?:\[([ xX])\]\s*)?(?:\[([APTD]\d+(?:-[0-9a-f]+)?)\]\s*)?(.+?)\s*$`)
	markWords  = pattern.New(`^(?:✓ ACCEPTED:|✓|\[spec\])\s*`)
)

// handState is a state file, in the form of the seed.
type handState struct {
	Items map[string]struct {
		Text, Phase, DecidedBy, DecidedAt, Reason, DeferredUntil string
	} `json:"items"`
}

func (h *handKept) topic(partner, stem, file, text string, registry []handTopic) handTopic {
	t := handTopic{partner: partner, name: strings.ReplaceAll(stem, "-", " ")}
	for _, row := range registry {
		a, errA := protocol.SlugOf(row.name)
		b, errB := protocol.SlugOf(stem)
		if protocolName(row.partner) == protocolName(partner) && errA == nil && errB == nil && a == b {
			t.name = row.name
		}
	}
	section := ""
	lines := byHand(text)
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
			text := strings.TrimSpace(markWords.Regexp().ReplaceAllString(m[3], ""))
			if text == "" {
				h.leave(file, fmt.Sprintf("line %d below %q", n+1, section), "it has no words")
				continue
			}
			t.items = append(t.items, handItem{label: m[2], text: text, deed: protocol.ActAgree})
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
	// If the topic is open now, that file is parley's, and the file that was kept by hand has been
	// put away.
	if before := filepath.Join("archive", partner+"."+stem+".by-hand-1.state.json"); h.text(before) != "" {
		state = before
	}
	h.phases(&t, partner, state)
	return t
}

// phases takes in what a state file says about a topic's agreements. What the partner decided is
// only kept as words: nobody decides for another one.
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
	for _, label := range slices.Sorted(maps.Keys(state.Items)) {
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

// meant names the partners of topics as the fleet does: mawjs-oracle becomes mawjs, if nobody is
// called mawjs-oracle and somebody is called mawjs.
func (h *handKept) meant(names []string) {
	for i, t := range h.topics {
		if short := protocolName(t.partner); !slices.Contains(names, t.partner) && slices.Contains(names, short) {
			h.topics[i].partner = short
		}
	}
}

// protocolName is the name with which an agent signs: without the -oracle that folders have (W14).
func protocolName(name string) string { return strings.TrimSuffix(strings.TrimSpace(name), "-oracle") }

func sameText(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}
