package bus

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

const (
	acceptPause = 50 * time.Millisecond // after a listener could not accept
	lingerFor   = time.Second           // how long the other direction may go on when one has ended
)

// acceptAll hands what `l` accepts to `take` until `ctx` ends, which closes it. It waits for
// temporary trouble to pass, such as too many open files.
func acceptAll(ctx context.Context, l net.Listener, take func(net.Conn)) {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		conn, err := l.Accept()
		if err == nil {
			take(conn)
			continue
		}
		pause := time.NewTimer(acceptPause)
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// pass carries bytes between two connections until one of them ends. What is on its way in the other
// direction then has a moment longer. Then both are closed. When `ctx` ends, both are closed at once.
func pass(ctx context.Context, a, b net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _, _ = a.Close(), b.Close() })
	defer stop()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		both.Go(func() { // ends when one of the connections ends
			_, err := io.Copy(way[0], way[1])
			half, ok := way[0].(interface{ CloseWrite() error })
			if err != nil || !ok || half.CloseWrite() != nil {
				cancel()
				return
			}
			time.AfterFunc(lingerFor, cancel)
		})
	}
	both.Wait()
	_, _ = a.Close(), b.Close()
}
