package console

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
)

const paired = 90 * 24 * time.Hour // for how long a device is let in

// device is the one phone that is let in without a link. Only hashes of what it bears are kept.
type device struct {
	At      string    `json:"at"` // the origin at which it was paired: a cookie is for one
	Cookie  string    `json:"cookie"`
	Secret  string    `json:"secret"`
	Browser string    `json:"browser"` // as it says itself
	Since   time.Time `json:"since"`
}

// phone is what is kept for a paired device, so that its address stays.
type phone struct {
	Listen string  `json:"listen"`
	At     string  `json:"at,omitempty"`
	Cert   string  `json:"cert,omitempty"`
	Key    string  `json:"key,omitempty"`
	Device *device `json:"device,omitempty"`

	dir string
}

func (f *phone) file() string { return filepath.Join(f.dir, "phone.json") }

func readPhone(dir string) (*phone, error) {
	f := &phone{dir: dir}
	data, err := os.ReadFile(f.file())
	if errors.Is(err, os.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		err = json.Unmarshal(data, f)
	}
	if err != nil {
		return nil, control.Errorf(control.KindFailed, "remove the file, and pair the phone anew", "cannot read which phone is paired: %s: %v", f.file(), err)
	}
	return f, nil
}

func (f *phone) keep() error {
	data, err := json.Marshal(f)
	if err == nil {
		err = os.MkdirAll(f.dir, 0o700)
	}
	if err == nil {
		err = durable.WriteFile(f.file(), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot keep which phone is paired: %w", err)
	}
	return nil
}

// settle chooses where the pages are served: as the flags say, else as the last time, else at the first
// private address of this machine, with a certificate of this home. `named` says that a flag names it.
func (f *phone) settle(s settings, named bool) (settings, error) {
	again := !named && f.Listen != "" && (s.at == "" || s.at == f.At)
	if again {
		s.listen = f.Listen
		if s.cert == "" {
			s.at, s.cert, s.key = f.At, f.Cert, f.Key
		}
	}
	if s.at == "" && s.cert == "" {
		s.own = filepath.Join(f.dir, "certificate.pem")
	}
	host, port, err := net.SplitHostPort(s.listen)
	if err != nil || named || s.at != "" {
		return s, nil // listen says what is wrong
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return s, fmt.Errorf("cannot look at the addresses of this machine: %w", err)
	}
	first := ""
	for _, a := range addresses {
		prefix, err := netip.ParsePrefix(a.String())
		ip := prefix.Addr()
		switch {
		case err != nil:
		case again && ip.String() == host:
			return s, nil
		case first == "" && ip.Is4() && ip.IsPrivate():
			first = ip.String()
		}
	}
	if first == "" {
		return s, control.Errorf(control.KindUsage, "--listen ADDRESS:PORT, or --at URL", "cannot serve a phone: this machine has no private address that others reach")
	}
	s.listen = net.JoinHostPort(first, port)
	return s, nil
}

// knows returns the visit of the paired device at an origin; nil if none is let in there.
func (f *phone) knows(at string, now time.Time) *visit {
	d := f.Device
	if d == nil || d.At != at || now.After(d.Since.Add(paired)) {
		return nil
	}
	v := &visit{until: d.Since.Add(paired)}
	cookie, err1 := hex.DecodeString(d.Cookie)
	secret, err2 := hex.DecodeString(d.Secret)
	if err1 != nil || err2 != nil || copy(v.cookie[:], cookie) != len(v.cookie) || copy(v.secret[:], secret) != len(v.secret) {
		return nil
	}
	return v
}

// servePhone prepares a console for a phone.
func (c *console) servePhone(run *cli.Program, s settings) error {
	c.phone.Listen, c.phone.At, c.phone.Cert, c.phone.Key = s.listen, s.at, s.cert, s.key
	if s.pair {
		c.phone.Device = nil // it may be in the hands of somebody else, who would take back each question
	}
	if err := c.phone.keep(); err != nil {
		return err
	}
	d := c.phone.Device
	c.door.device = c.phone.knows(c.places.first(), c.now())
	if c.door.device != nil {
		c.p.Out.Printf("Your phone is let in there, as it was paired %s (%s).\n", c.p.View().At(d.Since, cli.TimeForm), visible.Line(d.Browser))
		if c.print != "" {
			c.note("If the phone warns of the certificate, go on only if its SHA-256 fingerprint is " + c.print)
		}
		c.p.View().Next("parley console --phone --pair", "put it out, and pair another")
		c.note("Ctrl-C ends it.")
		return nil
	}
	if !c.desk.terminal {
		return control.Errorf(control.KindRefused, "run it at a terminal", "cannot pair a phone: nobody is here to let it in")
	}
	if d != nil && d.At != c.places.first() {
		c.note("The phone was paired at " + visible.Line(d.At) + ", which is no address of this console any more: pair it again.")
	}
	c.offer(run)
	return nil
}

// kept is the address at which a console listens, so that it is the same the next time.
func kept(listener net.Listener, listen string) string {
	host, _, _ := net.SplitHostPort(listen)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return net.JoinHostPort(host, port)
}
