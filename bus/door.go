package bus

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	doorUser    = "parley"
	doorTimeout = 2 * time.Second
	doorPlaces  = 32      // connections that have not shown the secret yet
	maxRequest  = 4 << 10 // bytes of the request with the secret
)

// door is a listener on the loopback that is only for the embedded server. The server asks there
// for a connection as it would ask an HTTP proxy, with a secret that only this process knows.
// Anybody else who connects is turned away.
type door struct {
	listener net.Listener
	secret   string
}

func openDoor(ctx context.Context) (*door, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("cannot open the loopback door of the dialler: %w", err)
	}
	return &door{listener: l, secret: rand.Text()}, nil
}

// serve hands each connection that shows the secret to `take`, until `ctx` ends.
func (d *door) serve(ctx context.Context, work *sync.WaitGroup, take func(net.Conn)) {
	places := make(chan struct{}, doorPlaces)
	acceptAll(ctx, d.listener, func(conn net.Conn) {
		select {
		case places <- struct{}{}:
		default:
			_ = conn.Close()
			return
		}
		work.Go(func() { // ends with ctx, because take ends then
			defer conn.Close()
			inside := d.admit(conn)
			<-places
			if inside {
				take(conn)
			}
		})
	})
}

func (d *door) admit(conn net.Conn) bool {
	if conn.SetDeadline(time.Now().Add(doorTimeout)) != nil {
		return false
	}
	request, err := http.ReadRequest(bufio.NewReader(io.LimitReader(conn, maxRequest)))
	if err != nil {
		return false
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(doorUser+":"+d.secret))
	if subtle.ConstantTimeCompare([]byte(request.Header.Get("Proxy-Authorization")), []byte(want)) != 1 {
		return false
	}
	if _, err := io.Copy(conn, strings.NewReader("HTTP/1.1 200 OK\r\n\r\n")); err != nil {
		return false
	}
	return conn.SetDeadline(time.Time{}) == nil
}
