// Package issues reads and writes comments of issues on GitHub, on which topics hang. It
// does that by the program gh, where it is installed and signed in: parley has no access of
// its own (R34). What it reads is what strangers wrote, and bounded.
package issues

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Comment is a comment on an issue.
type Comment struct {
	Author string
	Body   string
	At     time.Time // UTC
	URL    string
}

// What one look takes and brings, at most.
const (
	patience    = 30 * time.Second
	maxAnswer   = 16 << 20 // bytes that gh prints
	maxComments = 5000
	maxComment  = 64 << 10 // bytes of one; GitHub's own limit is 65,536 characters
	maxProblem  = 300      // bytes of what gh says went wrong
)

// GH is the program by which issues are reached.
type GH struct {
	// Environ is what it gets; nil: that of this process.
	Environ []string
}

// ErrNoProgram says that there is no gh here, so that the step is left out.
var ErrNoProgram = errors.New("the program gh is not installed")

// Comments are all comments of the issue, the oldest first.
func (g GH) Comments(ctx context.Context, a protocol.Anchor) ([]Comment, error) {
	out, err := g.run(ctx, nil, "issue", "view", strconv.Itoa(a.Number), "--repo", repository(a), "--json", "comments")
	if err != nil {
		return nil, fmt.Errorf("cannot read the comments of %s: %w", a, err)
	}
	var said struct {
		Comments []struct {
			Author    struct{ Login string }
			Body, URL string
			CreatedAt time.Time
		}
	}
	if err := json.Unmarshal(out, &said); err != nil {
		return nil, fmt.Errorf("cannot read the comments of %s: gh did not print what it should: %w", a, err)
	}
	if len(said.Comments) > maxComments {
		return nil, fmt.Errorf("cannot read the comments of %s: it has more than %d", a, maxComments)
	}
	all := make([]Comment, len(said.Comments))
	for i, c := range said.Comments {
		all[i] = Comment{Author: c.Author.Login, Body: strings.ToValidUTF8(c.Body[:min(len(c.Body), maxComment)], ""), At: c.CreatedAt.UTC(), URL: c.URL}
	}
	slices.SortStableFunc(all, func(a, b Comment) int { return a.At.Compare(b.At) })
	return all, nil
}

// Say adds a comment to the issue.
func (g GH) Say(ctx context.Context, a protocol.Anchor, body string) error {
	if _, err := g.run(ctx, []byte(body), "issue", "comment", strconv.Itoa(a.Number), "--repo", repository(a), "--body-file", "-"); err != nil {
		return fmt.Errorf("cannot comment on %s: %w", a, err)
	}
	return nil
}

// Reachable is why nothing can be read or written there, nil where it may be tried.
func (g GH) Reachable(a protocol.Anchor) error {
	if a.URL() == "" {
		return fmt.Errorf("nobody knows in which repository %s is: name it as owner/repo#%d", a, a.Number)
	}
	if _, err := exec.LookPath("gh"); err != nil {
		return ErrNoProgram
	}
	return nil
}

// repository is named with its address, so that a setting of gh for another one says nothing.
func repository(a protocol.Anchor) string { return "github.com/" + a.Owner + "/" + a.Repo }

// run has gh do something. It never asks anybody: there is nobody at its terminal.
func (g GH) run(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	cmd := exec.CommandContext(ctx, "gh", args...)
	cmd.WaitDelay = time.Second
	cmd.Env = append(slices.Clone(g.environ()), "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_COLOR=1", "GH_PAGER=")
	cmd.Stdin = bytes.NewReader(input)
	out, problem := &bounded{most: maxAnswer}, &bounded{most: maxProblem}
	cmd.Stdout, cmd.Stderr = out, problem
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNoProgram
	case ctx.Err() != nil:
		return nil, fmt.Errorf("gh did not answer within %s", patience)
	case err != nil:
		if said := strings.TrimSpace(strings.ToValidUTF8(problem.kept.String(), "")); said != "" {
			return nil, fmt.Errorf("gh: %s", strings.Join(strings.Fields(said), " "))
		}
		return nil, fmt.Errorf("gh: %w", err)
	case out.cut:
		return nil, fmt.Errorf("gh printed more than %d bytes", maxAnswer)
	}
	return out.kept.Bytes(), nil
}

func (g GH) environ() []string {
	if g.Environ != nil {
		return g.Environ
	}
	return os.Environ()
}

// bounded keeps the beginning of what is written to it, and notes that there was more.
type bounded struct {
	kept bytes.Buffer
	most int
	cut  bool
}

func (b *bounded) Write(p []byte) (int, error) {
	take := min(len(p), b.most-b.kept.Len())
	b.kept.Write(p[:take])
	b.cut = b.cut || take < len(p)
	return len(p), nil
}
