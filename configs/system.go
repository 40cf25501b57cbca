package configs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// System is an existing NATS system that carries the bus, and who this host is there. At most one
// of Creds, NKey, User, Token and the user in URL is set. With none of them, the host shows its own
// key.
type System struct {
	URL         string // one or several addresses, separated by commas; "" means a server of our own
	Context     string // the NATS context that has the other values; "" for none
	Creds       string // file with a user's JWT and its key
	NKey        string // file with the seed of a user nkey
	User        string
	Password    string
	Token       string
	Cert, Key   string // files of a client certificate
	CA          string // file with the certificates to trust
	TLSFirst    bool   // TLS before the first word of NATS
	InboxPrefix string // prefix of the subjects on which answers to us arrive; "" means that of NATS

	Warnings []string // what the operator should change, although it works
}

// System reads what the configuration says about an existing NATS system. It reads the context if
// one is named. It checks the files without reading their content. It is the zero System if none is
// used. Errors name the setting.
func (b Bus) System(getenv func(string) string) (System, error) {
	s := System{URL: b.URL, Creds: b.Creds, NKey: b.NKey, CA: b.CA}
	creds, nkey, ca := "bus.creds", "bus.nkey", "bus.ca"
	if b.Context != "" {
		var err error
		if s, err = readContext(b.Context, getenv); err != nil {
			return System{}, fmt.Errorf("cannot use bus.context %s: %w", quoted(b.Context), err)
		}
		in := " of the context " + quoted(b.Context)
		creds, nkey, ca = "creds"+in, "nkey"+in, "ca"+in
	}
	for _, file := range []struct {
		setting, path string
		secret        bool
	}{{creds, s.Creds, true}, {nkey, s.NKey, true}, {ca, s.CA, false}, {"cert of the context", s.Cert, false}, {"key of the context", s.Key, true}} {
		warning, err := checkFile(file.path, file.secret)
		if err != nil {
			return System{}, fmt.Errorf("cannot use %s: %w", file.setting, err)
		}
		if warning != "" {
			s.Warnings = append(s.Warnings, file.setting+": "+warning)
		}
	}
	return s, nil
}

// As says who this host is at the system, without any secret.
func (s System) As() string {
	switch {
	case s.Creds != "":
		return "with the credentials in " + s.Creds
	case s.NKey != "":
		return "with the nkey in " + s.NKey
	case s.User != "":
		return "with the user and password of the context"
	case s.Token != "":
		return "with the token of the context"
	case strings.Contains(s.URL, "@"):
		return "with the user in bus.url"
	}
	return "with this host's own key"
}

// checkFile makes sure that a file can be read. If it is a secret, and other users can read it,
// there is a warning. "" is no file.
func checkFile(path string, secret bool) (warning string, err error) {
	if path == "" {
		return "", nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no file %s: write its full path, or ask the operator of the NATS system for it", path)
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
		return "", fmt.Errorf("%s is empty", path)
	} else if err != nil {
		return "", err
	}
	if secret && openToOthers(info) {
		return fmt.Sprintf("other users of this machine can read the secret in %s; run: chmod 600 %s", path, shellWord(path)), nil
	}
	return "", nil
}

// checkOwn refuses a server of our own beside an existing system.
func (b *Bus) checkOwn() error {
	return wrongIf(b.Listen != "" || b.Links != "" || len(b.Advertise) > 0 || len(b.Hubs) > 0,
		"an existing NATS system takes the place of bus.listen, bus.links, bus.advertise and bus.hubs: set it or them")
}

func (b *Bus) checkURL() error {
	if b.URL == "" {
		return nil
	}
	return errors.Join(checkURL(b.URL), b.checkOwn())
}

func (b *Bus) checkContext() error {
	if b.Context == "" {
		return nil
	}
	return errors.Join(checkContextName(b.Context), b.checkOwn(), wrongIf(b.URL != "", "a context names its own url: set it or bus.url"))
}

func (b *Bus) systemFile(key string, path *string) Setting {
	return textSetting(key, path).checked(func() error {
		switch {
		case *path == "":
			return nil
		case !isLine(*path) || !filepath.IsAbs(*path):
			return fmt.Errorf("%q is not an absolute path", *path)
		case b.Context != "":
			return errors.New("a context has its own credentials and certificates: set it or them")
		}
		return wrongIf(b.URL == "", "it is for an existing NATS system: name that with bus.url")
	}).means(key)
}

// checkOneWay returns an error if there are two ways to say who this host is, and it is to be said
// here.
func (b *Bus) checkOneWay(here bool) error {
	var ways []string
	for _, way := range []struct {
		name string
		set  bool
	}{{"bus.creds", b.Creds != ""}, {"bus.nkey", b.NKey != ""}, {"the user in bus.url", hasUser(b.URL)}} {
		if way.set {
			ways = append(ways, way.name)
		}
	}
	return wrongIf(here && len(ways) > 1, "there are %d ways to say who this host is, %s: keep one", len(ways), strings.Join(ways, " and "))
}

// hasUser reports whether one of the addresses names a user or token.
func hasUser(addresses string) bool { return strings.Contains(addresses, "@") }

// checkURL checks a URL. It never shows `s`, which may contain a password.
func checkURL(s string) error {
	web := 0
	addresses := strings.Split(s, ",")
	for _, address := range addresses {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Hostname() == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return errors.New("this is not the URL of a NATS system: it should look like nats://host:4222")
		}
		if u.Scheme == "ws" || u.Scheme == "wss" {
			web++
		}
	}
	if web > 0 && web < len(addresses) {
		return errors.New("some of the addresses are websockets and some are not: NATS clients use one kind at a time")
	}
	return nil
}
