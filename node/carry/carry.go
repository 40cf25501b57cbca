// Package carry lets hosts carry the record to each other by their links, so that a fleet needs no git
// server. One host, the carrier, has the repository that the fleet shares. The others fetch from it and
// push to it. While it is away they fetch from each other.
package carry

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/protocol"
)

const (
	streamName = "parley-git/1"
	answerIn   = 30 * time.Second
	maxAnswer  = 4 << 10 // bytes of the line that answers a request
	eachServed = 4       // connections of one host at once, each with a git that works for it; a host needs one or two
)

// Hint is how the carrier is reached. A home has it in a file, for the time when the record that says so
// is not here, or not here any more.
type Hint struct {
	Alias     protocol.Name `json:"alias"`
	Addresses []string      `json:"addresses"` // host:port of its links port
	Keys      []string      `json:"keys"`      // public nkeys, of which it has to show one
}

// ReadHint is the hint of a home; the zero value if it has none.
func ReadHint(home configs.Home) (h Hint) {
	data, err := os.ReadFile(home.Carrier())
	if err == nil && json.Unmarshal(data, &h) != nil {
		return Hint{}
	}
	return h
}

// Write puts the hint into a home.
func (h Hint) Write(home configs.Home) error {
	text, err := json.Marshal(h)
	if err == nil {
		err = durable.WriteFile(home.Carrier(), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot note how %s is reached: %w", h.Alias, err)
	}
	return nil
}

// Dialler reaches other hosts for the record.
type Dialler struct {
	Home configs.Home
	Key  func() nkeys.KeyPair // of this host
	// Of is what the record says of a host. nil: nothing is known but the hint.
	Of func(host protocol.Name) bus.Hub
}

// Dial implements carrier.Dial. All addresses of the host are dialled at the same time.
func (d *Dialler) Dial(ctx context.Context, host string, r carrier.Request) (io.ReadWriteCloser, error) {
	hub, hint := bus.Hub{Alias: protocol.Name(host)}, ReadHint(d.Home)
	if d.Of != nil {
		hub = d.Of(hub.Alias)
	}
	if hint.Alias == hub.Alias {
		if len(hub.Keys) == 0 {
			hub.Keys = hint.Keys
		}
		for _, address := range hint.Addresses {
			if !slices.Contains(hub.Addresses, address) {
				hub.Addresses = append(hub.Addresses, address)
			}
		}
	}
	if len(hub.Addresses) == 0 || len(hub.Keys) == 0 {
		return nil, fmt.Errorf("unable to connect: nothing says at which address %s takes links", host)
	}
	conn, err := d.dialOne(ctx, hub)
	if err != nil {
		return nil, fmt.Errorf("unable to connect: %s: %w", host, err)
	}
	far, err := ask(conn, r)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s says no: %w", host, err), conn.Close())
	}
	if now := (Hint{hub.Alias, hub.Addresses, hub.Keys}); !r.Record && !slices.Equal(now.Keys, hint.Keys) {
		_ = now.Write(d.Home) // without it this host asks the record, as it did now
	}
	return far, nil
}

// dialOne is the first connection of those to all addresses of a host.
func (d *Dialler) dialOne(ctx context.Context, hub bus.Hub) (*tls.Conn, error) {
	dialling, cancel := context.WithCancel(ctx)
	defer cancel()
	type dialled struct {
		conn *tls.Conn
		err  error
	}
	came := make(chan dialled, len(hub.Addresses))
	for _, address := range hub.Addresses {
		go func() { // ends with its dial, which takes 6 s at most
			conn, err := bus.DialStream(dialling, address, streamName, d.Key(), func(key string) error {
				if slices.Contains(hub.Keys, key) {
					return nil
				}
				shown, _ := protocol.Fingerprint(key)
				return fmt.Errorf("the key shown there, %s, is not one of %s: another machine answers at this address", shown, hub.Alias)
			})
			came <- dialled{conn, err}
		}()
	}
	var errs []error
	for n := range hub.Addresses {
		one := <-came
		if one.err != nil {
			errs = append(errs, one.err)
			continue
		}
		go func() { // ends with the dials that are left, at once
			for range len(hub.Addresses) - n - 1 {
				if late := <-came; late.conn != nil {
					_ = late.conn.Close()
				}
			}
		}()
		return one.conn, nil
	}
	return nil, errors.Join(errs...)
}

// answered is a connection whose first line has been read.
type answered struct {
	*tls.Conn
	in io.Reader
}

// Read implements io.Reader.
func (a answered) Read(p []byte) (int, error) { return a.in.Read(p) }

// ask sends a request, and reads whether the other host says yes.
func ask(conn *tls.Conn, r carrier.Request) (io.ReadWriteCloser, error) {
	if err := conn.SetDeadline(time.Now().Add(answerIn)); err != nil {
		return nil, err
	}
	line, err := json.Marshal(r)
	if err == nil {
		_, err = conn.Write(append(line, '\n'))
	}
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(conn, maxAnswer)
	if line, err = in.ReadSlice('\n'); err != nil {
		return nil, err
	}
	var says carrier.Answer
	if err := json.Unmarshal(line, &says); err != nil {
		return nil, err
	}
	if says.Error != "" {
		return nil, errors.New(carrier.OneLine(says.Error))
	}
	return answered{conn, in}, conn.SetDeadline(time.Time{})
}

// Server serves the record to other hosts.
type Server struct {
	Served  func() carrier.Served
	Trusted func(key string) (protocol.Name, bool) // which other host a key belongs to
	Own     func() string                          // this host's key
	Log     zerolog.Logger
	// Guest reports whether the holder of a key may fetch and push before its host is known: it is about
	// to join.
	Guest func(key string) bool
}

// Stream is what the links port serves.
func (s *Server) Stream() bus.Stream {
	return bus.Stream{
		Name: streamName, Each: eachServed,
		Admit: func(key string) bool {
			if key == s.Own() {
				return false
			}
			_, counts := s.Trusted(key)
			return counts || s.Guest(key)
		},
		Serve: func(ctx context.Context, conn *tls.Conn, key string) {
			if err := s.Served().Serve(ctx, conn); err != nil {
				host, _ := s.Trusted(key)
				s.Log.Info().Err(err).Str("host", host.String()).Msg("what another host asked of the record came to nothing")
			}
		},
	}
}
