package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/parleyfleet/parley/protocol"
)

// Cause is the kind of a reason why a host cannot be linked.
type Cause string

// The causes, in the order in which a dial meets them.
const (
	CauseName    Cause = "name"    // the name in the address cannot be looked up
	CauseRoute   Cause = "route"   // no way there: unreachable, or no answer in time
	CauseRefused Cause = "refused" // the machine is there, and nobody listens at the port
	CauseTLS     Cause = "tls"     // the port there is no links port of parley
	CauseKey     Cause = "key"     // the key shown there does not count here, or our key does not count there
	CauseSelf    Cause = "self"    // this host itself is at the address
	CauseVersion Cause = "version" // the host there speaks another version of links
	CauseBusy    Cause = "busy"    // the host there takes no link of this host at the moment
	CauseClock   Cause = "clock"   // a link works, but the clocks are far apart
)

// DialError says why a host was not linked at one of its addresses.
type DialError struct {
	Host    protocol.Name // "" if it is not known
	Address string
	Cause   Cause
	Reason  string // for people
}

// Error names the host, the address and the reason.
func (e *DialError) Error() string {
	return fmt.Sprintf("%s: %s", hostAt(e.Host, e.Address), e.Reason)
}

func hostAt(host protocol.Name, address string) string {
	if host == "" {
		return address
	}
	return fmt.Sprintf("%s at %s", host, address)
}

// noRoute says why no connection to an address was possible.
func noRoute(err error) (Cause, string) {
	var lookup *net.DNSError
	switch {
	case errors.As(err, &lookup):
		return CauseName, "its name cannot be looked up: " + lookup.Err
	case errors.Is(err, syscall.ECONNREFUSED):
		return CauseRefused, "nobody listens there: connection refused"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.ETIMEDOUT):
		return CauseRoute, fmt.Sprintf("no answer within %s: a firewall, or the machine is off", dialTimeout)
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return CauseRoute, "there is no way to it from here: " + lastError(err)
	}
	return CauseRoute, "it cannot be reached: " + lastError(err)
}

// noHandshake says why a connection did not become a link.
func noHandshake(err error) (Cause, string) {
	var pin *pinError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &pin):
		return pin.cause, pin.reason
	case errors.As(err, &record):
		return CauseTLS, "what listens there does not speak TLS: is it the port for links?"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return CauseTLS, fmt.Sprintf("it took the connection and said nothing within %s: is it the port for links?", helloTimeout)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return CauseTLS, "it closed the connection: it has too many, or this is not the port for links"
	}
	return CauseTLS, "no link could be made: " + said(lastError(err))
}

type pinError struct {
	cause  Cause
	reason string
}

func (e *pinError) Error() string { return e.reason }

// lastError returns the innermost reason, without the addresses that wrap it.
func lastError(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
