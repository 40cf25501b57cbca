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
	} {
		if got := URLs(in); got != want {
			t.Errorf("URLs(%q) = %q, want %q", in, got, want)
		}
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
