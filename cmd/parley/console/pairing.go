package console

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

const (
	pairingTime = 10 * time.Minute // in which the code can be used
	askingTime  = 2 * time.Minute  // in which the terminal is answered
)

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
