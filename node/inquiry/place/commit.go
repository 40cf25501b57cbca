package place

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/internal/environ"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/redact"
)

// splitCommit splits REPOSITORY@COMMIT. The @ of user@host comes before the path, and begins no
// commit. The commit is HEAD if none is named.
func splitCommit(in string) (repo, commit string) {
	i := strings.LastIndexByte(in, '@')
	if i < 0 {
		return in, "HEAD"
	}
	_, rest, isURL := strings.Cut(in[:i], "://")
	if isURL && !strings.Contains(rest, "/") || !isURL && !strings.ContainsAny(in[:i], `/\:`) {
		return in, "HEAD"
	}
	return in[:i], in[i+1:]
}

// takeCommit copies the files of a commit, and returns `in` with the whole name of the commit.
func (a Ask) takeCommit(ctx context.Context, to, git string) (whole string, err error) {
	repo, commit := splitCommit(a.In)
	switch err := gitremote.Check(repo); {
	case err != nil:
		return "", fmt.Errorf("it is neither a folder nor REPOSITORY@COMMIT: %w", err)
	case gitremote.HasPassword(repo) || gitremote.HasQuery(repo):
		return "", fmt.Errorf("the address %s holds a password, and would be in the record", redact.Remote(repo))
	}
	if folder := gitremote.Folder(repo); folder != "" {
		if plain, err := url.PathUnescape(folder); err == nil && strings.HasPrefix(repo, "file:") {
			folder = plain // git takes it for the same
		}
		if err := a.nearHome(folder); err != nil {
			return "", err
		}
	}
	if err := os.Mkdir(git, private); err != nil {
		return "", err
	}
	if err := clone(ctx, repo, git); err != nil {
		return "", fmt.Errorf("cannot clone %s: %w", repo, err)
	}
	commit, err = takeRevision(ctx, repo, commit, git, to)
	return repo + "@" + commit, err
}

func clone(ctx context.Context, repo, git string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	looks := time.NewTicker(100 * time.Millisecond)
	defer looks.Stop()
	ended := make(chan error, 1)
	go func() {
		_, err := RunGit(ctx, git, "clone", "--quiet", "--bare", "--", repo, ".")
		ended <- err
	}()
	for {
		select {
		case err := <-ended:
			return cmp.Or(context.Cause(ctx), err)
		case <-looks.C:
			if sizeOf(git) > maxCloned {
				stop(fmt.Errorf("it has more than %d MiB", maxCloned>>20))
			}
		}
	}
}

// sizeOf is how many bytes the files below a folder have that can be seen now.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // it is gone already
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// takeRevision copies the files of a commit of the repository in `git`, and returns the whole name
// of the commit. It reads them from git's objects. A work tree is no use: laying it out could run
// filters of the user's settings, and would give other files on another machine.
func takeRevision(ctx context.Context, repo, commit, git, to string) (whole string, err error) {
	if commit == "" || strings.HasPrefix(commit, "-") {
		return "", fmt.Errorf("%q names no commit", commit)
	}
	out, err := RunGit(ctx, git, "--git-dir=.", "rev-parse", "--verify", "--quiet", "--end-of-options", commit+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%s has no commit %s", repo, commit)
	}
	commit = strings.TrimSpace(string(out))
	var blobs []blob
	err = ReadGit(ctx, git, func(list io.Reader) (err error) {
		blobs, err = readTree(list)
		return err
	}, "--git-dir=.", "ls-tree", "-r", "-t", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return "", fmt.Errorf("cannot take the commit %s: %w", commit, err)
	}
	if err := takeBlobs(ctx, git, blobs, to); err != nil {
		return "", fmt.Errorf("cannot take the commit %s: %w", commit, err)
	}
	return commit, nil
}

type blob struct {
	name    string
	object  string // its hash in git
	size    int64
	program bool
}

// Bounds of the list of a commit's files, in bytes. A few small trees that name each other can stand
// for any number of files and folders.
const (
	maxEntry   = 4 << 10
	maxListing = 32 << 20
)

// readTree reads what git ls-tree prints with -l and -z, until it is too much. It leaves out links
// and other repositories, as takeFolder does.
func readTree(list io.Reader) (blobs []blob, err error) {
	left, listed := newBounds(), 0
	r := bufio.NewReaderSize(list, maxEntry)
	for {
		line, err := r.ReadSlice(0)
		if err == io.EOF && len(line) == 0 { // after the last one
			break
		}
		listed += len(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return nil, told{fmt.Errorf("a name of more than %d bytes: name a part of it", maxEntry)}
		case err != nil && err != io.EOF:
			return nil, err
		case listed > maxListing:
			return nil, told{fmt.Errorf("more than %d MiB of names: name a part of it", maxListing>>20)}
		}
		entry := strings.TrimSuffix(string(line), "\x00")
		head, name, ok := strings.Cut(entry, "\t")
		words := strings.Fields(head) // mode, type, hash and size
		if !ok || len(words) != 4 {
			return nil, fmt.Errorf("git lists %q", entry)
		}
		if words[1] != "blob" || words[0] != "100644" && words[0] != "100755" || !plainName(filepath.FromSlash(name)) {
			continue
		}
		size, err := strconv.ParseInt(words[3], 10, 64)
		if err != nil || size < 0 {
			return nil, fmt.Errorf("git lists %q", entry)
		}
		if err := left.take(size); err != nil {
			return nil, err
		}
		blobs = append(blobs, blob{filepath.FromSlash(name), words[2], size, words[0] == "100755"})
	}
	if len(blobs) == 0 {
		return nil, errors.New("it has no files")
	}
	return blobs, nil
}

func takeBlobs(ctx context.Context, repo string, blobs []blob, to string) error {
	var ask strings.Builder
	for _, b := range blobs {
		fmt.Fprintln(&ask, b.object)
	}
	cmd := Git(ctx, repo, "--git-dir=.", "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(ask.String())
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	r := bufio.NewReader(out)
	for _, b := range blobs {
		if err = takeBlob(r, b, to); err != nil {
			_ = cmd.Process.Kill()
			break
		}
	}
	return errors.Join(err, cmd.Wait())
}

// takeBlob copies one file as git cat-file writes it: with a line before it and a newline after it.
func takeBlob(r *bufio.Reader, b blob, to string) error {
	head, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	if head != fmt.Sprintf("%s blob %d\n", b.object, b.size) {
		return fmt.Errorf("git gives %q for %s", head, b.name)
	}
	if err := writeOnly(filepath.Join(to, b.name), io.LimitReader(r, b.size), b.program); err != nil {
		return err
	}
	_, err = r.Discard(1)
	return err
}

// maxAlloc bounds what git takes of memory at once, in bytes: a small object can unfold to more than
// there is.
const maxAlloc = 2 * maxBytes

// maxSaid bounds what git says of what is wrong, in bytes.
const maxSaid = 4 << 10

// RunGit runs git in a folder (see Git), and returns what git prints. An error is the first line of
// what git says about it.
func RunGit(ctx context.Context, dir string, args ...string) (out []byte, err error) {
	err = ReadGit(ctx, dir, func(r io.Reader) (err error) {
		if out, err = io.ReadAll(io.LimitReader(r, maxListing+1)); len(out) > maxListing {
			err = fmt.Errorf("git prints more than %d MiB", maxListing>>20)
		}
		return err
	}, args...)
	return out, err
}

// ReadGit is RunGit for output that may be long: `read` reads it while git prints it. If `read`
// returns an error, git is ended.
func ReadGit(ctx context.Context, dir string, read func(io.Reader) error, args ...string) error {
	cmd := Git(ctx, dir, args...)
	var said beginning
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	unread := read(out)
	if unread != nil {
		_ = cmd.Process.Kill()
	}
	err = cmd.Wait()
	if ctx.Err() != nil { // it was ended, and what was read is not all
		return context.Cause(ctx)
	}
	if line, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n"); err != nil && unread == nil && line != "" {
		err = errors.New(line)
	}
	return cmp.Or(unread, err)
}

// beginning keeps the first maxSaid bytes that are written to it.
type beginning []byte

func (b *beginning) Write(p []byte) (int, error) {
	*b = append(*b, p[:min(len(p), maxSaid-len(*b))]...)
	return len(p), nil
}

// Git is a command of git in a folder. Its settings make sure that it starts no program that the
// folder names, asks no question that nobody sees, and uses no other repository. Only clone reaches
// other repositories.
func Git(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-C", dir}, args...)...)
	cmd.Cancel = func() error { // git removes what it has begun, and ends its own programs
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return cmd.Process.Kill() // Windows knows nothing else
		}
		return nil
	}
	cmd.WaitDelay = 5 * time.Second
	elsewhere := []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_PREFIX"}
	for _, kv := range environ.Clean(os.Environ()) {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(elsewhere, name) {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	protocols := ""
	if args[0] == "clone" {
		protocols = "file:git:http:https:ssh" // but no program that an address names
		if os.Getenv("GIT_SSH") == "" && os.Getenv("GIT_SSH_COMMAND") == "" && exec.CommandContext(ctx, "git", "config", "--get", "core.sshCommand").Run() != nil {
			cmd.Env = append(cmd.Env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
		}
	}
	cmd.Env = append(cmd.Env, gitremote.AsksNobody()...)
	cmd.Env = append(cmd.Env, "GIT_ALLOW_PROTOCOL="+protocols, "LC_ALL=C", fmt.Sprint("GIT_ALLOC_LIMIT=", maxAlloc))
	return cmd
}
