package protocol

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// Signature is the state of a message's signature.
type Signature string

// The three states. An unverified message is mail like any other, but it never passes a gate. A
// refused one is counted and shown, and never acted on.
const (
	SignatureValid      Signature = "valid"
	SignatureUnverified Signature = "unverified"
	SignatureRefused    Signature = "refused"
)

// Doubts say, in a word each, why the author of a message may be another one than it says: its
// signature, or that its host could not tell which program wrote it in that name.
func Doubts(s Signature, unattended bool) (words []string) {
	if s != SignatureValid {
		words = append(words, string(s))
	}
	if unattended {
		words = append(words, "unattended")
	}
	return words
}

const (
	messageContext = "parley-v1"
	letterContext  = "parley-letter-v1"
)

// Sign encodes `m` with the public key and the signature of `key`, for the record whose id is
// recordID. It returns the bytes of the file, and sets m.Key and m.Sig.
func Sign(m *Message, recordID string, key nkeys.KeyPair) ([]byte, error) {
	public, err := key.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("cannot sign the message: %w", err)
	}
	m.Key, m.Sig = public, ""
	unsigned, err := Encode(m)
	if err != nil {
		return nil, err
	}
	if m.Sig, err = signText(key, signedBytes(recordID, m.Path, unsigned)); err != nil {
		return nil, err
	}
	file, err := withSig(unsigned, m.Sig)
	if err == nil {
		err = checkWhole(file)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write the message: %w", err)
	}
	return file, nil
}

// checkWhole returns an error if the last line, with the signature, has made a file too long for a
// reader.
func checkWhole(file []byte) error {
	if len(file) > MaxFile {
		return fmt.Errorf("it would have more than %d bytes", MaxFile)
	}
	_, _, err := split(file)
	return err
}

// withSig adds the signature to a file that Encode wrote without one, as Encode would
// have written it.
func withSig(unsigned []byte, sig string) ([]byte, error) {
	front, _, err := split(unsigned)
	if err != nil {
		return nil, err
	}
	end := bytes.Index(unsigned, front) + len(front)
	return slices.Concat(unsigned[:end], []byte("sig: "+Quote(sig)+"\n"), unsigned[end:]), nil
}

// CheckSignature checks the signature in `data`, the file from which `m` was decoded, for the
// record whose id is recordID. It says whether the holder of m.Key signed these bytes for this
// path. It does not say whether that key belongs to m.Host: the fleet does. With SignatureRefused
// comes the reason.
func CheckSignature(m *Message, recordID string, data []byte) (Signature, error) {
	if m.Sig == "" && m.Key == "" {
		return SignatureUnverified, nil
	}
	unsigned, ok := withoutSig(data, m.Sig)
	if !ok || m.Sig == "" || m.Key == "" {
		return SignatureRefused, errors.New("key and sig do not both stand there, sig as the last field and as parley writes it")
	}
	if err := verify(m.Key, m.Sig, signedBytes(recordID, m.Path, unsigned)); err != nil {
		return SignatureRefused, err
	}
	if m.Host == "" || m.Run == "" || m.Seq == 0 {
		return SignatureRefused, errors.New("a signed message lacks its host, run or seq")
	}
	return SignatureValid, nil
}

func verify(key, sig string, signed []byte) error {
	if !nkeys.IsValidPublicUserKey(key) {
		return fmt.Errorf("key %q is not a public nkey", key)
	}
	raw, err := base64.RawURLEncoding.DecodeString(sig)
	if err != nil || base64.RawURLEncoding.EncodeToString(raw) != sig {
		return errors.New("the signature is not base64url in its one right form")
	}
	public, err := nkeys.FromPublicKey(key)
	if err != nil {
		return fmt.Errorf("key %q is not a public nkey", key)
	}
	if err := public.Verify(signed, raw); err != nil {
		return errors.New("the signature does not fit the bytes, the path or the record")
	}
	return nil
}

// signedBytes is what a signature covers. This includes the record and the place of the file, so
// that nobody can put the file elsewhere.
func signedBytes(recordID string, p Path, unsigned []byte) []byte {
	head := messageContext + "\n" + recordID + "\n" + p.String() + "\n"
	return append([]byte(head), unsigned...)
}

// withoutSig removes the last line of the frontmatter if it is the signature as Encode writes it.
// The line itself is not signed. So any other form of it would make a second valid file of the
// same message.
func withoutSig(data []byte, sig string) ([]byte, bool) {
	front, _, err := split(data)
	if err != nil {
		return nil, false
	}
	start := bytes.Index(data, front)
	last := start + bytes.LastIndexByte(bytes.TrimSuffix(front, []byte("\n")), '\n') + 1
	end := start + len(front)
	if string(data[last:end]) != "sig: "+Quote(sig)+"\n" {
		return nil, false
	}
	return append(bytes.Clone(data[:last]), data[end:]...), true
}

// Letter is what nodes say to each other that is no message: presence, heard, head, bell, and
// questions with their answers. It is signed, because the permissions of a bus guard only the first
// hop.
type Letter struct {
	Subject string    // the subject on which it is published; of an answer, the subject of its question
	Host    Name      // the sender
	Key     string    // public nkey of the sender
	Time    time.Time // UTC, kept to the millisecond
	Re      string    // of an answer: the signature of its question; of a question: the subject for its answer
	Sig     string    // base64url
	Data    []byte
}

// Seal signs `l` with `key` for the record whose id is recordID.
func (l *Letter) Seal(recordID string, key nkeys.KeyPair) error {
	public, err := key.PublicKey()
	if err != nil {
		return fmt.Errorf("cannot sign the letter: %w", err)
	}
	l.Key = public
	l.Sig, err = signText(key, l.signed(recordID))
	return err
}

// Open checks that the holder of l.Key signed `l` for the record whose id is recordID. It does not
// check whether the key belongs to l.Host: the fleet does.
func (l *Letter) Open(recordID string) error {
	if strings.Contains(l.Subject+l.Re, "\n") { // a line end would make one part of the signed text run into the next
		return errors.New("the letter's subject or re holds a line end")
	}
	return verify(l.Key, l.Sig, l.signed(recordID))
}

func (l *Letter) signed(recordID string) []byte {
	head := letterContext + "\n" + recordID + "\n" + l.Subject + "\n" + l.Host.String() + "\n" +
		l.Time.UTC().Format(TimestampLayout) + "\n" + l.Re + "\n"
	return append([]byte(head), l.Data...)
}

// Fingerprint is a public nkey in the short form that people compare by eye or by telephone:
// "SHA256:" and the unpadded base64 of the SHA-256 of the 32 bytes of the ed25519 key. It returns
// an error for text that decodes to a key but is not the usual spelling of that key.
func Fingerprint(publicKey string) (string, error) {
	raw, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(publicKey))
	if err == nil && len(raw) == ed25519.PublicKeySize {
		if text, err := nkeys.Encode(nkeys.PrefixByteUser, raw); err == nil && string(text) == publicKey {
			sum := sha256.Sum256(raw)
			return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:]), nil
		}
	}
	return "", fmt.Errorf("cannot take the fingerprint of %q: it is no public user nkey", publicKey)
}
