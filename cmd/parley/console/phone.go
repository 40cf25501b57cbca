package console

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
)

const (
	paired      = 90 * 24 * time.Hour // for how long a device is let in
	pairingTime = 10 * time.Minute    // in which the code can be used
	askingTime  = 2 * time.Minute     // in which the terminal is answered
)

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

// pairing is a code that pairs one device, once. Who only has the code is not let in: the human at the
// terminal compares what the device shows.
type pairing struct {
	link    [32]byte // hash of the token in the code
	until   time.Time
	ticket  [32]byte // hash of what the device bears that used it; zero: none has
	shows   string   // what that device shows
	browser string
	settled chan struct{} // closed when the human has answered
	yes     bool
	taken   bool
}

// pair makes the token of a code that pairs a device, and ends the code before.
func (d *door) pair(until time.Time) string {
	t := token()[:32] // half of it is enough for ten minutes, and makes a smaller code
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pairing = &pairing{link: hashed(t), until: until, settled: make(chan struct{})}
	return t
}

// knock is the first use of a code. It returns what the device is to show, and what it comes back with.
func (d *door) knock(used, browser string, now time.Time) (p *pairing, ticket string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p = d.pairing
	switch {
	case p == nil || p.link != hashed(used):
		return nil, "", errNoCode("this code is of no console that runs here")
	case p.ticket != [32]byte{}:
		return nil, "", errNoCode("this code was used before, and pairs one device alone: if it was not you, answer no at the terminal")
	case now.After(p.until):
		return nil, "", errNoCode("this code has expired")
	}
	ticket, p.shows, p.browser = token(), digits(), browser
	p.ticket = hashed(ticket)
	return p, ticket, nil
}

func errNoCode(why string) error {
	return control.Errorf(control.KindRefused, "end the console with Ctrl-C, and start it anew: parley console --phone --pair", "%s", why)
}

// digits is a number of four digits.
func digits() string {
	n := hashed(token())
	return fmt.Sprintf("%04d", (int(n[0])<<16|int(n[1])<<8|int(n[2]))%10000)
}

// offers reports whether a token is that of the code which is offered.
func (d *door) offers(token string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.pairing != nil && d.pairing.link == hashed(token)
}

// knocked answers a device that has read the code: it shows a number, and the terminal asks for it.
func (c *console) knocked(w http.ResponseWriter, r *http.Request, token string) {
	by := browser(r)
	p, ticket, err := c.door.knock(token, by, c.now())
	if err != nil {
		c.warn(token, "the code was used by "+by+": "+control.AsError(err).Message)
	} else {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), askingTime)
		err = c.desk.bring(r.Context(), decision{hint: "answer that first, and scan the code again", about: "let a phone in", ctx: ctx, cancel: cancel, do: func(ctx context.Context, run *cli.Program) { c.letIn(ctx, run, p) }})
		if err != nil {
			c.door.mu.Lock()
			p.ticket = [32]byte{} // nobody was asked, so it can be used again
			c.door.mu.Unlock()
		}
	}
	if err != nil {
		fail(w, err)
		return
	}
	reply(w, map[string]string{"shows": p.shows, "ticket": ticket})
}

// letIn asks the human at the terminal whether a device is theirs.
func (c *console) letIn(ctx context.Context, run *cli.Program, p *pairing) {
	run.Err.Printf("\n%s\n", run.Err.Bold("A phone wants in: "+p.browser))
	yes := run.Confirm(ctx, "Does it show "+p.shows+"? [y/N] ")
	c.door.mu.Lock()
	p.yes = yes
	c.door.mu.Unlock()
	close(p.settled)
	if !yes {
		run.Err.Printf("%s\n", run.Err.Warn("Nobody was let in. That code is of no use any more; here is another."))
		c.offer(run)
	}
}

// pairs answers a device that shows its number, when the human has answered.
func (c *console) pairs(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Ticket string }
	if err := json.NewDecoder(io.LimitReader(r.Body, mostOfStrangers)).Decode(&asked); err != nil {
		fail(w, control.Errorf(control.KindUsage, "", "cannot read what the page sent"))
		return
	}
	c.door.mu.Lock()
	p := c.door.pairing
	known := p != nil && asked.Ticket != "" && p.ticket == hashed(asked.Ticket)
	c.door.mu.Unlock()
	if !known {
		fail(w, errNoCode("this code pairs nobody"))
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the human may take longer
	select {
	case <-p.settled:
	case <-r.Context().Done():
		return
	}
	cookie, secret, err := c.take(p)
	if err != nil {
		fail(w, err)
		return
	}
	c.say("✓ paired: " + p.browser + ". It is let in until " + c.p.View().At(c.now().Add(paired), cli.TimeForm) + ".")
	c.bears(w, cookie, paired)
	reply(w, map[string]string{"secret": secret})
}

// take makes the device of a pairing the paired one, in the place of the one before.
func (c *console) take(p *pairing) (cookie, secret string, err error) {
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	if !p.yes || p.taken {
		return "", "", control.Errorf(control.KindRefused, "", "the terminal did not let this device in")
	}
	cookie, secret = token(), token()
	v := &visit{cookie: hashed(cookie), secret: hashed(secret), until: c.now().Add(paired)}
	c.phone.Device = &device{At: c.places.first(), Cookie: hex.EncodeToString(v.cookie[:]), Secret: hex.EncodeToString(v.secret[:]), Browser: p.browser, Since: c.now().UTC()}
	if err := c.phone.keep(); err != nil {
		return "", "", err
	}
	p.taken, c.door.device = true, v
	return cookie, secret, nil
}

// offer shows a code that pairs a device.
func (c *console) offer(run *cli.Program) {
	link := c.places.first() + "/enter#" + c.door.pair(c.now().Add(pairingTime))
	about := []string{"Scan this with your phone. It pairs one device, once, within ten minutes. Then this terminal asks for the number that the phone shows."}
	if c.print != "" {
		about = append(about, "", "The certificate is this home's own, so the phone warns. Go on only if it shows this SHA-256 fingerprint:", "")
		for i := 0; i < len(c.print); i += 24 { // eight bytes a line
			about = append(about, c.print[i:i+23])
		}
	}
	drawing, err := drawCode(link, run.Err.Color)
	if err != nil {
		run.Err.Printf("%s\n", term.Line(link))
		return
	}
	beside(run.Err, drawing, about)
}

// beside writes text to the right of a drawing, or above it where there is no room.
func beside(out term.Screen, drawing code, about []string) {
	var lines []string
	room := out.Width - drawing.width - 2
	if room < 24 {
		room = out.Width
	}
	for _, line := range about {
		lines = append(lines, term.Wrap(line, room)...)
	}
	if room == out.Width {
		out.Printf("%s\n%s\n", strings.Join(lines, "\n"), strings.Join(drawing.lines, "\n"))
		return
	}
	for i, row := range drawing.lines {
		if i < len(lines) {
			row += "  " + lines[i]
		}
		out.Printf("%s\n", row)
	}
	for _, line := range lines[min(len(lines), len(drawing.lines)):] {
		out.Printf("%s\n", line)
	}
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
