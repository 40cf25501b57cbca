package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/internal/psi"
	"github.com/parleyfleet/parley/node/examiner"
)

const (
	// maxNotes and maxNoteBytes bound what is read of an agent's notes. The newest notes are read
	// first.
	maxNotes     = 2000
	maxNoteBytes = 8 << 20
	maxNote      = 1 << 20 // bytes of one note
)

// othersNotes are folders of ψ with what others wrote: mail, texts that were read, clones.
var othersNotes = map[string]bool{"inbox": true, "outbox": true, "learn": true, "incubate": true}

// readNotes calls `read` with the notes in the ψ of an agent: its prose. What lies in the folders
// of mail and of others' works is not the agent's own, and files below memory/collaborations are
// views of what was agreed on. If the ψ is shared with others, nothing shows which of them wrote a
// note: then it proves nothing. It stops when the context ends.
func readNotes(ctx context.Context, at string, shared bool, read func(examiner.Text)) error {
	root, err := os.OpenRoot(at)
	if at == "" || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot read the notes in %s: %w", at, err)
	}
	defer root.Close()
	notes, err := notesBelow(ctx, root)
	if err != nil {
		return fmt.Errorf("cannot read the notes in %s: %w", at, err)
	}
	left := maxNoteBytes
	for _, n := range notes[:min(len(notes), maxNotes)] {
		if left -= int(n.size); left < 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := psi.Read(root, n.name, maxNote)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, psi.ErrNotPlain) || errors.Is(err, psi.ErrTooLarge) || errors.Is(err, psi.ErrOutside) {
			continue // it has changed in the meantime
		}
		if err != nil {
			return fmt.Errorf("cannot read the note %s of %s: %w", n.name, at, err)
		}
		body, first := withoutFrontmatter(strings.ToValidUTF8(string(data), "\uFFFD"))
		read(examiner.Text{Where: psi.Name + "/" + n.name, First: first, At: time.Time{}, Unproven: shared, Body: body})
	}
	return nil
}

type note struct {
	name string // path below ψ, with slashes
	size int64
	at   time.Time
}

// notesBelow are the files of notes in ψ. The one that was changed last comes first.
func notesBelow(ctx context.Context, root *os.Root) (all []note, err error) {
	skip := func(name string, folder bool) bool {
		return strings.HasPrefix(path.Base(name), ".") || folder && othersNotes[name] || strings.HasPrefix(name, "memory/collaborations") ||
			!folder && !slices.Contains([]string{".md", ".txt"}, strings.ToLower(path.Ext(name)))
	}
	err = psi.Walk(ctx, root, skip, func(name string, info fs.FileInfo) {
		if info.Size() <= maxNote {
			all = append(all, note{name, info.Size(), info.ModTime()})
		}
	})
	slices.SortFunc(all, func(a, b note) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name)) })
	return all, err
}

// withoutFrontmatter is a text without its frontmatter, if it has one, and the number of the first
// line of the rest.
func withoutFrontmatter(text string) (body string, first int) {
	lines := strings.SplitAfter(text, "\n")
	if strings.TrimSpace(lines[0]) != "---" {
		return text, 1
	}
	for i, line := range lines[1:] {
		if strings.TrimSpace(line) == "---" {
			return strings.Join(lines[i+2:], ""), i + 3
		}
	}
	return text, 1
}
