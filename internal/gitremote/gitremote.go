// Package gitremote knows what can name the git repository that a fleet shares: a path on this
// machine, a URL, or [user@]host:path. It reads names, and connects to nothing.
package gitremote

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/internal/redact"
)

// helper matches the beginning of a name that makes git run a program which the name chooses.
var helper = pattern.New(`^[A-Za-z0-9][A-Za-z0-9+.-]*::`)

// Check returns an error if a name cannot be that of a shared repository. That is the case if git
// would take the name for an option or for a program to run, or if it is a path whose meaning
// depends on where the node is started. The empty name stands for no repository, and is accepted.
func Check(remote string) error {
	shown := redact.Remote(remote)
	switch {
	case remote == "":
		return nil
	case !utf8.ValidString(remote), strings.ContainsFunc(remote, unicode.IsControl), strings.TrimSpace(remote) != remote:
		return fmt.Errorf("%q contains control characters or surrounding space", shown)
	case strings.HasPrefix(remote, "-"):
		return fmt.Errorf("%q begins with a dash, which git takes for an option", shown)
	case helper.MatchString(remote):
		return fmt.Errorf("%q has git run a program, git-remote-%s: give a URL or a path", shown, remote[:strings.Index(remote, "::")])
	case strings.HasPrefix(remote, "parley://"):
		if _, record, ok := Host(remote); !ok || record { // nobody can push into another host's own record
			return fmt.Errorf("%q names no host of the fleet: write parley://HOST", shown)
		}
	case IsPath(remote) && !filepath.IsAbs(remote) && !strings.HasPrefix(remote, "/"):
		return fmt.Errorf("%q is neither a git URL nor an absolute path", shown)
	}
	if _, login := Split(remote); login != nil && strings.ContainsFunc(login.User+login.Password, unicode.IsControl) {
		return errors.New("the name or password in the URL contains control characters")
	}
	return nil
}

// hostName is the form of a remote that is a host of the fleet.
var hostName = pattern.New(`^parley://([a-z0-9][a-z0-9_-]{0,63})(/record)?$`)

// Host is the host of the fleet that a remote names as parley://HOST: the repository that this host
// keeps for the fleet or, with /record behind it, its own record.
func Host(remote string) (host string, record, ok bool) {
	m := hostName.Regexp().FindStringSubmatch(remote)
	if m == nil {
		return "", false, false
	}
	return m[1], m[2] != "", true
}

// OfHost is the remote that names a host's own record.
func OfHost(host string) string { return "parley://" + host + "/record" }

// IsPath tells a path from a URL and from host:path, as git does.
func IsPath(remote string) bool {
	if strings.Contains(remote, "://") {
		return false
	}
	if filepath.VolumeName(remote) != "" {
		return true
	}
	colon := strings.IndexByte(remote, ':')
	slash := strings.IndexByte(remote, '/')
	return colon < 0 || slash >= 0 && slash < colon
}

// Folder is the path of a remote that is on this machine; else "".
func Folder(remote string) string {
	if path, ok := strings.CutPrefix(remote, "file://"); ok {
		return path
	}
	if remote != "" && IsPath(remote) {
		return remote
	}
	return ""
}

// AsksNobody are the environment variables with which git, ssh and helpers that keep passwords ask
// no question: neither on a terminal nor by a program that opens a window. An empty name of such a
// program hides the one that git's configuration names.
func AsksNobody() []string {
	return []string{"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GCM_INTERACTIVE=never"}
}

// Login is the name and password that a URL holds.
type Login struct {
	User, Password string
	// At is the beginning of the URL to which they belong: https://host:port.
	At string
}

// Split takes the password out of a remote, because the address may appear in the list of processes
// and in files that others read. `login` is nil if there is no password, or if none is asked for,
// as with ssh. If only a program of the user knows how to speak to git in the way that the URL
// names, the address is the whole remote.
func Split(remote string) (address string, login *Login) {
	scheme, rest, ok := strings.Cut(remote, "://")
	if !ok {
		return remote, nil
	}
	authority := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority = rest[:end]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return remote, nil
	}
	user, password, has := strings.Cut(authority[:at], ":")
	host, path := authority[at+1:], rest[len(authority):]
	switch {
	case !has:
		return remote, nil
	case slices.Contains([]string{"http", "https", "ftp", "ftps"}, strings.ToLower(scheme)):
		return scheme + "://" + host + path, &Login{decoded(user), decoded(password), scheme + "://" + host}
	case slices.Contains([]string{"ssh", "git+ssh", "ssh+git", "git"}, strings.ToLower(scheme)):
		return scheme + "://" + user + "@" + host + path, nil
	}
	return remote, nil
}

// decoded is a part of a URL without its escapes.
func decoded(part string) string {
	if plain, err := url.PathUnescape(part); err == nil {
		return plain
	}
	return part
}

// HasPassword reports whether a URL holds a password.
func HasPassword(remote string) bool {
	address, login := Split(remote)
	return login != nil || address != remote
}

// HasQuery reports whether a URL has a query, in which a token may stand.
func HasQuery(remote string) bool {
	return strings.Contains(remote, "://") && strings.Contains(remote, "?")
}
