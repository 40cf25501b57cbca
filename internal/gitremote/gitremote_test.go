package gitremote

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheck(t *testing.T) {
	for remote, says := range map[string]string{
		"":                                  "",
		"/srv/record.git":                   "",
		"git@example.org:team/record.git":   "",
		"https://nat:secret@example.org/x":  "",
		"https://[::1]:8080/x.git":          "",
		"file:///srv/record.git":            "",
		"codecommit://profile@x":            "",
		"parley://white":                    "",
		"parley://white/record":             "names no host", // nobody could push there
		"parley://white/x":                  "names no host",
		"--upload-pack=x":                   "begins with a dash",
		"ext::sh -c true":                   "git-remote-ext",
		"codecommit::eu://x":                "git-remote-codecommit",
		"a\nb":                              "control characters",
		" /x":                               "surrounding space",
		"srv/record.git":                    "neither a git URL nor an absolute path",
		"https://nat:secret\x00@example.x/": "control characters",
		"https://nat:a%0ahost=b@example.x/": "control characters",
	} {
		err := Check(remote)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("Check(%q): %v, want %q", remote, err, says)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("Check(%q) shows the password: %v", remote, err)
		}
	}
}

func TestSplit(t *testing.T) {
	for remote, want := range map[string]struct {
		address string
		login   *Login
	}{
		"/srv/a:b@c":                              {"/srv/a:b@c", nil},
		"git@example.org:x.git":                   {"git@example.org:x.git", nil},
		"https://example.org/x":                   {"https://example.org/x", nil},
		"https://nat@example.org/x":               {"https://nat@example.org/x", nil},
		"https://nat:secret@example.org/x":        {"https://example.org/x", &Login{"nat", "secret", "https://example.org"}},
		"https://token:@example.org/x":            {"https://example.org/x", &Login{"token", "", "https://example.org"}},
		"http://n%40t:a%2Fb%@[::1]:80/x?y=z":      {"http://[::1]:80/x?y=z", &Login{"n@t", "a%2Fb%", "http://[::1]:80"}},
		"HTTPS://nat:a@b:c@example.org":           {"HTTPS://example.org", &Login{"nat", "a@b:c", "HTTPS://example.org"}},
		"ssh://git:secret@example.org/x":          {"ssh://git@example.org/x", nil},
		"https://example.org/x?token=nat:secret@": {"https://example.org/x?token=nat:secret@", nil},
		"codecommit://a:b@c":                      {"codecommit://a:b@c", nil},
	} {
		address, login := Split(remote)
		if diff := cmp.Diff(want.login, login); diff != "" || address != want.address {
			t.Errorf("Split(%q) = %q (-want +got):\n%s", remote, address, diff)
		}
	}
}

func TestFolder(t *testing.T) {
	for remote, want := range map[string]string{
		"": "", "/srv/x": "/srv/x", "file:///srv/x": "/srv/x", "host:x": "", "./a:b": "./a:b", "https://x/y": "",
	} {
		if got := Folder(remote); got != want {
			t.Errorf("Folder(%q) = %q, want %q", remote, got, want)
		}
	}
	if runtime.GOOS == "windows" && !IsPath(`C:\x`) {
		t.Error("a drive is no host")
	}
}

// FuzzSplit checks that the part of a URL that everybody may see never holds the password.
func FuzzSplit(f *testing.F) {
	f.Add("https", "nat", "secret", "example.org/x")
	f.Fuzz(func(t *testing.T, scheme, user, password, rest string) {
		if scheme != "http" && scheme != "https" && scheme != "ssh" || strings.ContainsAny(user+password, "/?#@:") || len(password) < 4 ||
			strings.Contains(scheme+"://"+user+"@"+rest, password) || strings.Contains(rest, "@") {
			t.Skip("not told apart from the rest")
		}
		if address, _ := Split(scheme + "://" + user + ":" + password + "@" + rest); strings.Contains(address, password) {
			t.Errorf("%q shows the password %q", address, password)
		}
	})
}
