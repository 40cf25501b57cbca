package carrier

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/size"
	"github.com/parleyfleet/parley/internal/span"
)

// Dial reaches another host, which has said yes to the request when it returns. What follows is git's
// protocol, or an answer of ours.
type Dial func(ctx context.Context, host string, r Request) (io.ReadWriteCloser, error)

// Request is what is asked of another host: the first line, in JSON.
type Request struct {
	Service  string `json:"service"`            // ServiceFetch, ServicePush or ServicePoints
	Record   bool   `json:"record,omitempty"`   // of that host's own record, instead of the repository that the fleet shares
	Protocol string `json:"protocol,omitempty"` // git's GIT_PROTOCOL
	Have     string `json:"have,omitempty"`     // for ServicePoints: the commit that is here already; "": none
}

// The services that a host asks of another one.
const (
	ServiceFetch  = "git-upload-pack"
	ServicePush   = "git-receive-pack"
	ServicePoints = "points" // the commits at which a large fetch may rest: a hash a line, the oldest first
)

const (
	// mostCarried bounds what one connection may bring, in bytes. A large record comes in several.
	mostCarried  = 1 << 30
	mostAnswered = 16 << 20         // the same, of what answers a push
	maxAsked     = 1 << 10          // bytes of the line in which git asks
	askedWithin  = 10 * time.Second // git asks at once
	pointsWait   = pointsIn + 10*time.Second
)

// tunnel lets git reach another host by its own protocol: git connects to a port on the loopback, and
// its bytes pass over a connection of ours. The URL of that port has a secret, so that nobody else on
// this machine speaks in the name of this host. Git is told the URL in its environment, which only the
// same user can read.
type tunnel struct {
	host, url string
	record    bool
	dial      Dial
	listener  net.Listener
	ctx       context.Context
	end       context.CancelFunc
	work      sync.WaitGroup

	mu     sync.Mutex // guards failed
	failed error      // why the other host could not be reached, or was cut off
}

func openTunnel(ctx context.Context, host string, record bool, dial Dial) (*tunnel, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("%w: cannot listen for git on this machine: %w", ErrRemote, err)
	}
	t := &tunnel{host: host, record: record, dial: dial, listener: l, url: "git://" + l.Addr().String() + "/" + rand.Text()}
	t.ctx, t.end = context.WithCancel(ctx)
	context.AfterFunc(t.ctx, func() { _ = l.Close() })
	t.work.Go(func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.work.Go(func() { t.serve(conn) })
		}
	})
	return t, nil
}

// close ends the tunnel, and returns why it has failed.
func (t *tunnel) close() error {
	t.end()
	t.work.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// environment tells git where to find the remote `name`.
func (t *tunnel) environment(name string) []string {
	return []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + t.url + ".insteadOf", "GIT_CONFIG_VALUE_0=" + name}
}

func (t *tunnel) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failed == nil && t.ctx.Err() == nil {
		t.failed = err
	}
}

// serve carries what git says on one connection.
func (t *tunnel) serve(conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(t.ctx, func() { _ = conn.Close() })()
	_ = conn.SetDeadline(time.Now().Add(askedWithin))
	in := bufio.NewReader(conn)
	r, ok := t.asked(in)
	if !ok || conn.SetDeadline(time.Time{}) != nil {
		return
	}
	far, err := t.dial(t.ctx, t.host, r)
	if err != nil {
		t.fail(fmt.Errorf("%w: %w", ErrRemote, err))
		said := "ERR " + OneLine(err.Error()) // in git's protocol: our own carrier would wait for more
		_, _ = fmt.Fprintf(conn, "%04x%s", len("0000")+len(said), said)
		return
	}
	defer far.Close()
	defer context.AfterFunc(t.ctx, func() { _ = far.Close() })()
	t.work.Go(func() { // ends with either connection
		_, _ = io.Copy(far, in)
		if half, ok := far.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	})
	most := int64(mostCarried)
	if r.Service == ServicePush {
		most = mostAnswered
	}
	if n, _ := io.Copy(conn, io.LimitReader(far, most)); n == most {
		t.fail(fmt.Errorf("%w: %s sends more than %s at once", objects.ErrHuge, t.host, size.Text(int(most))))
	}
}

// asked reads git's request line: a length, the service, the path, and parameters behind NULs.
func (t *tunnel) asked(in io.Reader) (r Request, ok bool) {
	line, err := orderLine(in)
	if err != nil {
		return r, false
	}
	asks, more, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
	service, path, _ := strings.Cut(asks, " ")
	_, secret, _ := strings.Cut(strings.TrimPrefix(t.url, "git://"), "/")
	if subtle.ConstantTimeCompare([]byte(path), []byte("/"+secret)) != 1 {
		return r, false
	}
	_, params, _ := strings.Cut(more, "\x00\x00")
	return Request{Service: service, Record: t.record, Protocol: strings.Trim(params, "\x00")}, service == ServiceFetch || service == ServicePush
}

// linked is a remote that is a host, to be reached by its link.
type linked struct {
	host   string
	record bool
	dial   Dial
}

// points asks for the commits at which a fetch may rest.
func (l *linked) points(ctx context.Context, have string) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pointsWait, fmt.Errorf("no answer within %s", span.Text(pointsWait)))
	defer cancel()
	far, err := l.dial(ctx, l.host, Request{Service: ServicePoints, Record: l.record, Have: have})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRemote, err)
	}
	defer far.Close()
	defer context.AfterFunc(ctx, func() { _ = far.Close() })()
	most := mostPoints * len(objects.Zero.String()+"\n")
	said, err := io.ReadAll(io.LimitReader(far, int64(most)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: cannot ask %s for what it has: %w", ErrRemote, l.host, cmp.Or(context.Cause(ctx), err))
	case len(said) > most:
		return nil, fmt.Errorf("%w: cannot ask %s for what it has: the answer is too long", ErrRemote, l.host)
	}
	return strings.Fields(string(said)), nil
}

// errNoDial says that nobody has said how to reach hosts.
var errNoDial = errors.New("this is done by a node: start it with parley up")
