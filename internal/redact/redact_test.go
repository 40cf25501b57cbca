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

// What is given away to somebody who helps has no secret of any kind. It prevents: a bundle with the
// password of a remote, a token of an agent or a key.
func TestEverythingThatLetsSomebodyIn(t *testing.T) {
	for name, planted := range map[string]struct{ text, secret string }{
		"a token of parley":     {"PARLEY_TOKEN is eyJhIjoiY2xhdWRlIiwibSI6IjQwOTMxMzE0In0.Tl5I5FfB2L8JZcJd6TaETo6N7I_qKiG6pbJP4mB2sSU", "Tl5I5FfB2L8JZcJd6TaETo6N7I"},
		"a seed":                {"seed SUAIBDPBAUTWCWBKIO6XHQNINK5FWJW4OHLXC3HQ2KFE4PEJUA44CNHTC4", "SUAIBDPBAUTWCWBKIO6XHQNINK5FWJW4OHLXC3HQ2KFE4PEJUA44CNHTC4"},
		"a password in a URL":   {"remote: https://nat:hunter22@example.org/x.git", "hunter22"},
		"a token in a URL":      {"url: nats://s3cr3tuser@nats.example.org:4222", "s3cr3tuser"},
		"a query":               {"webhook https://hooks.example.org/x?sig=abcdef123", "abcdef123"},
		"a setting":             {"  password: hunter22", "hunter22"},
		"a setting in JSON":     {`{"access_key":"hunter22","x":1}`, "hunter22"},
		"a variable":            {"env: [ANTHROPIC_BASE=hunter22, HOME]", "hunter22"},
		"a header":              {`Authorization: Bearer hunter22abc`, "hunter22abc"},
		"an option":             {"exec: tool --api-token hunter22", "hunter22"},
		"a token of GitHub":     {"ghp_" + "0123456789abcdefghijABCDEFGHIJ012345", "0123456789abcdefghij"},
		"a key of a model":      {"sk-ant-api03-0123456789abcdef0123", "0123456789abcdef0123"},
		"a key of a cloud":      {"AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"},
		"a private key":         {"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----", "b3BlbnNzaC1rZXktdjEA"},
		"a private key in JSON": {`"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----\n"`, "MIIEvQIBADANBg"},
		"credentials of NATS":   {"-----BEGIN USER NKEY SEED-----\nSUAxyz\n------END USER NKEY SEED------", "SUAxyz"},
		"a key of age":          {"AGE-SECRET-KEY-1QQQQQQQQQQQQQQQQ", "QQQQQQQQ"},
	} {
		if got := Everything("before " + planted.text + "\nafter"); strings.Contains(got, planted.secret) || !strings.HasPrefix(got, "before ") {
			t.Errorf("%s: %q", name, got)
		}
	}
	const plain = `{"level":"info","path":"adfe0356-0f71/190100000Z-b2c3d4e5.md","agent":"mawjs","message":"agent ran"}`
	if got := Everything(plain); got != plain {
		t.Errorf("a line of the log became %q", got)
	}
}
