// Package carrier carries main between a repository of this node and the repository that a fleet
// shares. It uses the git program if that is installed, else code of its own. It knows commits and
// refs; what they mean is the business of gitsync.
package carrier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/gitremote"
)

// The branch that is carried, and its names in our repository.
const (
	MainBranch = "main"
	MainRef    = headsPrefix + MainBranch
	RemoteRef  = "refs/remotes/origin/main" // a tip of the remote whose content is in main
	FetchedRef = "refs/parley/fetched"      // what the last fetch brought, taken in or not

	headsPrefix = "refs/heads/"
)

const (
	// Patience bounds everything that a carrier does once.
	Patience = 16 * time.Minute
	// Linger is how long git and its helpers may take to end when they are told to. After that they
	// are killed. A program that git has started may keep git's output open for as long, after git
	// has ended.
	Linger = time.Second
)

// Carrier carries main from and to the shared repository. Whatever it brings is durable in the
// store before a ref names it. Of our refs, it moves only FetchedRef. An error matches ErrRemote if
// the remote cannot be used.
type Carrier interface {
	// Heads are the remote's branches and the commits that they name.
	Heads(ctx context.Context) (map[string]objects.Hash, error)
	// FetchMain brings the remote's main to FetchedRef. The error is ErrNoMain if the remote has no
	// main.
	FetchMain(ctx context.Context) error
	// Head is the ref that the remote's HEAD names, "" if it names none or nobody knows.
	Head(ctx context.Context) (ref string, err error)
	// Push makes `commit` the remote's main, if the present main is one of its ancestors. The error
	// is ErrRejected if it is not, or no longer, and if there is no main although the remote had
	// main at `onto`, an ancestor of `commit` or Zero. Push succeeds only if the remote has said
	// that main is there. `many` says that the remote lacks hundreds of files.
	Push(ctx context.Context, commit, onto objects.Hash, many bool) error
	// Claim makes `ref` of the remote name a commit of ours, if there is no such ref. It returns
	// what the ref names now, whoever made it. An error means that nobody knows.
	Claim(ctx context.Context, ref string, commit objects.Hash) (holder objects.Hash, err error)
	// Unclaim removes a ref of the remote if it names `commit`. Otherwise there is nothing to do.
	Unclaim(ctx context.Context, ref string, commit objects.Hash) error
	// FixHead makes the HEAD of a bare remote on this machine name main. `note` says that this was
	// done. If the HEAD of a remote elsewhere does not name main, `note` says how to do it (R1).
	FixHead(ctx context.Context) (note string, err error)
	// MayAsk lets Heads ask for a password, in a bounded time. Without it nobody is ever asked.
	MayAsk()
	// Unbound lets FetchMain take as much memory as it needs.
	Unbound()
	// BePatient lets everything take long, because the first fetch brings everything.
	BePatient()
}

// Errors to ask for with errors.Is.
var (
	// ErrRemote says that the shared repository could not be reached or used.
	ErrRemote = errors.New("the remote cannot be used")
	// ErrUnfit says that the repository could be reached, and that no record can be shared through
	// a repository of its kind. Such an error matches ErrRemote too.
	ErrUnfit = errors.New("a repository of this kind cannot be shared")
	// ErrRejected says that somebody else pushed first.
	ErrRejected = errors.New("the remote moved meanwhile")
	// ErrNoMain says that the remote has no branch main.
	ErrNoMain = errors.New("the remote has no branch main")
)

// New makes a carrier between a store and a remote, which may be another host (gitremote.Host) that
// `dial` reaches. It uses the git program if that is installed and `builtin` is false, because git
// knows the user's ssh configuration and credentials. Otherwise it uses parley's own code.
func New(dial Dial, store *objects.Store, remote string, builtin bool) Carrier {
	var link *linked
	if host, record, ok := gitremote.Host(remote); ok {
		link = &linked{host: host, record: record, dial: dial}
		if dial == nil {
			link.dial = func(context.Context, string, Request) (io.ReadWriteCloser, error) { return nil, errNoDial }
		}
	}
	if _, err := exec.LookPath("git"); err == nil && !builtin {
		g := newGitProgram(store.Dir(), remote, store)
		g.link = link
		g.pieces.Store(true)
		return g
	}
	b := newBuiltin(remote, store)
	b.link = link
	return b
}

// Output is everything that the git program said, if an error is a failure of the git program.
// Otherwise it is "".
func Output(err error) string {
	if failed := new(gitError); errors.As(err, &failed) {
		return failed.output
	}
	return ""
}

// Clean checks the name of the shared repository. It makes a path absolute.
func Clean(remote string) (string, error) {
	if remote != "" && gitremote.IsPath(remote) && remote[0] != '-' {
		path, err := filepath.Abs(remote)
		if err != nil {
			return "", fmt.Errorf("cannot find the shared repository: %w", err)
		}
		remote = path
	}
	if err := gitremote.Check(remote); err != nil {
		return "", fmt.Errorf("the shared repository: %w", err)
	}
	return remote, nil
}

// Noted is a remote in the form in which the record notes it: without passwords and the like,
// because the repository may be copied and read.
func Noted(remote string) string {
	address, _ := gitremote.Split(remote)
	if gitremote.HasQuery(address) {
		address, _, _ = strings.Cut(address, "?")
	}
	return address
}
