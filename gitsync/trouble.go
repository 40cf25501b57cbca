package gitsync

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"
)

// Kind says why the remote cannot be used, in a word for programs.
type Kind string

// The kinds of trouble with a remote.
const (
	KindNone           Kind = ""
	KindUnreachable    Kind = "unreachable"    // no network, no such host, no answer, the server fails
	KindAuthentication Kind = "authentication" // the remote does not know who we are
	KindPermission     Kind = "permission"     // it knows who we are, and does not let us
	KindUntrusted      Kind = "untrusted"      // it does not prove who it is
	KindNotFound       Kind = "not-found"      // there is no repository
	KindHook           Kind = "hook"           // a hook refused
	KindContent        Kind = "content"        // it refuses what a message or file says, such as a password
	KindProtected      Kind = "protected"      // main may not be pushed to
	KindWorkTree       Kind = "work-tree"      // it has a work tree, or main checked out
	KindFull           Kind = "full"           // the remote has no room
	KindTooLarge       Kind = "too-large"      // it takes no push of that size
	KindThrottled      Kind = "throttled"      // it asks for fewer requests
	KindForeign        Kind = "foreign"        // it holds another record
	KindRenamed        Kind = "renamed"        // its main has another name now
	KindUnusable       Kind = "unusable"       // a file of its main says that no host of this fleet may use it
	KindHuge           Kind = "huge"           // it holds more than anybody has written
	KindUnfit          Kind = "unfit"          // no record can be shared through a repository of its kind
	KindObject         Kind = "object"         // git refuses an object for its form
	KindSettings       Kind = "settings"       // a setting of git on this machine stands in the way
	KindShortage       Kind = "shortage"       // git gets too little memory, processes or files here
	KindNeedsGit       Kind = "needs-git"      // only the git program can do it
	KindDisk           Kind = "disk"           // this machine has no room
	KindReadOnly       Kind = "read-only"      // a disk is mounted read-only, here or at the remote
	KindOther          Kind = "other"
)

// IsUnsure reports whether a push that failed for such a reason may have succeeded all the same, or
// succeed later: the answer was lost, or says nothing that is known.
func (k Kind) IsUnsure() bool { return k == KindUnreachable || k == KindThrottled || k == KindOther }

// Trouble is why the remote cannot be used.
type Trouble struct {
	Kind    Kind      // KindNone: the remote can be used
	Text    string    // one line for people, with all that git and the remote said
	Advice  string    // what to do about it, or "" if there is nothing to do but wait
	Pushing bool      // only pushing fails: what others write is still fetched
	Since   time.Time // since when it is of this kind
	Next    time.Time // when it is tried again; zero if that is not known yet
}

// advices are what to do about troubles of a kind, if what was said has no better advice.
var advices = map[Kind]string{
	KindAuthentication: "check the key or password with: git ls-remote URL",
	KindPermission:     "give this host's account the right to push to it",
	KindUntrusted:      "connect once by hand and check who answers: git ls-remote URL",
	KindNotFound:       "check remote in config.yaml, and that the repository is there",
	KindHook:           "ask who runs the remote, or mend its hook",
	KindContent:        "take it out of what is pushed with parley record withhold PATH, or have the remote let it in",
	KindProtected:      "allow this host's account to push to main there",
	KindWorkTree:       "share a bare repository: git clone --bare",
	KindFull:           "make room on the remote",
	KindTooLarge:       "have the remote take larger pushes",
	KindForeign:        "check remote in config.yaml: it must hold this fleet's record",
	KindRenamed:        "name it main again there: git branch -m BRANCH main, or in the settings of the hosting service",
	KindUnusable:       "undo that commit: git clone URL mend && cd mend && git revert COMMIT && git push",
	KindHuge: "look at it with git --git-dir=RECORD log -1 COMMIT; then set main of the remote back to the commit before, " +
		"or let it in with parley record admit COMMIT",
	KindUnfit:    "mend it there, or name another with parley fleet remote set",
	KindObject:   "set main of the remote back to the commit before it, or have git let it in (fetch.fsck and receive.fsck in git help config)",
	KindSettings: "find that setting with: git config --show-origin --list",
	KindShortage: "give this machine more memory, or end what else takes it",
	KindNeedsGit: "install the git program",
	KindDisk:     "make room on this machine",
	KindReadOnly: "mount the disk for writing again, that of the home or that of the remote; dmesg there says why it is read-only",
}

// signs are what the git program, ssh, hosting services and our own carrier say when something
// fails, in lower case. The first one that fits gives the kind. So exact signs stand before those
// that are said about many things.
var signs = []struct {
	kind   Kind
	said   []string
	advice string // "": that of the kind
}{
	{KindThrottled, []string{
		"error: 429", "status code: 429", "too many requests", "rate limit", "requested too many times",
		"too many concurrent", "too many connections", "abuse detection", "throttled",
	}, ""},
	{KindNeedsGit, []string{"only the git program"}, ""},
	{KindNeedsGit, []string{"unable to find remote helper", "is not a git command"}, "install all of git, with its helper for this kind of URL"},
	{KindWorkTree, []string{"branch is currently checked out", "has a work tree"}, ""},
	{KindShortage, []string{
		"out of memory", "cannot allocate memory", "mmap failed", "resource temporarily unavailable", "too many open files", "unable to create thread",
	}, ""},
	{KindSettings, []string{"does not support push options"}, "send none, here alone: git --git-dir=RECORD config push.pushOption ''"},
	{KindSettings, []string{"cannot run ssh:"}, "install the program ssh"},
	{KindSettings, []string{
		"transport '", "uses plaintext credentials",
		"bad config", "bad boolean config", "bad numeric config", "unknown value for config", "invalid value for", "missing value for",
		"does not support --signed", "cannot run ", "unable to fork", "refusing to work with credential missing",
	}, ""},
	{KindContent, []string{
		"push protection", "cannot contain secrets", "secret-scanning", "secrets detected", "contains secrets", "more secrets", "leaks found", "prohibited patterns",
		"gh001", "file size limit", "gh008", "lfs object",
	}, ""},
	{KindTooLarge, []string{"error: 413", "status code: 413", "entity too large", "pack exceeds maximum", "push is too large", "exceeds the maximum allowed size"}, ""},
	{KindObject, []string{"fsck error", "invalid author/committer line", "badtimezone", "missingspacebeforedate", "missing email", "bad time zone", "zeropaddedfilemode", "hasdotgit"}, ""},
	{KindProtected, []string{
		"protected branch", "gh006", "gh013", "repository rule violations", "only modified through pull requests",
		"tf402455", "prohibited by gerrit", "hidden ref", "denying non-fast-forward", "deletion prohibited",
	}, ""},
	{KindFull, []string{
		"size limit", "exceeded its", "over its data quota", "exceed the quota", "exceeds the quota", "repository is over",
	}, ""},
	{KindHook, []string{"hook declined"}, ""},
	{KindUntrusted, []string{
		"another machine answers at this address", "host key verification failed", "knownhosts:", "known_hosts", "certificate", "x509:", "remote host identification has changed",
	}, ""},
	{KindAuthentication, []string{
		"permission denied (", "could not read username", "could not read password", "authentication failed", "authentication required",
		"invalid username or", "unable to authenticate", "too many authentication failures", "there is no key to show",
		"error: 401", "http basic: access denied", "no more authentication methods", "http code 407",
	}, ""},
	{KindNotFound, []string{
		"repository not found", "does not appear to be a git repository", "project you were looking for could not be found",
		"' not found", "error: 404", "no such file or directory",
	}, ""},
	{KindPermission, []string{"dubious ownership"}, "let git use a repository of another account: git config --global --add safe.directory URL"},
	{KindPermission, []string{
		"permission to ", "permission denied", "access denied", "error: 403", "authorization failed", "write access", "read only", "read-only",
		"not allowed to", "does not accept this host's key", "nobody may push into", "insufficient permission", "forbidden",
	}, ""},
	{KindUnreachable, []string{
		"could not resolve", "no such host", "name resolution", "connection refused", "couldn't connect", "failed to connect",
		"no route to host", "network is unreachable", "timed out", "timeout", "no answer within", "connection reset", "connection closed",
		"hung up", "early eof", "unexpected disconnect", "broken pipe", "empty reply", "unable to access", "unable to connect", "rpc failed",
		"error: 5", "status code: 5", "eof",
	}, ""},
	{KindPermission, []string{"access rights"}, ""}, // git says this whatever ended ssh
}

// noSpace is what is said about a full disk, ours or the remote's.
var noSpace = []string{"no space left", "disk quota exceeded", "disk is full", "not enough space"}

// kindOfText says of which kind a trouble is, and what to do, by the text of the error and all that
// git said.
func kindOfText(text, said string, pushing bool) (Kind, string) {
	here := strings.ToLower(carrier.SaidHere(cmp.Or(said, text))) // the text has the remote's words without their mark
	text = strings.ToLower(text + "\n" + said)
	if containsAny(text, noSpace) {
		if pushing {
			return KindFull, advices[KindFull]
		}
		return KindDisk, advices[KindDisk]
	}
	if strings.Contains(text, "read-only file system") {
		return KindReadOnly, advices[KindReadOnly]
	}
	for _, s := range signs {
		by := text
		if s.kind == KindShortage || s.kind == KindSettings { // these are about this machine
			by = here
		}
		if containsAny(by, s.said) {
			return s.kind, cmp.Or(s.advice, advices[s.kind])
		}
	}
	return KindOther, ""
}

func containsAny(text string, signs []string) bool {
	return slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) })
}

const (
	remoteWait    = 30 * time.Second // longest pause while the remote cannot be used
	personWait    = 2 * time.Minute  // the same, if only a person can mend it
	throttledWait = time.Minute      // first pause if the remote asks for fewer requests
	throttledLast = 15 * time.Minute
)

// pauseAfter is how long to wait after that many failures in a row.
func pauseAfter(kind Kind, failures int) time.Duration {
	switch kind {
	case KindThrottled:
		return min(throttledLast, throttledWait<<min(failures-1, 10))
	case KindUnreachable, KindNotFound, KindOther:
		return backoff(failures, remoteWait)
	}
	return backoff(failures, personWait)
}
