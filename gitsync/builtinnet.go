package gitsync

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"golang.org/x/crypto/ssh"

	"github.com/parleyfleet/parley/gitsync/objects"
)

// service is what is wanted of a remote.
type service bool

const (
	toFetch service = false
	toPush  service = true
)

// netSide is a shared repository behind ssh, http or git's own protocol.
type netSide struct {
	store   *objects.Store
	session transport.Session
	adverts *packp.AdvRefs // nil for an empty repository that is fetched from
	unhook  func() bool
}

// dialSide connects to a remote. When ctx ends the connection is cut.
func dialSide(ctx context.Context, remote string, why service, store *objects.Store) (remoteSide, error) {
	endpoint, err := transport.NewEndpoint(remote)
	if err != nil {
		return nil, err
	}
	auth, err := authFor(endpoint)
	if err != nil {
		return nil, err
	}
	speaker, err := client.NewClient(endpoint)
	if err != nil {
		return nil, err
	}
	n := &netSide{store: store}
	if why == toPush {
		n.session, err = speaker.NewReceivePackSession(endpoint, auth)
	} else {
		n.session, err = speaker.NewUploadPackSession(endpoint, auth)
	}
	if err != nil {
		return nil, err
	}
	n.unhook = context.AfterFunc(ctx, func() { _ = n.session.Close() }) // what waits for it fails
	n.adverts, err = n.session.AdvertisedReferencesContext(ctx)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return n, nil
	}
	if err != nil {
		n.close()
		return nil, explained(err)
	}
	return n, nil
}

// explained adds to an error what to do where only that helps.
func explained(err error) error {
	if errors.Is(err, transport.ErrAuthenticationRequired) || errors.Is(err, transport.ErrAuthorizationFailed) {
		return fmt.Errorf("%w; without the git program, parley takes the name and password of the URL or of ~/.netrc", err)
	}
	return err
}

func (n *netSide) close() {
	n.unhook()
	_ = n.session.Close() // what was to be sent was acknowledged or has failed
}

func (n *netSide) branches() map[string]objects.Hash {
	all := map[string]objects.Hash{}
	if n.adverts == nil {
		return all
	}
	for ref, h := range n.adverts.References {
		if name, ok := strings.CutPrefix(ref, headsPrefix); ok {
			all[name] = h
		}
	}
	return all
}

func (n *netSide) headIsMain() bool {
	if n.adverts == nil {
		return true
	}
	for _, pair := range n.adverts.Capabilities.Get(capability.SymRef) {
		if pair == "HEAD:"+mainRef {
			return true
		}
	}
	return false
}

func (n *netSide) fetch(ctx context.Context, tip, have objects.Hash) error {
	request := packp.NewUploadPackRequestFromCapabilities(n.adverts.Capabilities)
	request.Wants = append(request.Wants, tip)
	if have != objects.Zero {
		request.Haves = append(request.Haves, have)
	}
	answer, err := n.session.(transport.UploadPackSession).UploadPack(ctx, request)
	if err != nil {
		return err
	}
	defer answer.Close()
	var pack io.Reader = answer
	switch {
	case request.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, answer)
	case request.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, answer)
	}
	return n.store.InstallPack(pack)
}

func (n *netSide) push(ctx context.Context, old, next objects.Hash) error {
	var all objects.Builder
	err := n.store.Missing(next, old, func(b *objects.Builder) error {
		all.Append(b)
		return nil
	})
	if err != nil {
		return err
	}
	pack, err := all.Pack()
	if err != nil {
		return err
	}
	request := packp.NewReferenceUpdateRequestFromCapabilities(n.adverts.Capabilities)
	request.Commands = []*packp.Command{{Name: mainRef, Old: old, New: next}}
	request.Packfile = io.NopCloser(bytes.NewReader(pack))
	report, err := n.session.(transport.ReceivePackSession).ReceivePack(ctx, request)
	if report != nil {
		for _, status := range report.CommandStatuses {
			if lostRace(status.Status) {
				return errRejected
			}
		}
	}
	return err
}

// lostRace tells a push that came second from one that will never be let in.
func lostRace(status string) bool {
	for _, sign := range []string{
		"non-fast-forward", "fetch first", "failed to update ref", "cannot lock ref", "failed to lock", "incorrect old value",
		"reference already exists", "stale info",
	} {
		if strings.Contains(status, sign) {
			return true
		}
	}
	return false
}

// authFor is how to prove who we are: by ssh with the agent's keys and those in
// ~/.ssh that need no password, hosts checked by known_hosts; by http with the
// URL's name and password, or those of ~/.netrc.
func authFor(endpoint *transport.Endpoint) (transport.AuthMethod, error) {
	switch endpoint.Protocol {
	case "ssh":
		return sshAuth(endpoint.User)
	case "http", "https":
		if endpoint.User == "" && endpoint.Password == "" {
			if name, password, ok := netrc(endpoint.Host); ok {
				return &githttp.BasicAuth{Username: name, Password: password}, nil
			}
		}
	}
	return nil, nil // go-git takes what the URL says
}

func sshAuth(user string) (transport.AuthMethod, error) {
	if user == "" {
		user = gitssh.DefaultUsername
	}
	keys := keyFiles()
	agent, err := gitssh.NewSSHAgentAuth(user)
	if err != nil && len(keys) == 0 {
		return nil, fmt.Errorf("there is no key to show: no ssh agent runs, and ~/.ssh has no key without a password: %w", err)
	}
	return &gitssh.PublicKeysCallback{User: user, Callback: func() ([]ssh.Signer, error) {
		all := keys
		if agent != nil {
			more, err := agent.Callback()
			if err != nil && len(keys) == 0 {
				return nil, err
			}
			all = append(more, keys...)
		}
		return all, nil
	}}, nil
}

// keyFiles are the user's keys that need no password.
func keyFiles() []ssh.Signer {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	var signers []ssh.Signer
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		data, err := os.ReadFile(filepath.Join(home, ".ssh", name))
		if err != nil {
			continue
		}
		if signer, err := ssh.ParsePrivateKey(data); err == nil {
			signers = append(signers, signer)
		}
	}
	return signers
}

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
