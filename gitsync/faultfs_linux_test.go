package gitsync

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// faultFS is a file system that passes everything to a folder and fails when told. If an fsync
// fails, what it was to bring to the disk is lost, as the kernel loses it.
type faultFS struct {
	behind string // the folder

	busy sync.RWMutex // held for reading by what changes the folder, see copyTo

	mu     sync.Mutex // guards the fields below
	fail   func(op, path string) syscall.Errno
	synced map[string]int64 // how much of a file has been synced
	failed int
}

// The operations that can fail. All others only read.
const (
	opWrite  = "write"
	opSync   = "sync"
	opMake   = "make"   // a file or a folder
	opRemove = "remove" // or rename, or change
)

// mountFaults mounts a faultFS, and returns it and its place. Only root can do that.
func mountFaults(t *testing.T) (f *faultFS, at string) {
	t.Helper()
	needsRoot(t)
	f = &faultFS{behind: t.TempDir(), synced: map[string]int64{}}
	at = t.TempDir()
	var st syscall.Stat_t
	if err := syscall.Stat(f.behind, &st); err != nil {
		t.Fatal(err)
	}
	root := &fs.LoopbackRoot{Path: f.behind, Dev: uint64(st.Dev)}
	root.RootNode = &faultNode{LoopbackNode: &fs.LoopbackNode{RootData: root}, faults: f}
	second := time.Second
	server, err := fs.Mount(at, root.RootNode, &fs.Options{
		AttrTimeout: &second, EntryTimeout: &second, MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "parley-faults"},
	})
	if err != nil {
		t.Skipf("cannot mount a file system that fails when told: %v", err)
	}
	t.Cleanup(func() {
		f.failing(nil)
		if err := server.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return f, at
}

// needsRoot skips tests that mount file systems, unless root asked for them.
func needsRoot(t *testing.T) {
	t.Helper()
	if os.Getenv("PARLEY_ROOT_TESTS") == "" || os.Getuid() != 0 {
		t.Skip("needs root, to mount file systems: set PARLEY_ROOT_TESTS=1")
	}
}

// failing says what fails from now on. With nil, nothing fails.
func (f *faultFS) failing(fail func(op, path string) syscall.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail, f.failed = fail, 0
}

// count returns how often something failed since failing was called.
func (f *faultFS) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

func (f *faultFS) ask(op, path string) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail == nil {
		return 0
	}
	errno := f.fail(op, path)
	if errno != 0 {
		f.failed++
	}
	return errno
}

// sync notes that a file is on the disk or, with `lose`, loses what was not there yet.
func (f *faultFS) sync(path string, lose bool) error {
	file, err := os.OpenFile(filepath.Join(f.behind, path), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if size := info.Size(); lose && size > f.synced[path] {
		_, err = file.WriteAt(make([]byte, size-f.synced[path]), f.synced[path])
	} else {
		f.synced[path] = size
	}
	return err
}

// copyTo copies a part of the folder as it is at one moment.
func (f *faultFS) copyTo(t *testing.T, from, to string) {
	t.Helper()
	f.busy.Lock()
	defer f.busy.Unlock()
	if err := os.CopyFS(to, os.DirFS(filepath.Join(f.behind, from))); err != nil {
		t.Fatal(err)
	}
}

// faultNode is one file or folder of a faultFS.
type faultNode struct {
	*fs.LoopbackNode
	faults *faultFS
}

// WrapChild implements fs.NodeWrapChilder.
func (n *faultNode) WrapChild(_ context.Context, child fs.InodeEmbedder) fs.InodeEmbedder {
	return &faultNode{LoopbackNode: child.(*fs.LoopbackNode), faults: n.faults}
}

func (n *faultNode) at() string { return n.Path(n.Root()) }

// Write implements fs.NodeWriter.
func (n *faultNode) Write(ctx context.Context, f fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	n.faults.busy.RLock()
	defer n.faults.busy.RUnlock()
	if errno := n.faults.ask(opWrite, n.at()); errno != 0 {
		return 0, errno
	}
	return f.(fs.FileWriter).Write(ctx, data, off)
}

// Fsync implements fs.NodeFsyncer.
func (n *faultNode) Fsync(_ context.Context, _ fs.FileHandle, _ uint32) syscall.Errno {
	n.faults.busy.RLock()
	defer n.faults.busy.RUnlock()
	errno := n.faults.ask(opSync, n.at())
	if err := n.faults.sync(n.at(), errno != 0); err != nil && errno == 0 {
		return fs.ToErrno(err)
	}
	return errno
}

// Create implements fs.NodeCreater.
func (n *faultNode) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	n.faults.busy.RLock()
	defer n.faults.busy.RUnlock()
	path := filepath.Join(n.at(), name)
	if errno := n.faults.ask(opMake, path); errno != 0 {
		return nil, nil, 0, errno
	}
	n.faults.forget(path)
	child, f, more, errno := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	return child, watched(f), more, errno
}

func (f *faultFS) forget(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.synced, path)
}

// Open implements fs.NodeOpener.
func (n *faultNode) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	if flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		if errno := n.faults.ask(opMake, n.at()); errno != 0 {
			return nil, 0, errno
		}
	}
	f, more, errno := n.LoopbackNode.Open(ctx, flags)
	return watched(f), more, errno
}

// faultFile is an open file. Its writes come through here. Otherwise the kernel would pass them on
// by itself.
type faultFile struct{ *fs.LoopbackFile }

// PassthroughFd implements fs.FilePassthroughFder.
func (faultFile) PassthroughFd() (int, bool) { return 0, false }

func watched(f fs.FileHandle) fs.FileHandle {
	if file, ok := f.(*fs.LoopbackFile); ok {
		return faultFile{file}
	}
	return f
}

// faultDir is an open folder.
type faultDir struct {
	fs.FileReaddirenter
	fs.FileSeekdirer
	fs.FileReleasedirer
	node *faultNode
}

// Fsyncdir implements fs.FileFsyncdirer.
func (d faultDir) Fsyncdir(context.Context, uint32) syscall.Errno {
	return d.node.faults.ask(opSync, d.node.at())
}

// OpendirHandle implements fs.NodeOpendirHandler.
func (n *faultNode) OpendirHandle(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	f, more, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	return faultDir{f.(fs.FileReaddirenter), f.(fs.FileSeekdirer), f.(fs.FileReleasedirer), n}, more, 0
}

// Mkdir implements fs.NodeMkdirer.
func (n *faultNode) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.faults.busy.RLock()
	defer n.faults.busy.RUnlock()
	if errno := n.faults.ask(opMake, filepath.Join(n.at(), name)); errno != 0 {
		return nil, errno
	}
	return n.LoopbackNode.Mkdir(ctx, name, mode, out)
}

// Unlink implements fs.NodeUnlinker.
func (n *faultNode) Unlink(ctx context.Context, name string) syscall.Errno {
	n.faults.busy.RLock()
	defer n.faults.busy.RUnlock()
	if errno := n.faults.ask(opRemove, filepath.Join(n.at(), name)); errno != 0 {
		return errno
	}
	return n.LoopbackNode.Unlink(ctx, name)
}

// Rename implements fs.NodeRenamer.
func (n *faultNode) Rename(ctx context.Context, name string, to fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	n.faults.busy.RLock()
	defer n.faults.busy.RUnlock()
	from := filepath.Join(n.at(), name)
	if errno := n.faults.ask(opRemove, from); errno != 0 {
		return errno
	}
	errno := n.LoopbackNode.Rename(ctx, name, to, newName, flags)
	if errno == 0 {
		n.faults.mu.Lock()
		n.faults.synced[filepath.Join(to.(*faultNode).at(), newName)] = n.faults.synced[from]
		delete(n.faults.synced, from)
		n.faults.mu.Unlock()
	}
	return errno
}

// Setattr implements fs.NodeSetattrer.
func (n *faultNode) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.faults.busy.RLock()
	defer n.faults.busy.RUnlock()
	if errno := n.faults.ask(opRemove, n.at()); errno != 0 {
		return errno
	}
	return n.LoopbackNode.Setattr(ctx, f, in, out)
}

// within returns a function that reports whether a path is one of the names. A name with "*" at its
// end stands for all paths that begin with the rest.
func within(names ...string) func(path string) bool {
	return func(path string) bool {
		for _, name := range names {
			prefix, open := strings.CutSuffix(name, "*")
			if path == name || open && strings.HasPrefix(path, prefix) {
				return true
			}
		}
		return false
	}
}
