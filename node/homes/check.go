package homes

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/node/control"
)

// noRecord says why a new node gets no record, and what to try.
func (o Options) noRecord(err error) error {
	hint := ""
	switch {
	case errors.Is(err, gitsync.ErrUnsure):
		return err
	case errors.Is(err, gitsync.ErrNoRecord):
		doing := "join"
		if o.Adopt != nil {
			doing = "adopt a record"
		}
		return control.Errorf(control.KindNotFound, "if another host is to share its record there, start that one anew first: parley restart; else begin one: parley init --remote "+redact.Remote(o.Remote),
			"cannot %s: the repository %s is empty, it holds no record", doing, redact.Remote(o.Remote))
	case errors.Is(err, gitsync.ErrForeign) && o.Adopt != nil:
		hint = "only a record of Crosstalk 5.0, or one that is older and says no other version there, can be taken over"
	case errors.Is(err, gitsync.ErrForeign):
		hint = "name a repository that holds a record of parley; a new record begins in an empty one, and one that " +
			"another program of the Crosstalk format began is taken over with: parley init --remote URL --adopt"
	case errors.Is(err, gitsync.ErrExists):
		hint = configs.LostHint
	case errors.Is(err, gitsync.ErrUnfit): // the error itself says what to do
	case errors.Is(err, gitsync.ErrRemote):
		hint = "check the URL, and that this machine may use it, with: git ls-remote URL"
	default:
		return err
	}
	return control.Errorf(control.KindFailed, hint, "%v", err)
}

// checkListen tries the addresses at which the new node is to listen, because what a host says
// about them stays in the record for ever.
func (o Options) checkListen(b configs.Bus) error {
	for _, port := range []struct{ setting, address, what string }{
		{"bus.listen", b.Listen, ""},
		{linksSetting(b), b.LinksAddress(), ", where links of hosts would come in"},
	} {
		if port.address == "" {
			continue
		}
		l, err := net.Listen("tcp", port.address)
		if err != nil {
			return o.wrong(ListenHint(err, "bus.listen "), fmt.Errorf("%s: cannot listen at %s%s: %w", port.setting, port.address, port.what, reason(err)))
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}

// linksSetting is the setting that says where links are taken.
func linksSetting(b configs.Bus) string {
	if b.Links != "" {
		return "bus.links"
	}
	return "bus.listen"
}

// reason is why nobody can listen at an address, without the address itself.
func reason(err error) error {
	if number := syscall.Errno(0); errors.As(err, &number) {
		return number
	}
	return err
}

// ListenHint is what to try if nobody can listen at an address, or "". What is typed before an address
// that is free is in `setting`.
func ListenHint(err error, setting string) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		hint, at := "another program listens there, and this user cannot see which: ", netip.AddrPort{}
		if op := new(net.OpError); errors.As(err, &op) && op.Addr != nil {
			at, _ = netip.ParseAddrPort(op.Addr.String()) // else no port is free
		}
		if pid := process.Listening(at.Port()); pid > 0 {
			hint = fmt.Sprintf("process %d listens there (%s): end it, or ", pid, strings.Join(process.Arguments(pid), " "))
		}
		hint += "choose another port"
		if free := freeAfter(at); free != "" {
			hint += ", such as " + setting + free
		}
		return hint
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "this machine has no such address: choose one of its own, or 0.0.0.0 for all"
	case errors.Is(err, syscall.EACCES):
		return "choose a port from 1024 on"
	}
	return ""
}

// freeAfter is an address after another one where a port is free, and the next one, which links of hosts
// take; "" if none is near.
func freeAfter(at netip.AddrPort) string {
	isFree := func(port uint16) bool {
		l, err := net.Listen("tcp", netip.AddrPortFrom(at.Addr(), port).String())
		return err == nil && l.Close() == nil
	}
	for port := at.Port() + 1; at.Port() > 0 && port > at.Port() && port < at.Port()+100; port++ {
		if isFree(port) && isFree(port+1) {
			return netip.AddrPortFrom(at.Addr(), port).String()
		}
	}
	return ""
}
