// Package release finds releases of parley, downloads the program of one with its checksum compared,
// and puts it in place of the one that is there. install.sh does the same for a first time, from the
// same files.
package release

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// Usual is where the releases of parley are.
	Usual = "https://github.com/parleyfleet/parley/releases"
	// largest is how many bytes an archive, and the program in it, may have.
	largest = 256 << 20
	// patience is how long a download may take in all.
	patience = 10 * time.Minute
)

// Release is a version that can be downloaded.
type Release struct {
	Version string
	base    string
	sums    map[string]string // of its archives, by name
}

var sumLine = regexp.MustCompile(`^([0-9a-f]{64})  (parley_(\d+\.\d+\.\d+)_[a-z0-9]+_[a-z0-9]+\.(?:tar\.gz|zip))$`)

// Newest asks for the newest release at a base, such as Usual.
func Newest(ctx context.Context, base string) (Release, error) {
	r := Release{base: strings.TrimRight(base, "/"), sums: map[string]string{}}
	list, err := get(ctx, r.base+"/latest/download/checksums.txt", 1<<20)
	if err != nil {
		return r, err
	}
	for s := bufio.NewScanner(bytes.NewReader(list)); s.Scan(); {
		if m := sumLine.FindStringSubmatch(s.Text()); m != nil && (r.Version == "" || r.Version == m[3]) {
			r.Version, r.sums[m[2]] = m[3], m[1]
		}
	}
	if r.Version == "" {
		return r, fmt.Errorf("%s/latest/download/checksums.txt names no archive of parley", r.base)
	}
	return r, nil
}

// Program downloads the program for a system and a processor, as Go names them. What is not as the
// list of checksums says is no program.
func (r Release) Program(ctx context.Context, system, processor string) ([]byte, error) {
	name := fmt.Sprintf("parley_%s_%s_%s.tar.gz", r.Version, system, processor)
	unpack := fromTar
	if system == "windows" {
		name, unpack = strings.TrimSuffix(name, "tar.gz")+"zip", fromZip
	}
	want, ok := r.sums[name]
	if !ok {
		return nil, fmt.Errorf("release %s has no program for %s on %s", r.Version, system, processor)
	}
	archive, err := get(ctx, r.Address(name), largest)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(archive); hex.EncodeToString(got[:]) != want {
		return nil, fmt.Errorf("%s is not what the release says: its SHA-256 is %x, and should be %s", name, got, want)
	}
	program, err := unpack(archive)
	if err != nil {
		return nil, fmt.Errorf("cannot unpack %s: %w", name, err)
	}
	return program, nil
}

// Address is where a file of the release is.
func (r Release) Address(name string) string { return r.base + "/download/v" + r.Version + "/" + name }

// get downloads a file of at most `most` bytes, whole or not at all.
func get(ctx context.Context, address string, most int64) ([]byte, error) {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := (&http.Client{CheckRedirect: staysEncrypted}).Do(ask)
	if err != nil {
		return nil, unreached(address, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, answer.Status)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("the download of %s was cut off", address)
	case err != nil:
		return nil, fmt.Errorf("cannot download %s: %w", address, err)
	case int64(len(data)) > most:
		return nil, fmt.Errorf("%s has more than %d MiB", address, most>>20)
	}
	return data, nil
}

// unreached says in plain words why nothing came from an address.
func unreached(address string, err error) error {
	var lookup *net.DNSError
	var at *url.Error
	switch {
	case errors.As(err, &lookup):
		return fmt.Errorf("the name %s is not found", lookup.Name)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &at) && at.Timeout():
		return fmt.Errorf("%s does not answer", address)
	case errors.As(err, &at):
		err = at.Err
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner // what the system says
	}
	return fmt.Errorf("%s is not reached: %w", address, err)
}

// staysEncrypted refuses to be led from an encrypted address to one that is not: there anybody on the
// way could answer, also with the list of checksums.
func staysEncrypted(next *http.Request, before []*http.Request) error {
	switch {
	case before[0].URL.Scheme == "https" && next.URL.Scheme != "https":
		return errors.New("it leads to an address without encryption")
	case len(before) > 9:
		return errors.New("it leads on and on")
	}
	return nil
}

var errNone = errors.New("there is no parley in it")

func fromTar(archive []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, errNone
		case err != nil:
			return nil, err
		case h.Name == "parley" && h.Typeflag == tar.TypeReg:
			return whole(t)
		}
	}
}

func fromZip(archive []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	f, err := z.Open("parley.exe")
	if err != nil {
		return nil, errNone
	}
	defer f.Close()
	return whole(f)
}

// whole is a program from an archive, which may say nothing of how long it is.
func whole(r io.Reader) ([]byte, error) {
	program, err := io.ReadAll(io.LimitReader(r, largest+1))
	if err == nil && len(program) > largest {
		return nil, fmt.Errorf("the program in it has more than %d MiB", largest>>20)
	}
	return program, err
}

// Newer reports whether a version is newer than another. Both are three numbers; what follows them,
// as in 0.2.0-rc1, comes before the version without it.
func Newer(a, b string) bool {
	numbers, early := parsed(a)
	others, earlier := parsed(b)
	if c := slices.Compare(numbers, others); c != 0 {
		return c > 0
	}
	return !early && earlier
}

func parsed(version string) (numbers []int, early bool) {
	plain, _, early := strings.Cut(version, "-")
	for _, word := range strings.Split(plain, ".") {
		n, _ := strconv.Atoi(word) // what is no number is older than any
		numbers = append(numbers, n)
	}
	return numbers, early
}
