// Package redact takes out of addresses what must not be shown: in status, logs
// and errors a system is named, and never how one gets in.
package redact

import (
	"net/url"
	"strings"
)

// URLs is a list of addresses, separated by commas, without the user, password
// or token that stands in them: of a NATS URL even the user may be a token. Of
// one that cannot be read everything up to the last @ may be a secret.
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
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address
	}
	if u, err := url.Parse(address); err == nil && u.User == nil && u.Host != "" {
		return address // the @ stands in its path
	}
	scheme, _, ok := strings.Cut(address, "://")
	if !ok || strings.ContainsAny(scheme, "@:/") {
		return "…@" + address[at+1:]
	}
	return scheme + "://…@" + address[at+1:]
}
