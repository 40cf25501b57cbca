package bus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Login is who this host is at an existing NATS system. At most one of Creds, NKey, User, Token and
// a user in the URL says so. The zero value means the host's own key. A credentials file is read
// again at each connect, so that a renewed one counts.
type Login struct {
	Creds       string // file with a user's JWT and its key
	NKey        string // file with the seed of a user nkey
	User        string
	Password    string
	Token       string
	Cert, Key   string // PEM files of a client certificate, both or none
	CA          string // PEM file of the certificates to trust; "": the machine's
	TLSFirst    bool   // TLS before the server's greeting
	InboxPrefix string // where answers arrive, "" for _INBOX
}

const maxLoginFile = 64 << 10

// Check reads the files once. Its errors name the setting, and show nothing of the content of a
// file.
func (l Login) Check() error {
	if l.Creds != "" {
		if _, err := l.jwt(); err != nil {
			return err
		}
		if _, err := l.credsKey(); err != nil {
			return err
		}
	}
	if l.NKey != "" {
		if _, err := l.userKey(); err != nil {
			return err
		}
	}
	if l.CA != "" {
		if err := nats.RootCAs(l.CA)(&nats.Options{}); err != nil {
			return fmt.Errorf("cannot use the certificates in %s (ca): it holds none in PEM form: %w", l.CA, err)
		}
	}
	if l.Cert != "" {
		if err := nats.ClientCert(l.Cert, l.Key)(&nats.Options{}); err != nil {
			return fmt.Errorf("cannot use the certificate %s (cert) with %s (key): %w", l.Cert, l.Key, err)
		}
	}
	return nil
}

// ownKey reports whether only the host's own key says who it is at `url`.
func (l Login) ownKey(url string) bool {
	return l.Creds == "" && l.NKey == "" && l.User == "" && l.Token == "" && !strings.Contains(url, "@")
}

// what is the name of what says who the host is, if that is not its own key.
func (l Login) what() string {
	switch {
	case l.Creds != "":
		return "the credentials in " + l.Creds
	case l.NKey != "":
		return "the nkey in " + l.NKey
	}
	return "the user and password, or the token, that it is given"
}

// options are the options of the NATS client for a system at `url`. `own` is this host's key, which
// is shown if nothing else says who the host is.
func (l Login) options(url string, own nkeys.KeyPair) ([]nats.Option, error) {
	who, err := l.identity(url, own)
	if err != nil {
		return nil, err
	}
	opts := []nats.Option{who}
	if l.CA != "" {
		opts = append(opts, nats.RootCAs(l.CA))
	}
	if l.Cert != "" {
		opts = append(opts, nats.ClientCert(l.Cert, l.Key))
	}
	if l.TLSFirst {
		opts = append(opts, nats.TLSHandshakeFirst())
	}
	return opts, nil
}

func (l Login) identity(url string, own nkeys.KeyPair) (nats.Option, error) {
	switch {
	case l.Creds != "":
		return nats.UserJWT(l.jwt, func(nonce []byte) ([]byte, error) {
			key, err := l.credsKey()
			if err != nil {
				return nil, err
			}
			return nonceSigner(key)(nonce)
		}), nil
	case l.NKey != "":
		key, err := l.userKey()
		if err != nil {
			return nil, err
		}
		return nkeyOption(key)
	case l.User != "":
		return nats.UserInfo(l.User, l.Password), nil
	case l.Token != "":
		return nats.Token(l.Token), nil
	case l.ownKey(url):
		return nkeyOption(own)
	}
	return func(*nats.Options) error { return nil }, nil // the URL says who the host is
}

func nkeyOption(key nkeys.KeyPair) (nats.Option, error) {
	public, err := key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("cannot read the public key: %w", err)
	}
	return nats.Nkey(public, nonceSigner(key)), nil
}

// jwt is the user's JWT in the credentials file.
func (l Login) jwt() (string, error) {
	data, err := readSecret(l.Creds)
	if err != nil {
		return "", fmt.Errorf("cannot use the credentials (creds): %w", err)
	}
	jwt, err := nkeys.ParseDecoratedJWT(data)
	if err != nil || strings.Count(jwt, ".") != 2 || strings.ContainsAny(jwt, " \t\n") {
		return "", fmt.Errorf("cannot use the credentials (creds): %s holds no user JWT; a credentials file begins with -----BEGIN NATS USER JWT-----", l.Creds)
	}
	return jwt, nil
}

func (l Login) credsKey() (nkeys.KeyPair, error) {
	return readKey(l.Creds, "the credentials (creds)", " after its JWT")
}

// userKey is the key whose seed is in the nkey file.
func (l Login) userKey() (nkeys.KeyPair, error) {
	return readKey(l.NKey, "the nkey", ", as  nk -gen user  prints it")
}

// readKey reads the key in a file. `what` names the setting, and `where` says how the file has it.
func readKey(path, what, where string) (nkeys.KeyPair, error) {
	data, err := readSecret(path)
	if err != nil {
		return nil, fmt.Errorf("cannot use %s: %w", what, err)
	}
	key, err := nkeys.ParseDecoratedUserNKey(data)
	if err != nil {
		return nil, fmt.Errorf("cannot use %s: %s holds no seed of a user (SU…)%s", what, path, where)
	}
	return key, nil
}

func readSecret(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxLoginFile+1))
	if err == nil && len(data) > maxLoginFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxLoginFile)
	}
	return data, err
}

// maxNonce bounds what a server may give to sign, in bytes. The nonces of NATS have 15 bytes.
const maxNonce = 128

var errNonce = errors.New("the server asks for a signature over something else than a nonce; nothing was signed")

// nonceSigner signs what a server gives a client to sign, as proof of its key. The same key signs
// messages and letters. So everything that is not the short base64 text of a nonce is refused.
// Otherwise a server could have messages signed in our name. What parley signs has line ends, and a
// nonce has none.
func nonceSigner(key nkeys.KeyPair) nats.SignatureHandler {
	return func(nonce []byte) ([]byte, error) {
		if !isNonce(nonce) {
			return nil, errNonce
		}
		return key.Sign(nonce)
	}
}

func isNonce(nonce []byte) bool {
	for _, c := range nonce {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '+', c == '/', c == '=':
		default:
			return false
		}
	}
	return len(nonce) > 0 && len(nonce) <= maxNonce
}
