package console

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
)

// door lets browsers in. A link lets one in, once: if it comes a second time, whoever came first is
// put out, since one of the two is a stranger. The cookie is sent to every port of this machine, and
// so are links that others write; therefore a request that does something also bears a secret that
// only pages of this origin can read.
type door struct {
	told func(text string) // what the human should know

	mu      sync.Mutex
	links   map[[32]byte]*visit // by the hash of the link's token; nil: not used yet
	device  *visit              // the phone that is paired; nil: none
	warned  [][32]byte          // hashes of links of which the human was warned
	pairing *pairing            // the code that is offered, or was used last; nil: none
}

// visit is one browser that was let in.
type visit struct {
	cookie, secret [32]byte // hashes
	over           bool
	until          time.Time // zero: until the console ends
}

func token() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

func hashed(token string) [32]byte { return sha256.Sum256([]byte(token)) }

// link makes the token of a link.
func (d *door) link() string {
	t := token()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.links == nil {
		d.links = map[[32]byte]*visit{}
	}
	d.links[hashed(t)] = nil
	return t
}

// enter lets a browser in. `cookie` and `secret` are what it bears from now on.
func (d *door) enter(used string) (cookie, secret string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	v, known := d.links[hashed(used)]
	switch {
	case !known:
		return "", "", control.Errorf(control.KindRefused, "parley console", "this link is of no console that runs here")
	case v != nil:
		v.over = true
		return "", "", control.Errorf(control.KindRefused, "end the console with Ctrl-C and start it anew",
			"this link was used before, and lets nobody in twice: whoever used it is put out too")
	}
	cookie, secret = token(), token()
	d.links[hashed(used)] = &visit{cookie: hashed(cookie), secret: hashed(secret)}
	return cookie, secret, nil
}

// inside returns the visit of a request; nil if its browser was not let in.
func (c *console) inside(r *http.Request) *visit {
	has, err := r.Cookie(c.cookieName())
	if err != nil {
		return nil
	}
	bears, d := hashed(has.Value), &c.door
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, v := range append(slices.Collect(maps.Values(d.links)), d.device) {
		if v != nil && !v.over && (v.until.IsZero() || c.now().Before(v.until)) && subtle.ConstantTimeCompare(v.cookie[:], bears[:]) == 1 {
			return v
		}
	}
	return nil
}

// may reports whether a request that does something comes from a page of this console.
func (v *visit) may(r *http.Request) bool {
	bears := hashed(r.Header.Get(secretHeader))
	return subtle.ConstantTimeCompare(v.secret[:], bears[:]) == 1
}

// secretHeader is where a page bears its secret.
const secretHeader = "Parley-Secret"

// cookieName is the name of the cookie. All ports of a host share their cookies, so it has the port.
func (c *console) cookieName() string {
	at, _ := url.Parse(c.places.first()) // origins made it
	if c.places.secure() {
		return "__Host-parley" + at.Port()
	}
	return "parley" + at.Port()
}

// enter answers the page that a link leads to.
func (c *console) enter(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Token string }
	if err := json.NewDecoder(io.LimitReader(r.Body, mostOfStrangers)).Decode(&asked); err != nil {
		fail(w, control.Errorf(control.KindUsage, "", "cannot read what the page sent"))
		return
	}
	if c.door.offers(asked.Token) {
		c.knocked(w, r, asked.Token)
		return
	}
	cookie, secret, err := c.door.enter(asked.Token)
	by := browser(r)
	if err != nil {
		c.warn(asked.Token, "a link was used that lets nobody in, by "+by+": "+control.AsError(err).Message)
		fail(w, err)
		return
	}
	c.say("✓ let in: " + by)
	c.bears(w, cookie, 0)
	reply(w, map[string]string{"secret": secret})
}

// bears gives a browser the cookie that it bears from now on; `lasts` is zero until the browser ends.
func (c *console) bears(w http.ResponseWriter, cookie string, lasts time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: c.cookieName(), Value: cookie, Path: "/", MaxAge: int(lasts.Seconds()), HttpOnly: true, Secure: c.places.secure(), SameSite: http.SameSiteStrictMode})
}

// warn tells the human of a link that was used in vain: once of each that is of this console, since a
// stranger may try it as often as they like.
func (c *console) warn(token, text string) {
	d, of := &c.door, hashed(token)
	d.mu.Lock()
	_, known := d.links[of]
	first := (known || d.pairing != nil && d.pairing.link == of) && !slices.Contains(d.warned, of)
	if first {
		d.warned = append(d.warned, of)
	}
	d.mu.Unlock()
	if first {
		c.say("⚠ " + text)
	}
}

func (c *console) say(text string) {
	if c.door.told != nil {
		c.door.told(text)
	}
}

// browser names who sent a request, as it says itself.
func browser(r *http.Request) string {
	agent := r.UserAgent()
	name := "an unknown program"
	for _, known := range []string{"Firefox", "Edg", "Chrome", "Safari", "curl"} {
		if strings.Contains(agent, known) {
			name = known
			break
		}
	}
	return visible.Line(name + " at " + r.RemoteAddr)
}
