// Package issues reads and writes comments of issues on GitHub, on which topics hang. It uses the
// program gh for that, if gh is installed and signed in, because parley has no access of its own
// (R34). gh gets its arguments as words, never as a line of a shell, and its time is bounded. What
// gh brings was written by strangers. Its size is bounded too, and the code that shows it makes it
// harmless.
package issues

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/protocol"
)

// Bounds of what one look asks for and brings.
const (
	patience   = 15 * time.Second // for one answer
	maxAnswer  = 16 << 20         // bytes of one answer: a page of the longest comments that GitHub takes, written with escapes
	perPage    = 30               // comments
	maxPages   = 10
	maxComment = 16 << 10 // bytes that are kept of one comment
	maxProblem = 300      // bytes of what gh says went wrong
	maxBody    = 60 << 10 // bytes of a comment that parley writes; GitHub takes 65,536 characters
)

// Comment is a comment on an issue, as its author wrote it.
type Comment struct {
	Author string // the login
	Body   string // at most 16 KiB
	Cut    bool   // the comment is longer than Body
	At     time.Time
	URL    string
}

// News is what was written on an issue after some time.
type News struct {
	Total    int       // how many comments the issue has
	Comments []Comment // the new ones, the oldest first
	More     bool      // there are more comments than one look reads
}

// Newest is when the last of the comments was written; zero if there are none.
func (n News) Newest() (at time.Time) {
	if len(n.Comments) > 0 {
		at = n.Comments[len(n.Comments)-1].At
	}
	return at
}

// GH is the program.
type GH struct {
	Patience time.Duration // how long one answer may take; 0: 15 s
}

// ErrNoProgram says that gh is not installed, so that the step is left out.
var ErrNoProgram = errors.New("gh is not installed (https://cli.github.com)")

// Reachable returns an error that says why the issue of an anchor cannot be read or written. It
// returns nil if that may be tried.
func Reachable(a protocol.Anchor) error {
	if a.URL() == "" {
		return fmt.Errorf("nobody knows in which repository #%d is: name it as owner/repo#%d", a.Number, a.Number)
	}
	if _, err := exec.LookPath("gh"); err != nil {
		return ErrNoProgram
	}
	return nil
}

// Public reports whether everybody may read the issue.
func (g GH) Public(ctx context.Context, a protocol.Anchor) (bool, error) {
	var repository struct{ Private *bool }
	answer, err := g.ask(ctx, nil, repositoryPath(a))
	if err == nil {
		err = read(answer, &repository)
	}
	if err != nil {
		return false, fmt.Errorf("cannot look at %s: %w", a, err)
	}
	return repository.Private != nil && !*repository.Private, nil
}

// Since returns the comments that were written after a time, or the last comments if that time is
// zero. If there are more than it reads, it leaves out the newest ones, so that the next look finds
// them.
func (g GH) Since(ctx context.Context, a protocol.Anchor, after time.Time) (n News, err error) {
	var issue struct{ Comments int }
	answer, err := g.ask(ctx, nil, issuePath(a))
	if err == nil {
		err = read(answer, &issue)
	}
	if err != nil {
		return n, fmt.Errorf("cannot look at %s: %w", a, err)
	}
	n.Total = max(0, issue.Comments)
	first, since := 1, ""
	if after.IsZero() {
		first = max(1, (n.Total+perPage-1)/perPage-maxPages+1)
	} else {
		since = "&since=" + after.UTC().Format(time.RFC3339)
	}
	for page := first; n.Total > 0 && page < first+maxPages; page++ {
		answer, err := g.ask(ctx, nil, fmt.Sprintf("%s/comments?per_page=%d&page=%d%s", issuePath(a), perPage, page, since))
		if err != nil {
			return n, fmt.Errorf("cannot read the comments of %s: %w", a, err)
		}
		comments, full, err := readComments(answer, after)
		if err != nil {
			return n, fmt.Errorf("cannot read the comments of %s: %w", a, err)
		}
		n.Comments = append(n.Comments, comments...)
		if n.More = full; !full {
			break
		}
	}
	slices.SortStableFunc(n.Comments, func(a, b Comment) int { return a.At.Compare(b.At) })
	return n, nil
}

func readComments(answer []byte, after time.Time) (comments []Comment, full bool, err error) {
	var list []struct {
		User    *struct{ Login string }
		Body    string
		Created time.Time `json:"created_at"`
		URL     string    `json:"html_url"`
	}
	if err := read(answer, &list); err != nil {
		return nil, false, err
	}
	for _, c := range list[:min(len(list), perPage)] {
		if !c.Created.After(after) {
			continue // it is older, and was changed later
		}
		body := strings.ToValidUTF8(c.Body, "")
		kept := Comment{Author: "ghost", Body: cut(body, maxComment), At: c.Created.UTC(), URL: c.URL}
		if kept.Cut = len(kept.Body) < len(body); c.User != nil {
			kept.Author = c.User.Login
		}
		comments = append(comments, kept)
	}
	return comments, len(list) >= perPage, nil
}

func read(answer []byte, into any) error {
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("gh did not print what it should: %w", err)
	}
	return nil
}

// mark is a line that says that a comment tells a message. People do not see the line.
func mark(p protocol.Path) string { return "<!-- parley: " + p.String() + " -->" }

// Tells returns the messages that the comment tells, as its first lines say.
func (c Comment) Tells() (paths []protocol.Path) {
	for line := range strings.Lines(c.Body) {
		text, begins := strings.CutPrefix(strings.TrimSpace(line), "<!-- parley: ")
		text, ends := strings.CutSuffix(text, " -->")
		p, err := protocol.ParsePath(text)
		if !begins || !ends || err != nil {
			break // what somebody quotes further down is not told by them
		}
		paths = append(paths, p)
	}
	return paths
}

// Post tells messages in one comment, unless there is already a comment that tells the last of
// them. So nothing is said twice if somebody asks again after a crash, or because gh did not answer
// in time. `stored` is when the oldest of the messages was stored. `again` is true if the comment
// was there already.
func (g GH) Post(ctx context.Context, a protocol.Anchor, text string, stored time.Time, messages ...protocol.Path) (url string, again bool, err error) {
	const skew = 24 * time.Hour // between two clocks
	n, err := g.Since(ctx, a, stored.Add(-skew))
	if err != nil {
		return "", false, err
	}
	for _, c := range n.Comments {
		if slices.Contains(c.Tells(), messages[len(messages)-1]) {
			return c.URL, true, nil
		}
	}
	if n.More {
		return "", false, fmt.Errorf("cannot tell whether it is on %s already: there are more than %d comments since", a, perPage*maxPages)
	}
	var body strings.Builder
	for _, p := range messages {
		body.WriteString(mark(p) + "\n")
	}
	body.WriteString("\n" + cut(text, maxBody-body.Len()))
	input, err := json.Marshal(map[string]string{"body": body.String()})
	if err != nil {
		return "", false, err
	}
	var posted struct {
		URL string `json:"html_url"`
	}
	answer, err := g.ask(ctx, input, issuePath(a)+"/comments")
	if err == nil {
		err = read(answer, &posted)
	}
	if err != nil {
		return "", false, fmt.Errorf("cannot comment on %s: %w", a, err)
	}
	return posted.URL, false, nil
}

// cut is the longest beginning of a text that has at most `most` bytes and splits no character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

func repositoryPath(a protocol.Anchor) string { return "repos/" + a.Owner + "/" + a.Repo }

func issuePath(a protocol.Anchor) string {
	return repositoryPath(a) + "/issues/" + strconv.Itoa(a.Number)
}

// ask has gh ask GitHub for a path, or send `input` there if it is not nil, and returns the answer.
// It names the host, so that no setting of gh leads to another one.
func (g GH) ask(ctx context.Context, input []byte, path string) (answer []byte, err error) {
	args := []string{"gh", "api", "--hostname", "github.com", "-H", "Accept: application/vnd.github+json"}
	if input != nil {
		args = append(args, "--method", "POST", "--input", "-")
	}
	if _, err := exec.LookPath("gh"); err != nil {
		return nil, ErrNoProgram
	}
	patience := cmp.Or(g.Patience, patience)
	r := door.Run(ctx, door.Command{
		Argv: append(args, path), Stdin: input, Timeout: patience, MaxOutput: maxAnswer,
		// Nobody is there whom gh could ask, and a program reads its answer.
		Env: []string{"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GH_PAGER=", "GH_DEBUG=", "GH_FORCE_TTY=", "CLICOLOR_FORCE=", "NO_COLOR=1"},
	})
	switch {
	case r.Failure == door.TimedOut:
		return nil, fmt.Errorf("gh did not answer within %s", patience)
	case r.Failure == door.ExitStatus:
		return nil, failed(r)
	case r.Failure != door.None:
		return nil, fmt.Errorf("gh: %s", r.Problem())
	case r.Truncated:
		return nil, fmt.Errorf("gh printed more than %d bytes", maxAnswer)
	}
	return []byte(r.Output), nil
}

// failed is what gh says went wrong, in one line.
func failed(r door.Result) error {
	said := cut(strings.Join(strings.Fields(r.Stderr), " "), maxProblem)
	switch {
	case r.ExitCode == 4: // the code with which gh says this
		return errors.New("gh is not signed in: gh auth login")
	case strings.Contains(said, "(HTTP 404)"):
		return errors.New("gh finds no such issue, or may not see it")
	case said == "":
		return fmt.Errorf("gh ended with exit code %d", r.ExitCode)
	}
	return errors.New("gh: " + strings.TrimPrefix(said, "gh: "))
}
