// Package carrier carries main between a repository of this node and the one that a
// fleet shares: by the git program where it is installed, else by code of its own. It
// knows commits and refs; what they mean is gitsync's affair.
package carrier

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// The branch that is carried, and what it is called here.
const (
	MainBranch = "main"
	MainRef    = headsPrefix + MainBranch
	RemoteRef  = "refs/remotes/origin/main" // a tip of the remote that was taken in
	FetchedRef = "refs/parley/fetched"      // what the last fetch brought, taken in or not

	headsPrefix = "refs/heads/"
)

const (
	// Patience bounds whatever a carrier does once.
	Patience = 16 * time.Minute
	// Linger is how long git and its helpers may take to end when they are told to,
	// before they are killed. What they have started may keep their output open for
	// as long after they have ended.
	Linger = time.Second
)

// Carrier carries main from and to the shared repository. What it brings is
// durable in the store before a ref names it; it moves no ref of ours but
// FetchedRef. Errors match ErrRemote where the remote cannot be used.
type Carrier interface {
	// Heads are the remote's branches and the commits that they name.
	Heads(ctx context.Context) (map[string]objects.Hash, error)
	// FetchMain brings the remote's main to FetchedRef; ErrNoMain if it has none.
	FetchMain(ctx context.Context) error
	// Push makes commit the remote's main, if that is one of its ancestors;
	// ErrRejected if it is not, or no longer. It succeeds only where the remote has
	// said that main is there. many says that the remote lacks hundreds of files.
	Push(ctx context.Context, commit objects.Hash, many bool) error
	// Claim makes ref of the remote name a commit of ours, if there is no such ref, and
	// returns what it names now, whoever made it. An error says that nobody knows.
	Claim(ctx context.Context, ref string, commit objects.Hash) (holder objects.Hash, err error)
	// Unclaim removes a ref of the remote that names a commit; where it does not, there
	// is nothing to do.
	Unclaim(ctx context.Context, ref string, commit objects.Hash) error
	// FixHead makes the HEAD of a remote on this machine name main, or says how
	// to (R1).
	FixHead(ctx context.Context) (note string, err error)
	// BePatient lets everything take long: the first fetch brings all that there is.
	BePatient()
}

// What can be asked of an error with errors.Is.
var (
	// ErrRemote says that the shared repository could not be reached or used.
	ErrRemote = errors.New("the remote cannot be used")
	// ErrUnfit says that it could be reached, and that no record can be shared
	// through a repository of its kind. Such an error matches ErrRemote too.
	ErrUnfit = errors.New("a repository of this kind cannot be shared")
	// ErrRejected says that somebody else pushed first.
	ErrRejected = errors.New("the remote moved meanwhile")
	// ErrNoMain says that the remote has no branch main.
	ErrNoMain = errors.New("the remote has no branch main")
)

// New carries between a store and a remote. It uses the git program where it is
// installed and builtin does not forbid it, because git knows the user's ssh
// configuration and credentials. Else it uses parley's own code.
func New(store *objects.Store, remote string, builtin bool) Carrier {
	if _, err := exec.LookPath("git"); err == nil && !builtin {
		return newGitProgram(store.Dir(), remote, store)
	}
	return newBuiltin(remote, store)
}

// Output is all that the git program said where an error is a failure of it, else "".
func Output(err error) string {
	if failed := new(gitError); errors.As(err, &failed) {
		return failed.output
	}
	return ""
}
