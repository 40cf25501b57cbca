package bus

import "testing"

// A host with two addresses was named twice, each time with the same long reason.
func TestMissingHostsInOneLine(t *testing.T) {
	white := Hub{Alias: "white", Addresses: []string{"192.0.2.7:4223", "[2001:db8::7]:4223"}}
	both := []target{{white, white.Addresses[0]}, {white, white.Addresses[1]}}
	ghost := target{Hub{Alias: "ghost"}, "192.0.2.9:4223"}
	bare := target{Hub{}, "192.0.2.8:4223"}
	deaf := func(to target, reason string) *DialError {
		return &DialError{Host: to.hub.Alias, Address: to.address, Reason: reason}
	}
	for what, test := range map[string]struct {
		targets      []target
		failed       []*DialError
		whom, reason string
	}{
		"not tried yet":            {both[:1], nil, "white at 192.0.2.7:4223", ""},
		"two, not tried yet":       {both, nil, "white", ""},
		"one":                      {both[:1], []*DialError{deaf(both[0], "refused")}, "white at 192.0.2.7:4223", "refused"},
		"one at two addresses":     {both, []*DialError{deaf(both[0], "refused"), deaf(both[1], "refused")}, "white at 192.0.2.7:4223 and [2001:db8::7]:4223", "refused"},
		"one of two addresses":     {both, []*DialError{deaf(both[0], "refused")}, "white", "white at 192.0.2.7:4223: refused"},
		"one, for two reasons":     {both, []*DialError{deaf(both[0], "refused"), deaf(both[1], "no way")}, "white", "white at 192.0.2.7:4223: refused; white at [2001:db8::7]:4223: no way"},
		"two hosts":                {append(both[:2:2], ghost), []*DialError{deaf(both[0], "busy"), deaf(both[1], "busy"), deaf(ghost, "no way")}, "white, ghost", "white at 192.0.2.7:4223 and [2001:db8::7]:4223: busy; ghost at 192.0.2.9:4223: no way"},
		"addresses without a name": {[]target{bare, ghost}, []*DialError{deaf(bare, "no way"), deaf(ghost, "no way")}, "192.0.2.8:4223, ghost", "192.0.2.8:4223: no way; ghost at 192.0.2.9:4223: no way"},
		"more than are told": {[]target{bare, ghost, both[0], both[1]}, []*DialError{deaf(bare, "a"), deaf(ghost, "b"), deaf(both[0], "c"), deaf(both[1], "d")},
			"192.0.2.8:4223, ghost, white", "192.0.2.8:4223: a; ghost at 192.0.2.9:4223: b; white at 192.0.2.7:4223: c; and 1 more"},
	} {
		if whom, reason := toldMissing(test.targets, grouped(test.failed)); whom != test.whom || reason != test.reason {
			t.Errorf("%s: %q, %q, want %q, %q", what, whom, reason, test.whom, test.reason)
		}
	}
}

// The system says [::] for 0.0.0.0, which nobody had asked for.
func TestAddressesAsTheyWereAskedFor(t *testing.T) {
	for _, test := range []struct{ asked, bound, want string }{
		{"0.0.0.0:4222", "[::]:4222", "0.0.0.0:4222"},
		{"0.0.0.0:0", "[::]:40123", "0.0.0.0:40123"},
		{"[::]:4222", "[::]:4222", "[::]:4222"},
		{"127.0.0.1:0", "127.0.0.1:40123", "127.0.0.1:40123"},
		{"localhost:0", "127.0.0.1:40123", "127.0.0.1:40123"},
		{"", "127.0.0.1:40123", "127.0.0.1:40123"},
	} {
		if got := asAsked(test.asked, test.bound); got != test.want {
			t.Errorf("asAsked(%q, %q) = %q, want %q", test.asked, test.bound, got, test.want)
		}
	}
	h := newHost(t, newFleet(), "white")
	h.opts.Listen = "0.0.0.0:0"
	h.start(t)
	a := h.Addresses()
	if client, links := portOf(t, a.Clients), portOf(t, a.Links); a.Clients != "0.0.0.0:"+client || a.Links != "0.0.0.0:"+links {
		t.Errorf("Addresses() = %+v, want 0.0.0.0 as asked for", a)
	}
}
