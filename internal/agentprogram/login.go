package agentprogram

import "strings"

// signedOut is what agent programs print, in lower case, when somebody has to sign in first.
var signedOut = []string{
	"please run /login", "invalid api key", "not logged in", "not signed in", "please log in", "please sign in", "login required", "codex login", "auth login",
	"oauth token has expired", "authentication_error", "no credentials found", "set an auth method", "missing bearer", "401 unauthorized",
}

// SignedOut reports whether a program that failed has said that somebody has to sign in to it.
func SignedOut(printed string) bool {
	printed = strings.ToLower(printed)
	for _, sign := range signedOut {
		if strings.Contains(printed, sign) {
			return true
		}
	}
	return false
}
