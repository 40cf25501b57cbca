package configs

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// place makes a person's folder with files in it. getenv answers as in a shell of that person.
func place(t *testing.T, files map[string]string) (dir string, getenv func(string) string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, func(name string) string { return map[string]string{"HOME": dir}[name] }
}

const labContext = ".config/nats/context/lab.json"

func TestSystem(t *testing.T) {
	dir, getenv := place(t, map[string]string{
		"a.creds": "x", "a.nk": "x", "ca.pem": "x", "cert.pem": "x", "key.pem": "x",
		labContext:         `{"description":"the lab","url":"tls://n1:4222,tls://n2:4222","creds":"~/a.creds","ca":"~/ca.pem","tls_first":true,"inbox_prefix":"_INBOX_nat","color_scheme":"blue","of a later version":1}`,
		"elsewhere.json":   `{"url":"nats://n","user":"nat","password":"se-cret","cert":"~/cert.pem","key":"~/key.pem"}`,
		"creds-in-home":    `{"url":"nats://n","creds":"$HOME/a.creds"}`,
		"other/token.json": `{"url":"nats://n","token":"se-cret"}`,
	})
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, test := range map[string]struct {
		bus  Bus
		want System
		as   string
	}{
		"none":    {Bus{}, System{}, "with this host's own key"},
		"own key": {Bus{URL: "nats://n"}, System{URL: "nats://n"}, "with this host's own key"},
		"user":    {Bus{URL: "nats://me:pw@n"}, System{URL: "nats://me:pw@n"}, "with the user in bus.url"},
		"files": {
			Bus{URL: "tls://n", Creds: in("a.creds"), CA: in("ca.pem")},
			System{URL: "tls://n", Creds: in("a.creds"), CA: in("ca.pem")}, "with the credentials in " + in("a.creds"),
		},
		"nkey": {Bus{URL: "tls://n", NKey: in("a.nk")}, System{URL: "tls://n", NKey: in("a.nk")}, "with the nkey in " + in("a.nk")},
		"context": {Bus{Context: "lab"}, System{
			URL: "tls://n1:4222,tls://n2:4222", Context: "lab", Creds: in("a.creds"), CA: in("ca.pem"), TLSFirst: true, InboxPrefix: "_INBOX_nat",
		}, "with the credentials in " + in("a.creds")},
		"context by path": {Bus{Context: in("elsewhere.json")}, System{
			URL: "nats://n", Context: in("elsewhere.json"), User: "nat", Password: "se-cret", Cert: in("cert.pem"), Key: in("key.pem"),
		}, "with the user and password of the context"},
		"context with a variable": {Bus{Context: in("creds-in-home")}, System{
			URL: "nats://n", Context: in("creds-in-home"), Creds: in("a.creds"),
		}, "with the credentials in " + in("a.creds")},
		"token": {Bus{Context: in("other/token.json")}, System{
			URL: "nats://n", Context: in("other/token.json"), Token: "se-cret",
		}, "with the token of the context"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.bus.System(getenv)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if got.As() != test.as {
				t.Errorf("As() = %q, want %q", got.As(), test.as)
			}
		})
	}
}

func TestContextsOfXDG(t *testing.T) {
	dir, getenv := place(t, map[string]string{"conf/nats/context/lab.json": `{"url":"nats://n"}`})
	withXDG := func(name string) string {
		if name == "XDG_CONFIG_HOME" {
			return filepath.Join(dir, "conf")
		}
		return getenv(name)
	}
	if s, err := (Bus{Context: "lab"}).System(withXDG); err != nil || s.URL != "nats://n" {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := (Bus{Context: "lab"}).System(func(string) string { return "" }); err == nil || !strings.Contains(err.Error(), "set HOME") {
		t.Errorf("without HOME: %v", err)
	}
}

// A setting that cannot be used is named, with what to try. No secret is shown.
func TestSystemErrors(t *testing.T) {
	context := func(text string) map[string]string { return map[string]string{labContext: text} }
	lab := Bus{Context: "lab"}
	for name, test := range map[string]struct {
		files map[string]string
		bus   Bus
		want  string
	}{
		"no creds":      {nil, Bus{URL: "nats://n", Creds: "/nowhere/a.creds"}, "cannot use bus.creds: there is no file /nowhere/a.creds: write its full path, or ask"},
		"a folder":      {nil, Bus{URL: "nats://n", NKey: os.TempDir()}, "cannot use bus.nkey: " + os.TempDir() + " is not a file"},
		"no context":    {nil, lab, "there is no file "},
		"not JSON":      {context(`{"password":"se-cret"`), lab, "it is no NATS context: it is not JSON"},
		"other types":   {context(`{"password":["se-cret"]}`), lab, `it is no NATS context: "password" is not a string`},
		"no url":        {context(`{}`), lab, "it names no url"},
		"a bad url":     {context(`{"url":"nats://me:se-cret@:1"}`), lab, "this is not the URL of a NATS system"},
		"a proxy":       {context(`{"url":"nats://n","socks_proxy":"socks5://p"}`), lab, "SOCKS proxy"},
		"nsc":           {context(`{"url":"nats://n","nsc":"nsc://o/a/u"}`), lab, "nsc generate creds"},
		"a JWT":         {context(`{"url":"nats://n","user_jwt":"se-cret"}`), lab, "user_jwt"},
		"Windows":       {context(`{"url":"nats://n","windows_cert_store":"user"}`), lab, "windows_cert_store"},
		"half a pair":   {context(`{"url":"nats://n","cert":"/c"}`), lab, "cert and key belong together"},
		"only password": {context(`{"url":"nats://n","password":"se-cret"}`), lab, "a password and no user"},
		"two ways":      {context(`{"url":"nats://me:se-cret@n","token":"se-cret"}`), lab, "2 ways to say who this host is, token and the user in url"},
		"relative":      {context(`{"url":"nats://n","creds":"a.creds"}`), lab, "the path in creds is not absolute"},
		"no file":       {context(`{"url":"nats://n","creds":"/nowhere/a.creds"}`), lab, `cannot use creds of the context "lab": there is no file /nowhere/a.creds`},
		"empty":         {map[string]string{labContext: `{"url":"nats://n","nkey":"~/empty"}`, "empty": ""}, lab, "is empty"},
		"inbox":         {context(`{"url":"nats://n","inbox_prefix":"parley.lab"}`), lab, "inbox_prefix"},
		"wild inbox":    {context(`{"url":"nats://n","inbox_prefix":"a.>"}`), lab, "inbox_prefix"},
		"large":         {context(strings.Repeat(" ", maxFileBytes+1)), lab, "it is larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, getenv := place(t, test.files)
			_, err := test.bus.System(getenv)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "se-cret") {
				t.Errorf("%v shows a secret", err)
			}
		})
	}
}

func TestSecretsThatOthersCanRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file modes say nothing there")
	}
	dir, getenv := place(t, map[string]string{"a.creds": "x", "ca.pem": "x", labContext: `{"url":"nats://n","token":"se-cret"}`})
	for _, name := range []string{"a.creds", "ca.pem", labContext} {
		if err := os.Chmod(filepath.Join(dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, bus := range []Bus{
		{URL: "nats://n", Creds: filepath.Join(dir, "a.creds"), CA: filepath.Join(dir, "ca.pem")},
		{Context: "lab"},
	} {
		s, err := bus.System(getenv)
		if err != nil || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "chmod 600 "+dir) {
			t.Errorf("%v, warnings %q", err, s.Warnings)
		}
	}
}

func FuzzParseContext(f *testing.F) {
	f.Add([]byte(`{"url":"nats://n","user":"nat","password":"pw"}`))
	f.Add([]byte(`{"url":"nats://n","creds":"~/x","inbox_prefix":"_I.a","tls_first":true}`))
	f.Add([]byte(`{"url":5}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseContext(data)
		if err != nil {
			return
		}
		s, err := c.system(func(string) string { return "/home/nat" })
		if err != nil {
			return
		}
		if checkURL(s.URL) != nil {
			t.Errorf("%q was accepted", s.URL)
		}
		for _, path := range []string{s.Creds, s.NKey, s.Cert, s.Key, s.CA} {
			if path != "" && !filepath.IsAbs(path) {
				t.Errorf("%q is not absolute", path)
			}
		}
	})
}
