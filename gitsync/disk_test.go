package gitsync

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// pacedMessage returns the n-th message of an agent: signed, some hundred bytes.
func pacedMessage(channel protocol.ChannelID, n int) MessageFile {
	at := time.Date(2026, 5, 23, 8, 0, 0, 0, time.UTC).Add(time.Duration(n) * 5 * time.Millisecond)
	prev, sig := sha256.Sum256(fmt.Append(nil, n)), sha512.Sum512(fmt.Append(nil, n))
	text := fmt.Sprintf("---\nfrom: mawjs\nto: [neo]\ntimestamp: %s\nhost: oracle-world\nrun: 1f2e3d4c\nseq: %d\nprev: %x\n"+
		"key: UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4\nsig: %s\n---\n\nhey neo, build %d is done and %d tests passed.\n",
		at.Format(time.RFC3339Nano), n, prev, base64.RawURLEncoding.EncodeToString(sig[:]), n, n*7)
	return MessageFile{Path: protocol.NewPath(channel, at, uint32(n)), Data: []byte(text)}
}

// repoSize returns the bytes of all files below a folder, and the number of packs.
func repoSize(t *testing.T, dir string) (size int64, packs int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed just now
		}
		if err != nil {
			return err
		}
		size += info.Size()
		if filepath.Ext(path) == ".pack" {
			packs++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return size, packs
}

// TestDiskBesideGitGc prevents that a record needs more than three times what git gc leaves,
// however the messages came.
func TestDiskBesideGitGc(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("thousands of commits: set PARLEY_SOAK=1")
	}
	for _, c := range []struct {
		name                      string
		messages, batch, channels int
	}{
		{"one per commit, one channel and day", 10_000, 1, 1},
		{"one per commit, 40 channels", 10_000, 1, 40},
		{"100 per commit", 100_000, 100, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHome(t, "a", "")
			start := time.Now()
			most := 0
			var messages []MessageFile
			for n := range c.messages {
				messages = append(messages, pacedMessage(testChannel[:34]+protocol.ChannelID(fmt.Sprintf("%02x", n%c.channels)), n))
				if len(messages) < c.batch {
					continue
				}
				h.append(t, messages...)
				if err := h.main.commit(t.Context(), true); err != nil {
					t.Fatal(err)
				}
				messages = nil
				if n%(100*c.batch) == 0 {
					_, packs := repoSize(t, h.repo())
					most = max(most, packs)
				}
			}
			took := time.Since(start)
			h.close(t)
			size, packs := repoSize(t, h.repo())
			copied := filepath.Join(t.TempDir(), "copy.git")
			if err := os.CopyFS(copied, os.DirFS(h.repo())); err != nil {
				t.Fatal(err)
			}
			gitOut(t, copied, "-c", "pack.threads=2", "repack", "-adfq") // as if git had made all deltas
			least, _ := repoSize(t, copied)
			t.Logf("%d messages in %s: %d bytes per message in %d packs (%d at most), %d after git: %.2f times",
				c.messages, took.Round(time.Millisecond), size/int64(c.messages), packs, most, least/int64(c.messages), float64(size)/float64(least))
			if size > 3*least {
				t.Errorf("%d bytes, git gc leaves %d", size, least)
			}
			if most > 50 {
				t.Errorf("%d packs", most)
			}
			wantClean(t, h.repo())
		})
	}
}
