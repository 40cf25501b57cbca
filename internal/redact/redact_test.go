package redact

import (
	"strings"
	"testing"
)

func TestURLs(t *testing.T) {
	for in, want := range map[string]string{
		"":                                       "",
		"nats://a:4222":                          "nats://a:4222",
		"nats://me:secret@a:4222, nats://b:4222": "nats://…@a:4222, nats://b:4222",
		"nats://token@a:4222":                    "nats://…@a:4222",
		"nats://me:se@cret@a:4222":               "nats://…@a:4222",
		"nats://me:%zz@a:4222":                   "nats://…@a:4222",
		"me:secret@a:4222":                       "…@a:4222",
		"a:4222":                                 "a:4222",
		"https://a/x@y":                          "https://a/x@y",
		"wss://a/x?token=secret":                 "wss://a/x?…",
		"wss://me:secret@a/x?token=secret#y":     "wss://…@a/x?…",
	} {
		if got := URLs(in); got != want {
			t.Errorf("URLs(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRemote(t *testing.T) {
	for in, want := range map[string]string{
		"":                                      "",
		"/srv/record.git":                       "/srv/record.git",
		"/srv/a@b/what?.git":                    "/srv/a@b/what?.git",
		"git@example.org:team/record.git":       "git@example.org:team/record.git",
		"nat:secret@example.org:team/x.git":     "…@example.org:team/x.git",
		"ssh://git@example.org/x.git":           "ssh://git@example.org/x.git",
		"ssh://git:secret@example.org/x.git":    "ssh://…@example.org/x.git",
		"https://example.org/x.git":             "https://example.org/x.git",
		"https://nat:secret@example.org/x.git":  "https://…@example.org/x.git",
		"https://token@example.org/x.git":       "https://…@example.org/x.git",
		"https://nat:se@cret@example.org/x.git": "https://…@example.org/x.git",
		"https://nat:%zz@example.org/x.git":     "https://…@example.org/x.git",
		"https://example.org/x.git?token=a#b":   "https://example.org/x.git?…",
		"https://example.org/x.git#b":           "https://example.org/x.git#…",
		"ssh://git@example.org/x.git?token=abc": "ssh://git@example.org/x.git?…",
	} {
		if got := Remote(in); got != want {
			t.Errorf("Remote(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestIn prevents: git, curl or a server says something of a remote that quotes a secret, whole or
// in parts.
func TestIn(t *testing.T) {
	const remote = "https://nat:sec%40ret1@example.org/x.git?private_token=abcdef123&team=a"
	for text, want := range map[string]string{
		"cannot read " + remote:                                      "cannot read https://…@example.org/x.git?…",
		"https://nat:sec%40ret1@example.org/x.git/info/refs: no":     "https://…@example.org/x.git/info/refs: no",
		"example.org/x.git?private_token=abcdef123&team=a/info/refs": "example.org/x.git?…/info/refs",
		"the password sec@ret1 is wrong":                             "the password … is wrong",
		"abcdef123 has ended":                                        "… has ended",
		"a team of nat":                                              "a team of nat",
	} {
		if got := In(text, remote); got != want {
			t.Errorf("In(%q) = %q, want %q", text, got, want)
		}
	}
	if got := In("a path /x", "/x"); got != "a path /x" {
		t.Errorf("a path became %q", got)
	}
}

func FuzzURLs(f *testing.F) {
	f.Add("me", "secret", "a:4222")
	f.Fuzz(func(t *testing.T, user, password, host string) {
		if strings.ContainsAny(user+password, ",@:/?#[]") || len(password) < 4 || strings.Contains(host+"nats://…@", password) {
			t.Skip("not told apart from the rest")
		}
		if got := URLs("nats://" + user + ":" + password + "@" + host); strings.Contains(got, password) {
			t.Errorf("%q shows the password %q", got, password)
		}
	})
}

// It prevents: a token or a key that a command prints stands in the record for good. Other words of
// the same look stay.
func TestWhatProgramsPrint(t *testing.T) {
	const (
		token = "eyJhIjoiY2xhdWRlIiwibSI6IjQwOTMxMzE0In0.Tl5I5FfB2L8JZcJd6TaETo6N7I_qKiG6pbJP4mB2sSU"
		seed  = "SUAIBDPBAUTWCWBKIO6XHQNINK5FWJW4OHLXC3HQ2KFE4PEJUA44CNHTC4"
		url   = "https://nat:pass@example.org/x.git"
	)
	for text, want := range map[string]string{
		"PARLEY_TOKEN=" + token + "\nx": "PARLEY_TOKEN=…\nx",
		`{"token":"` + token + `"}`:     `{"token":"…"}`,
		token[:60]:                      "…", // it was cut off
		"seed: " + seed + ".":           "seed: ….",
		"cannot read " + url + ": no":   "cannot read " + url + ": no",
		"eyJhIjoi is no token, nor is the key UAIBDPBAUTWCWBKIO6XHQNINK5FWJW4OHLXC3HQ2KFE4PEJUA44CNHTC4 secret": "eyJhIjoi is no token, nor is the key UAIBDPBAUTWCWBKIO6XHQNINK5FWJW4OHLXC3HQ2KFE4PEJUA44CNHTC4 secret",
	} {
		if got := Own(text); got != want {
			t.Errorf("Own(%q) = %q, want %q", text, got, want)
		}
	}
	if got := Said("fatal: " + url + " " + token + ", http://example.org:80/a@b"); got != "fatal: https://…@example.org/x.git …, http://example.org:80/a@b" {
		t.Errorf("said: %q", got)
	}
}
