package objects

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Identity is a name and address as commits have them.
type Identity struct {
	Name, Email string
}

// Commit is what this program needs to know of a commit.
type Commit struct {
	Tree      Hash
	Parents   []Hash
	Author    Identity
	Committer Identity
	When      time.Time // of the committer
	Message   string
}

// PutEmpty makes a commit without files durable, in a file of its own, and returns its name. Both
// identities are cleaned.
func (s *Store) PutEmpty(c Commit) (Hash, error) {
	c.Tree = emptyTree
	data := encodeCommit(c)
	if !s.Has(emptyTree) {
		if err := s.PutLoose(plumbing.TreeObject, nil); err != nil {
			return Zero, err
		}
	}
	return hashOf(plumbing.CommitObject, data), s.PutLoose(plumbing.CommitObject, data)
}

// CommitAt reads a commit.
func (s *Store) CommitAt(h Hash) (Commit, error) {
	data, err := s.typed(h, plumbing.CommitObject)
	if err != nil {
		return Commit{}, err
	}
	c, err := decodeCommit(data)
	if err != nil {
		return Commit{}, fmt.Errorf("cannot read commit %s: %w", h, err)
	}
	return c, nil
}

// TreeOf returns the tree of a commit. For Zero it returns Zero, the empty tree.
func (s *Store) TreeOf(commit Hash) (Hash, error) {
	if commit == Zero {
		return Zero, nil
	}
	c, err := s.CommitAt(commit)
	return c.Tree, err
}

// decodeCommit reads a commit. Like git, it takes one that ends with its header.
func decodeCommit(data []byte) (Commit, error) {
	var c Commit
	for len(data) > 0 {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return c, fmt.Errorf("its header is cut short")
		}
		data = rest
		if len(line) == 0 {
			break
		}
		key, value, _ := strings.Cut(string(line), " ")
		switch key {
		case "tree":
			c.Tree = plumbing.NewHash(value)
		case "parent":
			c.Parents = append(c.Parents, plumbing.NewHash(value))
		case "author":
			c.Author, _ = decodeIdentity(value)
		case "committer":
			c.Committer, c.When = decodeIdentity(value)
		}
	}
	if c.Tree == Zero {
		return c, fmt.Errorf("it names no tree")
	}
	c.Message = string(data)
	return c, nil
}

func decodeIdentity(s string) (Identity, time.Time) {
	name, rest, _ := strings.Cut(s, "<")
	email, rest, _ := strings.Cut(rest, ">")
	fields := strings.Fields(rest)
	var when time.Time
	if len(fields) > 0 {
		if seconds, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			when = time.Unix(seconds, 0).UTC()
		}
	}
	return Identity{Name: strings.TrimSpace(name), Email: email}, when
}

// Clean returns the identity without what git could not store in a commit.
func (i Identity) Clean() Identity {
	clean := func(s string) string {
		return strings.TrimSpace(strings.Map(func(r rune) rune {
			if r == '<' || r == '>' || r < ' ' || r == 0x7f {
				return -1
			}
			return r
		}, s))
	}
	return Identity{Name: clean(i.Name), Email: clean(i.Email)}
}

func encodeCommit(c Commit) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "tree %s\n", c.Tree)
	for _, p := range c.Parents {
		fmt.Fprintf(&out, "parent %s\n", p)
	}
	for _, line := range []struct {
		key string
		who Identity
	}{{"author", c.Author.Clean()}, {"committer", c.Committer.Clean()}} {
		fmt.Fprintf(&out, "%s %s <%s> %d +0000\n", line.key, line.who.Name, line.who.Email, c.When.Unix())
	}
	message := strings.TrimRight(strings.ReplaceAll(c.Message, "\x00", ""), "\n")
	fmt.Fprintf(&out, "\n%s\n", message)
	return out.Bytes()
}
