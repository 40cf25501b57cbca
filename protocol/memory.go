package protocol

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/pattern"
)

// MemoriesDir is where the record keeps its memories.
const MemoriesDir = "data/memories"

// maxMemoryBytes bounds a memory's file: it may be as long as the longest message.
const maxMemoryBytes = MaxFile

var memoryPattern = pattern.New(`^[0-9]{8}T[0-9]{9}Z-[0-9a-f]{8,64}\.md$`)

// Memory is shared, lasting knowledge that any participant can read and write
// (Crosstalk, "Memories").
type Memory struct {
	File string // its name, which sorts by time: YYYYMMDDTHHMMSSsssZ-<hex>.md

	From       string
	Via        string // who committed on behalf of From
	Timestamp  time.Time
	Subject    string    // what it is about, in one line
	Scope      ChannelID // the channel that it is for; "" = global
	Tags       []string
	Session    string // the session that wrote it, if the memory says so
	Supersedes string // File of the memory that this one replaces
	Body       string
}

// MemoryFileName is the file name of a memory of time `t`. The writer draws `suffix` at random.
func MemoryFileName(t time.Time, suffix uint32) string {
	stamp := strings.Replace(t.UTC().Format("20060102T150405.000Z"), ".", "", 1)
	return fmt.Sprintf("%s-%08x.md", stamp, suffix)
}

// ParseMemoryFileName checks the name of a memory's file; ".md" may be left out.
func ParseMemoryFileName(s string) (string, error) {
	if !strings.HasSuffix(s, ".md") {
		s += ".md"
	}
	if !memoryPattern.MatchString(s) {
		return "", fmt.Errorf("%q is not the name of a memory: it should look like 20260523T190000000Z-b2c3d4e5.md", s)
	}
	return s, nil
}

// MemoryPath is the path of a memory's file from the record's root.
func MemoryPath(file string) string { return MemoriesDir + "/" + file }

// ParseMemoryPath gives the file name of the memory at `path`. `ok` is false if no memory can be
// there.
func ParseMemoryPath(path string) (file string, ok bool) {
	file, ok = strings.CutPrefix(path, MemoriesDir+"/")
	return file, ok && memoryPattern.MatchString(file)
}

// EncodeMemory writes m in the strict form; File is not part of it.
func EncodeMemory(m Memory) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("cannot write the memory: %w", err)
	}
	var w frontmatter
	w.text("from", m.From)
	w.text("via", m.Via)
	w.plain("timestamp", m.Timestamp.UTC().Format(TimestampLayout))
	w.text("subject", m.Subject)
	w.text("scope", m.scope())
	w.tags(m.Tags)
	w.text("session", m.Session)
	w.text("supersedes", m.Supersedes)
	file, err := w.finish(m.Body, maxMemoryBytes)
	if err != nil {
		return nil, fmt.Errorf("cannot write the memory: %w", err)
	}
	return file, nil
}

// tags are always written as a list, as in the seed.
func (w *frontmatter) tags(tags []string) {
	if len(tags) == 1 {
		w.plain("tags", "["+w.quote("tags", tags[0])+"]")
		return
	}
	w.list("tags", tags)
}

func (m *Memory) scope() string {
	if m.Scope == "" {
		return globalScope
	}
	return m.Scope.String()
}

// globalScope is the scope of a memory that is for every channel.
const globalScope = "global"

func (m *Memory) check() error {
	if err := CheckForeignName(m.From); err != nil {
		return err
	}
	if err := CheckLabel(m.Subject); err != nil {
		return fmt.Errorf("its subject: %w", err)
	}
	if m.Timestamp.IsZero() || !writable(m.Timestamp) {
		return fmt.Errorf("it has no timestamp of the years 0 to 9999")
	}
	for _, tag := range m.Tags {
		if err := CheckLabel(tag); err != nil {
			return fmt.Errorf("tag %q: %w", tag, err)
		}
	}
	if m.Supersedes != "" {
		if _, err := ParseMemoryFileName(m.Supersedes); err != nil {
			return err
		}
	}
	return nil
}

// ParseMemory reads the memory `data` in the file that is called `file`. A scope that is neither
// "global" nor the id of a channel is an error (R10). Whether the channel exists is not checked
// here: the fleet does.
func ParseMemory(file string, data []byte) (Memory, error) {
	fs, body, err := document(data, maxMemoryBytes)
	if err != nil {
		return Memory{}, err
	}
	m := Memory{
		File: file, From: fs.text("from"), Via: fs.text("via"), Subject: fs.text("subject"), Tags: slices.Clone(fs.list("tags")),
		Session: fs.text("session"), Supersedes: fs.text("supersedes"), Body: NormalBody(body),
	}
	if err := checkAuthor(m.From); err != nil {
		return Memory{}, fmt.Errorf("field from: %w", err)
	}
	if err := CheckLabel(m.Subject); err != nil {
		return Memory{}, fmt.Errorf("field subject: %w", err)
	}
	if m.Timestamp, err = parseTimestamp(fs.text("timestamp")); err != nil {
		return Memory{}, fmt.Errorf("field timestamp: %w", err)
	}
	if scope := fs.text("scope"); scope != "" && scope != globalScope {
		if m.Scope, err = ParseChannelID(scope); err != nil {
			return Memory{}, fmt.Errorf("field scope: %q is neither global nor the id of a channel: write global, or the name of a folder of %s", scope, ChannelsDir)
		}
	}
	return m, nil
}
