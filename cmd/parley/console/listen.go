package console

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/parleyfleet/parley/node/control"
)

// places are the origins at which a browser may come to the console, such as http://127.0.0.1:7400.
// A page of any other name is not served: a stranger's name can be made to lead to this machine.
type places []string

func (p places) first() string { return p[0] }

// of reports whether a request was sent to one of the places.
func (p places) of(host string) bool {
	return slices.ContainsFunc(p, func(origin string) bool {
		u, err := url.Parse(origin)
		return err == nil && u.Host == host
	})
}

// secure reports whether browsers come by TLS.
func (p places) secure() bool { return len(p[0]) > 5 && p[0][:6] == "https:" }

// listen opens the address at which the pages are served, and its twin if it has one. Beyond this
// machine nothing is served without TLS.
func (c *console) listen(ctx context.Context, s settings) ([]net.Listener, error) {
	host, _, err := net.SplitHostPort(s.listen)
	if err != nil {
		return nil, control.Errorf(control.KindUsage, "such as --listen 127.0.0.1:7400", "cannot listen at %q: %v", s.listen, err)
	}
	var certs []tls.Certificate
	switch {
	case s.own != "":
		cert, err := certificate(s.own, host, c.now())
		if err != nil {
			return nil, err
		}
		certs, c.print = append(certs, cert), fingerprint(cert)
	case s.cert != "":
		cert, err := tls.LoadX509KeyPair(s.cert, s.key)
		if err != nil {
			return nil, fmt.Errorf("cannot use the certificate: %w", err)
		}
		certs = append(certs, cert)
	case !loopback(host):
		return nil, control.Errorf(control.KindUsage, "--cert FILE --key FILE, or leave --listen out and put a proxy before it: --at URL",
			"cannot serve the console at %s without TLS: whoever is on the way would read along", s.listen)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", s.listen, err)
	}
	addr := listener.Addr().(*net.TCPAddr)
	if c.places, err = origins(addr, host, s.at, certs); err != nil {
		listener.Close()
		return nil, err
	}
	if certs != nil {
		listener = tls.NewListener(listener, &tls.Config{Certificates: certs, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
	} else if s.at == "" {
		if name, twin := ownName(ctx, addr); name != "" {
			c.places = append(places{origin("http", name, strconv.Itoa(addr.Port))}, c.places...)
			if twin != nil {
				return []net.Listener{listener, twin}, nil
			}
		}
	}
	return []net.Listener{listener}, nil
}

// ownName is a name that only this console has, so that a browser sends what belongs to it, such as
// the cookie, to no other port of this machine. Browsers lead such a name to both loopbacks: `twin` is
// the same port at the other one, which nobody else may have. It is "" where that cannot be, and on a
// Mac, where Safari may not know such names.
func ownName(ctx context.Context, addr *net.TCPAddr) (name string, twin net.Listener) {
	other := map[string]string{"127.0.0.1": "::1", "::1": "127.0.0.1"}[addr.IP.String()]
	if other == "" || runtime.GOOS == "darwin" {
		return "", nil
	}
	twin, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(other, strconv.Itoa(addr.Port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return "", nil
	}
	return token()[:16] + ".localhost", twin // without a twin, this machine has one loopback
}

func origins(addr *net.TCPAddr, host, proxy string, certs []tls.Certificate) (at places, err error) {
	scheme := "http"
	if certs != nil {
		scheme = "https"
	}
	add := func(name string) {
		if one := origin(scheme, name, strconv.Itoa(addr.Port)); !slices.Contains(at, one) {
			at = append(at, one)
		}
	}
	if proxy != "" {
		u, err := url.Parse(proxy)
		if err != nil || u.Hostname() == "" || !ascii(u.Host) || *u != (url.URL{Scheme: "https", Host: u.Host}) && *u != (url.URL{Scheme: "https", Host: u.Host, Path: "/"}) {
			return nil, control.Errorf(control.KindUsage, "such as --at https://desk.tail1234.ts.net", "%q is no address of a proxy: it begins with https://, has no path and only letters of ASCII", proxy)
		}
		return places{origin("https", u.Hostname(), u.Port())}, nil
	}
	for _, cert := range certs {
		if cert.Leaf.VerifyHostname(host) == nil && net.ParseIP(host) == nil {
			add(host) // a certificate may be for all names of a domain
		}
		for _, name := range cert.Leaf.DNSNames {
			if !strings.Contains(name, "*") {
				add(name)
			}
		}
		for _, ip := range cert.Leaf.IPAddresses {
			add(ip.String())
		}
	}
	if ip, err := netip.ParseAddr(host); certs == nil || err == nil && !ip.IsUnspecified() {
		add(addr.IP.String())
	}
	if len(at) == 0 {
		return nil, control.Errorf(control.KindUsage, "name an address: --listen ADDRESS:PORT", "the certificate names no host, and %s is no address that a browser could be given", addr)
	}
	return at, nil
}

// origin is an origin as browsers write it: in small letters, and without the port that they take anyway.
func origin(scheme, name, port string) string {
	host := strings.ToLower(name)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && port != map[string]string{"http": "80", "https": "443"}[scheme] {
		host += ":" + port
	}
	return scheme + "://" + host
}

func ascii(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// browse has the system open a file in the person's browser.
func browse(ctx context.Context, file string) error {
	words := []string{"xdg-open", file}
	switch runtime.GOOS {
	case "darwin":
		words[0] = "open"
	case "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", file}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), words[0], words[1:]...) // the browser lives on
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // ends with the program
	return nil
}
