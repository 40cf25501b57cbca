// Package hand holds the keys with which humans sign decisions, at the terminal where they sit
// (R35). No node ever has such a key: a node gets only the public halves.
package hand

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"github.com/nats-io/nkeys"
)

// maxFile is how many bytes of a key's file are read at most.
const maxFile = 64 << 10

// errPassphrase says that a key could not be opened with what was typed.
var errPassphrase = errors.New("that is not its passphrase")

// file is the private half of a key as it is kept: a text that age has encrypted or, if the key is
// open, the seed itself.
type file struct {
	path string
	data []byte
}

// read reads a key's file. The error is fs.ErrNotExist if there is none.
func read(path string) (file, error) {
	f, err := os.Open(path)
	if err != nil {
		return file{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it has more than %d bytes", maxFile)
	}
	if err != nil {
		return file{}, fmt.Errorf("cannot read the key in %s: %w", path, err)
	}
	return file{path, data}, nil
}

func (f file) locked() bool { return bytes.HasPrefix(f.data, []byte(armor.Header)) }

// key opens the file. If the key is open, `passphrase` is ignored.
func (f file) key(passphrase string) (nkeys.KeyPair, error) {
	seed := f.data
	if f.locked() {
		identity, err := age.NewScryptIdentity(passphrase)
		if err != nil {
			return nil, errPassphrase
		}
		plain, err := age.Decrypt(armor.NewReader(bytes.NewReader(f.data)), identity)
		if wrong := new(age.NoIdentityMatchError); errors.As(err, &wrong) {
			return nil, errPassphrase
		}
		if err == nil {
			seed, err = io.ReadAll(io.LimitReader(plain, maxFile))
		}
		if err != nil {
			return nil, fmt.Errorf("cannot open the key in %s: %w", f.path, err)
		}
	}
	key, err := nkeys.FromSeed([]byte(strings.TrimSpace(string(seed))))
	if err == nil {
		public := ""
		if public, err = key.PublicKey(); err == nil && !nkeys.IsValidPublicUserKey(public) {
			err = errors.New("it is of another kind")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s holds no key of a human: %w", f.path, err)
	}
	return key, nil
}

// workFactor is how much work each try at a passphrase takes: 2 to the power of workFactor rounds
// of scrypt, which is about a second of processor time.
const workFactor = 18

// sealed is the text in which a key is kept, encrypted with a passphrase. If the passphrase is "",
// the key is open.
func sealed(key nkeys.KeyPair, passphrase string, work int) ([]byte, error) {
	seed, err := key.Seed()
	if err != nil {
		return nil, fmt.Errorf("cannot keep the key: %w", err)
	}
	seed = append(seed, '\n')
	if passphrase == "" {
		return seed, nil
	}
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return nil, fmt.Errorf("cannot keep the key: %w", err)
	}
	recipient.SetWorkFactor(work)
	var b bytes.Buffer
	text := armor.NewWriter(&b)
	w, err := age.Encrypt(text, recipient)
	if err == nil {
		_, err = w.Write(seed)
	}
	if err == nil {
		err = errors.Join(w.Close(), text.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("cannot keep the key: %w", err)
	}
	return b.Bytes(), nil
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
