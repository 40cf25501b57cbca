// Package redact takes out of addresses, and of what programs print, what must not be shown. Status,
// logs and errors name a system, and never how one gets into it.
package redact

import (
	"net/url"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// Mark stands in place of what is not shown.
const Mark = "…"

// URLs returns a list of addresses, separated by commas, without the user, password or token in
// them: even the user of a NATS URL may be a token. If an address cannot be read, everything up to
// the last @ may be a secret.
func URLs(list string) string {
	if list == "" {
		return ""
	}
	var shown []string
	for address := range strings.SplitSeq(list, ",") {
		shown = append(shown, one(strings.TrimSpace(address)))
	}
	return strings.Join(shown, ", ")
}

func one(address string) string {
	address = withoutQuery(address)
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	if u, err := url.Parse(address); err == nil && u.User == nil && u.Host != "" {
		return address // the @ is in its path
	}
	scheme, _, ok := strings.Cut(address, "://")
	if !ok || strings.ContainsAny(scheme, "@:/") {
		return Mark + address[at:]
	}
	return scheme + "://" + Mark + address[at:]
}

// withoutQuery is a URL whose query and fragment are replaced by Mark.
func withoutQuery(address string) string {
	if !strings.Contains(address, "://") {
		return address
	}
	if i := strings.IndexAny(address, "?#"); i >= 0 && i+1 < len(address) {
		return address[:i+1] + Mark
	}
	return address
}

// Remote returns the name of a git repository without what lets somebody in: passwords, what
// follows a "?", and user names. User names of ssh stay: they are no tokens, and they say where the
// connection goes.
func Remote(remote string) string {
	scheme, rest, isURL := strings.Cut(remote, "://")
	if !isURL {
		return shortForm(remote)
	}
	at := strings.LastIndexByte(rest[:authorityEnd(rest)], '@')
	isName := slices.Contains([]string{"ssh", "git+ssh", "ssh+git"}, strings.ToLower(scheme))
	if at >= 0 && isName && !strings.Contains(rest[:at], ":") {
		return withoutQuery(remote)
	}
	return one(remote)
}

// authorityEnd is the index at which the host ends in what follows "://".
func authorityEnd(rest string) int {
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return i
	}
	return len(rest)
}

// shortForm is a path, or [user@]host:path. If somebody has written a password into it, as in a
// URL, shortForm takes that out.
func shortForm(remote string) string {
	end := len(remote)
	if i := strings.IndexAny(remote, `/\`); i >= 0 {
		end = i
	}
	if at := strings.LastIndexByte(remote[:end], '@'); at >= 0 && strings.Contains(remote[:at], ":") {
		return Mark + remote[at:]
	}
	return remote
}

// leastSecret is from which length on a part of an address is searched for in a text by itself:
// shorter parts occur in words.
const leastSecret = 6

// In returns a text that may quote a remote, or parts of it, without anything that Remote would not
// show.
func In(text, remote string) string {
	shown := Remote(remote)
	if shown == remote {
		return text
	}
	text = strings.ReplaceAll(text, remote, shown)
	_, rest, isURL := strings.Cut(remote, "://")
	if !isURL {
		rest = remote
	}
	authority := rest[:authorityEnd(rest)]
	_, query, _ := strings.Cut(rest, "?")
	login := authority[:max(0, strings.LastIndexByte(authority, '@'))]
	if login != "" {
		text = strings.ReplaceAll(text, login+"@", Mark+"@")
	}
	if query != "" {
		text = strings.ReplaceAll(text, "?"+query, "?"+Mark)
	}
	_, password, _ := strings.Cut(login, ":")
	secrets := []string{password}
	for pair := range strings.FieldsFuncSeq(query, func(r rune) bool { return strings.ContainsRune("&;#", r) }) {
		secrets = append(secrets, pair[strings.IndexByte(pair, '=')+1:])
	}
	for _, secret := range secrets {
		plain, err := url.PathUnescape(secret)
		if err != nil {
			plain = secret
		}
		for _, form := range []string{secret, plain} {
			if len(form) >= leastSecret {
				text = strings.ReplaceAll(text, form, Mark)
			}
		}
	}
	return text
}

// own matches the secrets that parley makes: tokens of runs and agents, whole or cut off (their JSON
// begins in the same way in base64), and seeds of keys.
var own = pattern.New(`eyJhIjoi[A-Za-z0-9_-]{16,}(\.[A-Za-z0-9_-]*)?|\bS[ACNOPUX][A-Z2-7]{56}\b`)

// Own returns a text without parley's own secrets.
func Own(text string) string { return own.Regexp().ReplaceAllLiteralString(text, Mark) }

// password matches the user and password in a URL.
var password = pattern.New(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s:@]*:[^/\s@]+@`)

// Said returns what a program that failed has said, without parley's own secrets and without
// passwords in URLs. In an answer, such a URL may be an example.
func Said(text string) string {
	return password.Regexp().ReplaceAllString(Own(text), "${1}"+Mark+"@")
}

var (
	// keyBlock is a private key in PEM, and its like; it may be cut off, or be in one line of JSON.
	keyBlock = pattern.New(`(?s)-----BEGIN [A-Z0-9 ]*(PRIVATE KEY|SEED|JWT)[A-Z0-9 ]*-----.*?(-----END [A-Z0-9 ]*-----|\z)`)
	// named is a value behind a word that says that it is a secret, in YAML, JSON and headers; option is
	// one on a command line.
	named  = pattern.New(`(?im)([A-Za-z0-9_-]*(?:password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|authorization|cookie)[A-Za-z0-9_-]*["']?\s*[:=]\s*["']?)((?:bearer|basic)\s+)?[^\s"',}\]]+`)
	option = pattern.New(`(?i)(--?[a-z-]*(?:password|secret|token|key)[a-z-]*\s+["']?|\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{6,}`)
	// set is an environment variable with its value, as agents' settings have it.
	set = pattern.New(`\b([A-Z][A-Z0-9_]{2,}=)("[^"\n]*"|'[^'\n]*'|[^\s"',\]]+)`)
	// known are tokens of well-known services.
	known = pattern.New(`\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|sk-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,}|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{30,}|AGE-SECRET-KEY-1[A-Z0-9]+|ey[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_.-]{16,})`)
	// inURL is all that stands before the host of a URL, and its query.
	inURL = pattern.New(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s@"']+@|(://[^\s"'?#]+\?)[^\s"']+`)
)

// Everything returns a text that is to be given away, such as a log or settings, without all that may
// let somebody in: it rather takes out too much.
func Everything(text string) string {
	text = keyBlock.Regexp().ReplaceAllLiteralString(Own(text), Mark)
	text = known.Regexp().ReplaceAllLiteralString(text, Mark)
	text = inURL.Regexp().ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasSuffix(found, "@") {
			return found[:strings.Index(found, "://")+3] + Mark + "@"
		}
		return found[:strings.Index(found, "?")+1] + Mark
	})
	text = set.Regexp().ReplaceAllString(text, "${1}"+Mark)
	text = named.Regexp().ReplaceAllString(text, "${1}"+Mark)
	return option.Regexp().ReplaceAllString(text, "${1}"+Mark)
}
