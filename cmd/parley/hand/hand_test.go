package hand

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
)

// keysIn returns keys in a folder, with answers to what they ask.
func keysIn(t *testing.T, answers ...string) Keys {
	t.Helper()
	return Keys{dir: filepath.Join(t.TempDir(), "humans"), work: 1, ask: func(context.Context, string) (string, error) {
		if len(answers) == 0 {
			return "", errors.New("nobody answers")
		}
		answer := answers[0]
		answers = answers[1:]
		return answer, nil
	}}
}

func (k Keys) answering(answers ...string) Keys {
	k.ask = func(context.Context, string) (string, error) {
		if len(answers) == 0 {
			return "", errors.New("nobody answers")
		}
		answer := answers[0]
		answers = answers[1:]
		return answer, nil
	}
	return k
}

// made makes a key and returns its public half.
func made(t *testing.T, k Keys, open bool) string {
	t.Helper()
	key, err := k.Make(t.Context(), "nat", open)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// It prevents: a key whose passphrase nobody knows because a slip was taken, a key that others can
// read, and a key that is lost because the program ended before the fleet knew of it.
func TestAKeyIsKeptUnderItsPassphrase(t *testing.T) {
	k := keysIn(t, "a slip", "other", "correct", "correct")
	public := made(t, k, false)
	if info, err := os.Stat(k.next("nat", public)); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if _, err := k.answering("wrong", "wrong", "wrong").Open(t.Context(), "nat", public); err == nil || !strings.Contains(err.Error(), "not its passphrase") {
		t.Errorf("with wrong ones: %v", err)
	}
	key, err := k.answering("wrong", "correct").Open(t.Context(), "nat", public) // the fleet knows the key, though Made was never called
	if err != nil {
		t.Fatal(err)
	}
	if is, _ := key.PublicKey(); is != public {
		t.Errorf("it is %s, want %s", is, public)
	}
	if _, err := os.Stat(k.next("nat", public)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the key that became theirs was left beside: %v", err)
	}
	if err := k.answering("correct", "new", "new").Passphrase(t.Context(), "nat"); err != nil {
		t.Fatal(err)
	}
	if _, err := k.answering("correct", "new").Open(t.Context(), "nat", public); err != nil {
		t.Errorf("with the new one: %v", err)
	}
	if err := k.answering("new", "one", "another").Passphrase(t.Context(), "nat"); err == nil {
		t.Error("two different ones were taken")
	}
}

// It prevents: a change of key that did not reach the fleet takes away the key that counts.
func TestAKeyThatNobodyKnowsIsNotTaken(t *testing.T) {
	k := keysIn(t, "one", "one")
	old := made(t, k, false)
	if err := k.Made("nat", old); err != nil {
		t.Fatal(err)
	}
	next := made(t, k.answering("two", "two"), false)
	if _, err := k.answering("one").Open(t.Context(), "nat", old); err != nil {
		t.Errorf("the old key: %v", err)
	}
	if _, err := k.answering("two").Open(t.Context(), "nat", next); err != nil { // now the fleet knows the next key
		t.Errorf("the next key: %v", err)
	}
	if _, err := k.answering("two").Open(t.Context(), "nat", old); err == nil {
		t.Error("the old key is there still")
	}
}

// It prevents: a command whose answer did not come is given up and run again, the node tells the
// fleet of the first key after all, and that key was thrown away.
func TestTheFirstOfTwoKeysIsKept(t *testing.T) {
	k := keysIn(t)
	first := made(t, k, true)
	made(t, k, true)
	if _, err := k.Open(t.Context(), "nat", first); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(k.File("nat")); err != nil {
		t.Error(err)
	}
}

// It prevents: a key that an earlier version kept until the fleet knew it is not found any more.
func TestAKeyOfAnEarlierVersion(t *testing.T) {
	k := keysIn(t)
	public := made(t, k, true)
	if err := os.Rename(k.next("nat", public), k.File("nat")+".next"); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Open(t.Context(), "nat", public); err != nil {
		t.Error(err)
	}
}

// It prevents: a passphrase is asked for a key that has none, or is given to an open key, where it
// protects nothing.
func TestAnOpenKey(t *testing.T) {
	k := keysIn(t)
	public := made(t, k, true)
	if _, err := k.Open(t.Context(), "nat", public); err != nil {
		t.Fatal(err)
	}
	if err := k.Passphrase(t.Context(), "nat"); err == nil || !strings.Contains(err.Error(), "another key is needed") {
		t.Errorf("a passphrase: %v", err)
	}
	if _, err := keysIn(t, "", "").Make(t.Context(), "nat", false); err == nil {
		t.Error("an empty passphrase was taken")
	}
}

// It prevents: a crash at a file that is no key.
func FuzzFile(f *testing.F) {
	f.Add([]byte("SUAAA"), "x")
	f.Add([]byte("-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n-----END AGE ENCRYPTED FILE-----\n"), "x")
	f.Fuzz(func(t *testing.T, data []byte, passphrase string) {
		if strings.Contains(string(data), "scrypt") {
			return // how much work that is, the file says
		}
		if key, err := (file{"x", data}).key(passphrase); err == nil && key == nil {
			t.Error("neither a key nor an error")
		}
	})
}

// It prevents: a program that was made in the usual way seals keys with as little work as tests do.
// Somebody who has the file could then try many passphrases a second.
func TestEachTryAtAPassphraseIsWork(t *testing.T) {
	home := t.TempDir()
	p := cli.New(nil, io.Discard, io.Discard, func(name string) string { return map[string]string{"PARLEY_HOME": home}[name] })
	k, err := Of(p)
	if err != nil || k.work != workFactor || workFactor < 18 {
		t.Errorf("a passphrase costs 2^%d, %v, want 2^%d", k.work, err, workFactor)
	}
}
