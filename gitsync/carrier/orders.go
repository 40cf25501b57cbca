package carrier

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects"
)

const (
	mostClaims  = 4096     // that a repository keeps for its hosts
	mostOfClaim = 64 << 10 // bytes that come with one: a commit without files
)

// orders reads the one thing that a push orders in git's protocol: to move main, or to make or remove a
// claim. It returns all that git is to read. An error says why the push is not let in.
func orders(ctx context.Context, dir string, in *bufio.Reader) (io.Reader, error) {
	var read bytes.Buffer
	asked := ""
	for {
		line, err := orderLine(io.TeeReader(in, &read))
		switch {
		case err != nil:
			return nil, err
		case line == "" && IsClaim(asked):
			return io.MultiReader(&read, io.LimitReader(in, mostOfClaim)), nil
		case line == "":
			return io.MultiReader(&read, in), nil
		case asked != "":
			return nil, errors.New("a push may order one thing only")
		}
		line, _, _ = strings.Cut(line, "\x00")
		words := strings.Split(strings.TrimSuffix(line, "\n"), " ")
		if len(words) != 3 || !plumbing.IsHash(words[0]) || !plumbing.IsHash(words[1]) {
			return nil, errors.New("what the push orders cannot be read")
		}
		asked = words[2]
		if asked == MainRef {
			continue
		}
		if !IsClaim(asked) {
			return nil, fmt.Errorf("nothing but main and claims may be pushed, and not %s", OneLine(asked))
		}
		if words[1] == objects.Zero.String() {
			continue // it gives the claim up
		}
		all, err := serving(ctx, dir, "for-each-ref", "--format=x", "--count="+strconv.Itoa(mostClaims), strings.TrimSuffix(ClaimPrefix, "/")).Output()
		if err != nil {
			return nil, fmt.Errorf("git for-each-ref: %w", err)
		}
		if bytes.Count(all, []byte("x")) >= mostClaims {
			return nil, fmt.Errorf("the repository has %d claims, and takes no more", mostClaims)
		}
	}
}

// orderLine reads one line of git's protocol; "" for the one that ends a list.
func orderLine(in io.Reader) (string, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(in, head); err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(string(head), 16, 16)
	if err != nil || n > 0 && n <= 4 || n > maxAsked {
		return "", errors.New("what is ordered is not in git's protocol")
	}
	if n == 0 {
		return "", nil
	}
	line := make([]byte, n-4)
	_, err = io.ReadFull(in, line)
	return string(line), err
}
