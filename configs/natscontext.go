package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// natsContext is what parley reads of a context of the NATS command line. It has no fields for what
// concerns only that program, such as its colours and JetStream.
type natsContext struct {
	URL         string `json:"url"`
	User        string `json:"user"`
	Password    string `json:"password"`
	Token       string `json:"token"`
	Creds       string `json:"creds"`
	NKey        string `json:"nkey"`
	Cert        string `json:"cert"`
	Key         string `json:"key"`
	CA          string `json:"ca"`
	TLSFirst    bool   `json:"tls_first"`
	InboxPrefix string `json:"inbox_prefix"`

	// SocksProxy and the fields below need other programs or libraries in a client. parley refuses
	// them: otherwise it would connect in another way than the operator meant.
	SocksProxy string `json:"socks_proxy"`
	NSC        string `json:"nsc"`
	UserJWT    string `json:"user_jwt"`
	WinStore   string `json:"windows_cert_store"`
}

// checkContextName accepts the name of a context and the absolute path of its
// file.
func checkContextName(name string) error {
	switch {
	case !isLine(name):
		return fmt.Errorf("%q contains control characters", name)
	case filepath.IsAbs(name):
		return nil
	case strings.ContainsAny(name, `/\`) || strings.Contains(name, ".."):
		return fmt.Errorf("%q is neither the name of a NATS context nor the absolute path of its file", name)
	}
	return nil
}

func contextFile(name string, getenv func(string) string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := personalFolder(getenv)
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "nats", "context", name+".json"), nil
}

func personalFolder(getenv func(string) string) (string, error) {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if dir := getenv(name); filepath.IsAbs(dir) {
			return dir, nil
		}
	}
	return "", errors.New("cannot find the folder of NATS contexts: set HOME or XDG_CONFIG_HOME to an absolute path, or write the full path of the context's file")
}

// readContext reads a context by its name. Errors show nothing of its content.
func readContext(name string, getenv func(string) string) (System, error) {
	file, err := contextFile(name, getenv)
	if err != nil {
		return System{}, err
	}
	data, err := readCapped(file)
	if errors.Is(err, fs.ErrNotExist) {
		return System{}, fmt.Errorf("there is no file %s: \"nats context ls\" lists the contexts of this user, and a service may have another HOME", file)
	}
	if err != nil {
		return System{}, err
	}
	c, err := parseContext(data)
	if err != nil {
		return System{}, fmt.Errorf("%s: %w", file, err)
	}
	s, err := c.system(getenv)
	if err != nil {
		return System{}, fmt.Errorf("%s: %w", file, err)
	}
	s.Context = name
	if info, err := os.Stat(file); err == nil && (s.Password != "" || s.Token != "" || hasUser(s.URL)) && openToOthers(info) {
		s.Warnings = append(s.Warnings, fmt.Sprintf("bus.context: other users of this machine can read the secret in %s; run: chmod 600 %s", file, shellWord(file)))
	}
	return s, nil
}

// parseContext reads the text of a context. A JSON error names a place and a
// type, never a value.
func parseContext(data []byte) (natsContext, error) {
	var c natsContext
	if err := json.Unmarshal(data, &c); err != nil {
		wrong := new(json.UnmarshalTypeError)
		if errors.As(err, &wrong) {
			return c, fmt.Errorf("it is no NATS context: %q is not a %s", wrong.Field, wrong.Type)
		}
		return c, errors.New("it is no NATS context: it is not JSON")
	}
	return c, c.check()
}

// check returns an error for what parley cannot do, and for two ways to say who this host is.
func (c natsContext) check() error {
	switch {
	case c.SocksProxy != "":
		return errors.New("it goes through a SOCKS proxy (socks_proxy), which parley does not; use an address that can be reached directly")
	case c.NSC != "":
		return errors.New("it takes its credentials from nsc, which parley does not run; write them into a file (nsc generate creds) and use creds")
	case c.UserJWT != "":
		return errors.New("it holds a user_jwt; put that and its key into a credentials file and use creds")
	case c.WinStore != "":
		return errors.New("it uses a Windows certificate store (windows_cert_store); use the files cert and key")
	case c.URL == "":
		return errors.New("it names no url")
	case (c.Cert == "") != (c.Key == ""):
		return errors.New("cert and key belong together, and one is missing")
	case c.Password != "" && c.User == "":
		return errors.New("it has a password and no user")
	case !inboxPrefix(c.InboxPrefix):
		return errors.New("its inbox_prefix is not the beginning of a NATS subject")
	}
	var ways []string
	for _, way := range []struct {
		name string
		set  bool
	}{{"creds", c.Creds != ""}, {"nkey", c.NKey != ""}, {"user", c.User != ""}, {"token", c.Token != ""}, {"the user in url", hasUser(c.URL)}} {
		if way.set {
			ways = append(ways, way.name)
		}
	}
	if len(ways) > 1 {
		return fmt.Errorf("there are %d ways to say who this host is, %s: keep one", len(ways), strings.Join(ways, " and "))
	}
	return checkURL(c.URL)
}

// inboxPrefix reports whether `s` can be the beginning of a subject, and of no subject that means
// something else.
func inboxPrefix(s string) bool {
	if s == "" {
		return true
	}
	for token := range strings.SplitSeq(s, ".") {
		if token == "" || !isLine(token) || strings.ContainsAny(token, "*> ") {
			return false
		}
	}
	return len(s) <= 128 && !strings.HasPrefix(s, "$") && s != "parley" && !strings.HasPrefix(s, "parley.")
}

// system is what the context says, with full paths.
func (c natsContext) system(getenv func(string) string) (System, error) {
	s := System{
		URL: c.URL, User: c.User, Password: c.Password, Token: c.Token, TLSFirst: c.TLSFirst, InboxPrefix: c.InboxPrefix,
	}
	for _, file := range []struct {
		name, path string
		at         *string
	}{
		{"creds", os.Expand(c.Creds, getenv), &s.Creds}, {"nkey", c.NKey, &s.NKey},
		{"cert", c.Cert, &s.Cert}, {"key", c.Key, &s.Key}, {"ca", c.CA, &s.CA},
	} {
		path := file.path
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			home, err := personalFolder(getenv)
			if err != nil {
				return System{}, err
			}
			path = filepath.Join(home, rest)
		}
		if path != "" && !filepath.IsAbs(path) {
			return System{}, fmt.Errorf("the path in %s is not absolute", file.name)
		}
		*file.at = path
	}
	return s, nil
}
