package bus

import (
	"path/filepath"
	"strings"
	"testing"
)

// A server that asks for a signature over one of our messages gets none.
func TestOnlyNoncesAreSigned(t *testing.T) {
	key := newKey(t)
	sign := nonceSigner(key)
	for _, nonce := range []string{"kVfe7yUQDqrOgOU", "none", "a+/b==", strings.Repeat("a", maxNonce)} {
		if sig, err := sign([]byte(nonce)); err != nil || key.Verify([]byte(nonce), sig) != nil {
			t.Errorf("%q: %v", nonce, err)
		}
	}
	for _, nonce := range []string{"", "parley-v1\n" + testRecord + "\n", "parley-letter-v1\n", "a b", "ä", strings.Repeat("a", maxNonce+1)} {
		if sig, err := sign([]byte(nonce)); err == nil || sig != nil {
			t.Errorf("%q was signed", nonce)
		}
	}
}

// A login that cannot work is refused at the start, with its setting and without
// what is in its file.
func TestLoginIsChecked(t *testing.T) {
	seed, err := newKey(t).Seed()
	if err != nil {
		t.Fatal(err)
	}
	secret := writeFile(t, "user.nk", []byte("SUASECRET"))
	large := writeFile(t, "large", make([]byte, maxLoginFile+1))
	for name, test := range map[string]struct {
		login Login
		want  string // "" where it is fine
	}{
		"own key":         {Login{}, ""},
		"nkey":            {Login{NKey: writeFile(t, "user.nk", append(seed, '\n'))}, ""},
		"no nkey":         {Login{NKey: secret}, "cannot use the nkey: " + secret + " holds no seed of a user"},
		"no creds":        {Login{Creds: secret}, "holds no user JWT"},
		"seed as creds":   {Login{Creds: writeFile(t, "seed.creds", seed)}, "holds no user JWT"},
		"a missing file":  {Login{Creds: filepath.Join(t.TempDir(), "none")}, "cannot use the credentials (creds): open "},
		"a large file":    {Login{NKey: large}, large + " is larger than"},
		"no CA":           {Login{CA: secret}, "cannot use the certificates in " + secret + " (ca)"},
		"no certificate":  {Login{Cert: secret, Key: secret}, "cannot use the certificate " + secret + " (cert)"},
		"user and no URL": {Login{User: "nat", Password: "SUASECRET"}, "a login without a url"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, newFleet(), "white")
			h.opts.Login = test.login
			err := test.login.Check()
			if err == nil {
				err = h.opts.check()
			}
			switch {
			case test.want == "":
				if err := test.login.Check(); err != nil {
					t.Error(err)
				}
			case err == nil || !strings.Contains(err.Error(), test.want):
				t.Errorf("got %v, want %q", err, test.want)
			case strings.Contains(err.Error(), "SUASECRET"):
				t.Errorf("%v shows what is in the file", err)
			}
		})
	}
}

func FuzzForeignInbox(f *testing.F) {
	f.Add("_MINE.dawn.white.abc.def")
	f.Add("parley.dawn.white.abc.def")
	f.Add("$JS.dawn.white.abc.def")
	f.Add("_INBOX.dawn.black.dawn.white.abc.def")
	f.Fuzz(func(t *testing.T, subject string) {
		if !foreignInboxOf(subject, testFleet, "white") {
			return
		}
		if strings.HasPrefix(subject, "parley.") || strings.HasPrefix(subject, "$") || strings.HasPrefix(subject, "_INBOX.") ||
			!strings.Contains(subject, ".dawn.white.") || foreignInboxOf(subject, testFleet, "black") && !strings.Contains(subject, "black") {
			t.Errorf("%q counts as an inbox of white", subject)
		}
	})
}
