package hand

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Keys are the keys of the humans of one home.
type Keys struct {
	dir  string
	ask  func(ctx context.Context, question string) (string, error) // asks for a passphrase at the terminal
	work int                                                        // see workFactor
}

// Of returns the keys of the home with which a run of parley works.
func Of(p *cli.Program) (Keys, error) {
	home, err := p.HomeDir()
	return Keys{dir: home.Humans(), ask: func(ctx context.Context, question string) (string, error) { return passphrase(ctx, p, question) }, work: cmp.Or(p.PassphraseWork, workFactor)}, err
}

// File is the path at which the key of a human is kept.
func (k Keys) File(human protocol.Name) string { return filepath.Join(k.dir, human.String()+".key") }

// next is the path at which a new key is kept until the fleet knows it. Each has its own: of two
// that were made, nobody knows which one a node has told first.
func (k Keys) next(human protocol.Name, public string) string {
	return k.File(human) + "." + public + ".next"
}

// Make makes a key for a human, keeps it beside the present one, and returns it. It asks twice for
// a passphrase, or not at all if the key is to be open. A key that was made before, and that the
// fleet may or may not know, stays.
func (k Keys) Make(ctx context.Context, human protocol.Name, open bool) (nkeys.KeyPair, error) {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot keep a key: %w", err)
	}
	words := ""
	for !open && words == "" {
		first, err := k.ask(ctx, fmt.Sprintf("A passphrase for the key of %s: ", human))
		if err != nil {
			return nil, err
		}
		again, err := k.ask(ctx, "The same again: ")
		switch {
		case err != nil:
			return nil, err
		case first == "":
			return nil, control.Errorf(control.KindUsage, "for scripts and tests there is --open, which every display shows", "a key without a passphrase is no proof: nothing was made")
		case first == again:
			words = first
		}
	}
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("cannot make a key: %w", err)
	}
	data, err := sealed(key, words, k.work)
	if err != nil {
		return nil, err
	}
	return key, k.keep(human, key, data)
}

func (k Keys) keep(human protocol.Name, key nkeys.KeyPair, data []byte) error {
	public, err := key.PublicKey()
	if err == nil {
		err = durable.WriteFile(k.next(human, public), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot keep the key: %w", err)
	}
	return nil
}

// Take keeps the key in a file for a human, as Make keeps a new one. A person on two hosts has one
// key on both (R35). `open` says that the key has no passphrase.
func (k Keys) Take(ctx context.Context, human protocol.Name, path string) (key nkeys.KeyPair, open bool, err error) {
	f, err := read(path)
	if missing(err) {
		return nil, false, control.Errorf(control.KindNotFound, "copy it from the folder humans of your other host's home", "there is no file %s", path)
	}
	if err != nil {
		return nil, false, err
	}
	if key, err = k.unlock(ctx, f, human); err != nil {
		return nil, false, err
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, false, fmt.Errorf("cannot keep a key: %w", err)
	}
	return key, !f.locked(), k.keep(human, key, f.data)
}

// Made puts a new key in the place of the one before. It is called once the fleet knows the new key.
func (k Keys) Made(human protocol.Name, public string) error {
	return k.take(human, k.next(human, public))
}

// take puts the key that is kept at a path in the place of the one before.
func (k Keys) take(human protocol.Name, path string) error {
	if err := os.Rename(path, k.File(human)); err != nil {
		return fmt.Errorf("the fleet knows the new key, but it is kept in %s still: %w", path, err)
	}
	return durable.Folder(k.dir)
}

// tries is how often a passphrase is asked for.
const tries = 3

// Open returns the key of a human with a public half. If that is a new key for which Made was not
// called, or did not succeed, Open does the work of Made.
func (k Keys) Open(ctx context.Context, human protocol.Name, public string) (nkeys.KeyPair, error) {
	older := k.File(human) + ".next" // where earlier versions keep a new key
	for _, path := range []string{k.next(human, public), k.File(human), older} {
		f, err := read(path)
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		key, err := k.unlock(ctx, f, human)
		if err != nil {
			return nil, err
		}
		if is, err := key.PublicKey(); err == nil && is == public {
			if path != k.File(human) {
				return key, k.take(human, path)
			}
			return key, nil
		}
	}
	return nil, control.Errorf(control.KindNotFound, "copy its file there from where it is kept; if it is lost, a human of the host that began the record revokes it: parley gates key revoke",
		"the key %s of %s is not in %s", short(public), human, k.dir)
}

// from returns the key with a public half from a file. If `path` is "", it is the file in the home.
func (k Keys) from(ctx context.Context, human protocol.Name, public, path string) (nkeys.KeyPair, error) {
	if path == "" {
		return k.Open(ctx, human, public)
	}
	f, err := read(path)
	if missing(err) {
		return nil, control.Errorf(control.KindNotFound, "", "there is no file %s", path)
	}
	if err != nil {
		return nil, err
	}
	key, err := k.unlock(ctx, f, human)
	if err != nil {
		return nil, err
	}
	if is, err := key.PublicKey(); err != nil || is != public {
		return nil, control.Errorf(control.KindRefused, "", "%s holds another key than %s, with which %s decides now", path, short(public), human)
	}
	return key, nil
}

// short is enough of a public key for people to recognize it.
func short(public string) string {
	if print, err := protocol.Fingerprint(public); err == nil {
		return print
	}
	return public
}

func (k Keys) unlock(ctx context.Context, f file, human protocol.Name) (nkeys.KeyPair, error) {
	if !f.locked() {
		return f.key("")
	}
	for n := range tries {
		words, err := k.ask(ctx, fmt.Sprintf("The passphrase of %s's key: ", human))
		if err != nil {
			return nil, err
		}
		key, err := f.key(words)
		if !errors.Is(err, errPassphrase) || n == tries-1 {
			if errors.Is(err, errPassphrase) {
				return nil, control.Errorf(control.KindRefused, "", "the key of %s stays shut: %v", human, err)
			}
			return key, err
		}
	}
	return nil, errPassphrase
}

// Passphrase gives a key another passphrase.
func (k Keys) Passphrase(ctx context.Context, human protocol.Name) error {
	f, err := read(k.File(human))
	switch {
	case missing(err):
		return control.Errorf(control.KindNotFound, "parley gates key add", "no key of %s is kept in %s", human, k.dir)
	case err != nil:
		return err
	case !f.locked():
		return control.Errorf(control.KindRefused, "parley gates key rotate", "the key of %s was kept without a passphrase: who has read it has it, so another key is needed", human)
	}
	key, err := k.unlock(ctx, f, human)
	if err != nil {
		return err
	}
	words, err := k.ask(ctx, "The new passphrase: ")
	if err != nil {
		return err
	}
	again, err := k.ask(ctx, "The same again: ")
	switch {
	case err != nil:
		return err
	case words == "" || words != again:
		return control.Errorf(control.KindUsage, "", "nothing was changed: the two were not the same, or empty")
	}
	data, err := sealed(key, words, k.work)
	if err == nil {
		err = durable.WriteFile(k.File(human), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot change the passphrase: %w", err)
	}
	return nil
}

// Sign returns the signature of a decision by the human of this host; "" if they have no key. The
// caller shows the decision before: a human must see what they sign.
func Sign(ctx context.Context, p *cli.Program, client control.Service, d protocol.HumanDecision) (string, error) {
	return (&Signer{}).Sign(ctx, p, client, d)
}

// Signer signs several decisions of one command. It asks for the passphrase once (R64).
type Signer struct {
	Path string // the file of the key; "": the file in the home

	public string // of the key that is open
	key    nkeys.KeyPair
}

// Sign returns the human's signature of a decision; "" if they have no key.
func (s *Signer) Sign(ctx context.Context, p *cli.Program, client control.Service, d protocol.HumanDecision) (string, error) {
	all, err := control.Humans.Ask(ctx, client, control.HumansRequest{})
	if err != nil {
		return "", err
	}
	for _, h := range all.Humans {
		if h.Name != all.Here || h.Host != all.Host || h.Key == "" {
			continue
		}
		if s.key == nil || s.public != h.Key {
			keys, err := Of(p)
			if err != nil {
				return "", err
			}
			if s.key, err = keys.from(ctx, h.Name, h.Key, s.Path); err != nil {
				return "", err
			}
			s.public = h.Key
		}
		d.RecordID, d.Human, d.Host = all.Record, h.Name, h.Host
		return d.Sign(s.key)
	}
	return "", nil
}

// Forget wipes the key that is open. The next decision asks for the passphrase again.
func (s *Signer) Forget() {
	if s.key != nil {
		s.key.Wipe()
		s.key = nil
	}
}

// Saw returns the human's signature of what they were shown of an asker, beside their signature of
// the decision; "" if they have no key.
func (s *Signer) Saw(a protocol.Asker, hsig string) (string, error) {
	if hsig == "" {
		return "", nil
	}
	saw := protocol.Sight{Seen: a.Text()}
	err := saw.Sign(s.key, hsig)
	return saw.Sig, err
}

// passphrase asks for a passphrase at the controlling terminal. The terminal does not show what is
// typed, and Esc leaves. An agent that calls is refused before: a person would type their passphrase in
// vain.
func passphrase(ctx context.Context, p *cli.Program, question string) (string, error) {
	if err := p.ForPerson("ask for a passphrase"); err != nil {
		return "", err
	}
	tty, err := p.Terminal()
	if err != nil {
		return "", control.Errorf(control.KindRefused, "run it at a terminal (ssh -t, docker exec -it)", "cannot ask for a passphrase: this command has no terminal")
	}
	defer tty.Close()
	var words string
	if term.IsTerminal(tty) {
		words, err = term.Hidden(ctx, tty, question)
	} else if _, err = io.WriteString(tty, question); err == nil {
		words, err = cli.Line(ctx, bufio.NewReader(tty))
		if words = strings.TrimRight(words, "\r\n"); words != "" {
			err = nil
		}
		_, _ = io.WriteString(tty, "\n")
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, term.ErrLeft):
		p.Err.Printf("nothing was done\n")
		return "", cli.ErrSaid
	case err != nil:
		return "", fmt.Errorf("cannot ask for a passphrase: %w", err)
	}
	return words, nil
}

// Shown checks the message that asks a human something. The node gives its file in base64, with its
// path and its hash. Shown reads the message from the file, and `check` compares it with what else
// the node tells. The key and the host of the asker must be those of the file too. A human must sign
// what they saw, whatever the node tells.
func Shown(path, hash, file string, asker protocol.Asker, check func(*protocol.Message) error) error {
	data, err := base64.StdEncoding.DecodeString(file)
	var p protocol.Path
	if err == nil {
		p, err = protocol.ParsePath(path)
	}
	if err == nil && protocol.Hash(data) != hash {
		err = errors.New("the file that the node shows is another one")
	}
	var m *protocol.Message
	if err == nil {
		m, err = protocol.Decode(p, data)
	}
	if err == nil {
		if print, _ := protocol.Fingerprint(m.Key); m.Host != asker.Host || asker.Key != "" && asker.Key != print {
			err = errors.New("the node names another asker than the one who signed the message")
		}
	}
	if err == nil {
		err = check(m)
	}
	if err != nil {
		return fmt.Errorf("cannot decide what cannot be checked: %w", err)
	}
	return nil
}
