package carrier

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/transport"
	gitgit "github.com/go-git/go-git/v5/plumbing/transport/git"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"

	"github.com/parleyfleet/parley/internal/redact"
)

// dialect is who speaks to a remote, without go-git's client for folders, and how to prove who we are.
// For ssh, these are the agent's keys and the keys in ~/.ssh that need no password; known_hosts says
// which hosts to trust. For http, it is the name and password of the URL, or those of ~/.netrc.
func dialect(endpoint *transport.Endpoint) (speaker transport.Transport, auth transport.AuthMethod, err error) {
	switch endpoint.Protocol {
	case "ssh":
		auth, err = newSSHKeys(endpoint)
		return gitssh.DefaultClient, auth, err
	case "http", "https":
		if endpoint.User == "" && endpoint.Password == "" {
			if name, password, ok := netrc(endpoint.Host); ok {
				auth = &githttp.BasicAuth{Username: name, Password: password}
			}
		}
		return githttp.DefaultClient, auth, nil // go-git takes the name and password from the URL
	case "git":
		return gitgit.DefaultClient, nil, nil
	}
	return nil, nil, fmt.Errorf("unsupported scheme %q", endpoint.Protocol)
}

// sshKeys shows the keys of the user. It leaves the check of the host to go-git, because only then
// does go-git ask the host for a key of a kind that known_hosts has.
type sshKeys struct {
	user  string
	files []ssh.Signer
	agent *gitssh.PublicKeysCallback // nil if none runs
}

func newSSHKeys(endpoint *transport.Endpoint) (*sshKeys, error) {
	k := &sshKeys{user: endpoint.User, files: keyFiles(sshOption(endpoint.Host, "IdentityFile"))}
	if k.user == "" {
		k.user = sshOption(endpoint.Host, "User")
	}
	if k.user == "" {
		current, err := user.Current()
		if err != nil {
			return nil, fmt.Errorf("the URL names no user: %w", err)
		}
		k.user = current.Username
	}
	var err error
	k.agent, err = gitssh.NewSSHAgentAuth(k.user)
	if err != nil && len(k.files) == 0 {
		return nil, fmt.Errorf("there is no key to show: no ssh agent runs, and ~/.ssh has no key without a password: %w", err)
	}
	return k, nil
}

// sshOption is the value of an option in ~/.ssh/config for a host, or "".
func sshOption(host, key string) string {
	if gitssh.DefaultSSHConfig == nil {
		return ""
	}
	return gitssh.DefaultSSHConfig.Get(host, key)
}

func (k *sshKeys) Name() string   { return "parley-ssh-keys" }
func (k *sshKeys) String() string { return k.Name() + " of " + k.user }

// ClientConfig implements go-git's ssh.AuthMethod.
func (k *sshKeys) ClientConfig() (*ssh.ClientConfig, error) {
	return &ssh.ClientConfig{
		User:    k.user,
		Auth:    []ssh.AuthMethod{ssh.PublicKeysCallback(k.signers)},
		Timeout: gitTimeout,
	}, nil
}

func (k *sshKeys) signers() ([]ssh.Signer, error) {
	if k.agent == nil {
		return k.files, nil
	}
	all, err := k.agent.Callback()
	if err != nil && len(k.files) == 0 {
		return nil, err
	}
	return append(all, k.files...), nil
}

// keyFiles are the user's keys that need no password. The one that the configuration names comes
// first.
func keyFiles(named string) []ssh.Signer {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	var paths []string
	if rest, ok := strings.CutPrefix(named, "~/"); ok {
		named = filepath.Join(home, rest)
	}
	if filepath.IsAbs(named) {
		paths = append(paths, named)
	}
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		paths = append(paths, filepath.Join(home, ".ssh", name))
	}
	var signers []ssh.Signer
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if signer, err := ssh.ParsePrivateKey(data); err == nil {
			signers = append(signers, signer)
		}
	}
	return signers
}

// explained adds to an error what to do, if only that helps. It keeps the error short: some contain
// a whole page that a web server sent.
func explained(err error) error {
	text := err.Error()
	for _, known := range []struct {
		is     bool
		advice string
	}{
		{
			errors.Is(err, transport.ErrAuthenticationRequired) || errors.Is(err, transport.ErrAuthorizationFailed),
			"without the git program, parley takes the name and password of the URL or of ~/.netrc",
		},
		{strings.Contains(text, "knownhosts: key is unknown"), "connect once with ssh, so that ~/.ssh/known_hosts has the host's key"},
		{strings.Contains(text, "knownhosts: key mismatch"), "the host shows another key than ~/.ssh/known_hosts has"},
		{strings.Contains(text, "known_hosts file"), "connect once with ssh, so that there is a ~/.ssh/known_hosts"},
		{
			strings.Contains(text, "ssh: unable to authenticate"),
			"without the git program, parley shows the keys of the ssh agent and those in ~/.ssh that need no password",
		},
	} {
		if known.is {
			return fmt.Errorf("%w; %s", shortened(err), known.advice)
		}
	}
	return shortened(err)
}

// shortened is an error on one line that is not too long.
func shortened(err error) error {
	if text := OneLine(err.Error()); text != err.Error() {
		return shortError{text: text, err: err}
	}
	return err
}

// hidden is an error without anything that would give access to the remote.
func hidden(err error, remote string) error {
	if text := redact.In(err.Error(), remote); text != err.Error() {
		return shortError{text: text, err: err}
	}
	return err
}

// shortError is an error with another text.
type shortError struct {
	text string
	err  error
}

func (e shortError) Error() string { return e.text }
func (e shortError) Unwrap() error { return e.err }

// netrc is the name and password that ~/.netrc has for a host.
func netrc(host string) (name, password string, ok bool) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", "", false
	}
	file, err := os.Open(filepath.Join(home, ".netrc"))
	if err != nil {
		return "", "", false
	}
	defer file.Close()
	words := bufio.NewScanner(file)
	words.Split(bufio.ScanWords)
	here := false
	next := func() string {
		words.Scan()
		return words.Text()
	}
	for words.Scan() {
		switch words.Text() {
		case "machine":
			if here && password != "" {
				return name, password, true
			}
			here = next() == host
			name, password = "", ""
		case "default":
			here = true
		case "login":
			if word := next(); here {
				name = word
			}
		case "password":
			if word := next(); here {
				password = word
			}
		}
	}
	return name, password, here && password != ""
}
