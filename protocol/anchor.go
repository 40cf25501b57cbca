package protocol

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// Anchor is an issue on GitHub on which a topic hangs. Owner is empty if it is not known: then the
// issue has no address.
type Anchor struct {
	Owner, Repo string
	Number      int // from 1
}

var (
	anchorPattern    = pattern.New(`^(?:(?:([A-Za-z0-9][A-Za-z0-9-]{0,38})/)?([A-Za-z0-9._-]{1,100}))?#([0-9]{1,9})$`)
	anchorURLPattern = pattern.New(`^https?://github\.com/([A-Za-z0-9][A-Za-z0-9-]{0,38})/([A-Za-z0-9._-]{1,100})/(?:issues|pull)/([0-9]{1,9})(?:[/?#].*)?$`)
)

// ParseAnchor reads "332", "#332", "repo#332", "owner/repo#332" or the address of an issue. Owner
// and repository are taken from `origin` ("owner/repo") if `s` does not name them; `origin` may be
// empty.
func ParseAnchor(s, origin string) (Anchor, error) {
	text := strings.TrimSpace(s)
	if _, err := strconv.ParseUint(text, 10, 32); err == nil {
		text = "#" + text
	}
	m := anchorURLPattern.FindStringSubmatch(text)
	if m == nil {
		m = anchorPattern.FindStringSubmatch(text)
	}
	if m == nil {
		return Anchor{}, fmt.Errorf("%.80q is no issue such as 332, repo#332, owner/repo#332 or its address; in a shell #332 alone is a comment", s)
	}
	a := Anchor{Owner: m[1], Repo: m[2]}
	a.Number, _ = strconv.Atoi(m[3])
	if a.Number == 0 {
		return Anchor{}, fmt.Errorf("%.80q is no issue: they are counted from 1", s)
	}
	if strings.Trim(a.Repo, ".") == "" && a.Repo != "" {
		return Anchor{}, fmt.Errorf("%.80q is no issue: %q is no repository", s, a.Repo)
	}
	owner, repo, _ := strings.Cut(origin, "/")
	if a.Repo == "" {
		a.Owner, a.Repo = owner, repo
	} else if a.Owner == "" {
		a.Owner = owner
	}
	return a, nil
}

// String is the form that is shown and that ParseAnchor reads: "repo#332", or "owner/repo#332" if
// the owner is known.
func (a Anchor) String() string {
	name := a.Repo
	if a.Owner != "" && a.Repo != "" {
		name = a.Owner + "/" + a.Repo
	}
	return name + "#" + strconv.Itoa(a.Number)
}

// URL is the address of the issue; empty where its repository is not known.
func (a Anchor) URL() string {
	if a.Owner == "" || a.Repo == "" {
		return ""
	}
	return fmt.Sprintf("https://github.com/%s/%s/issues/%d", a.Owner, a.Repo, a.Number)
}
