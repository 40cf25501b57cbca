package console

import (
	"github.com/parleyfleet/parley/node/control"
)

// pages are all pages, by their addresses.
func pages() []page {
	return []page{
		{at: "/{$}", menu: "/", name: "fleet", live: control.EventKinds(), show: showFleet},
	}
}

// deeds are what pages can have done, by their addresses.
func deeds() map[string]deed {
	return map[string]deed{
		"/leave": leave,
	}
}

// leave takes back what the terminal asks about.
func leave(a *asking) (done, error) {
	a.c.desk.leave()
	return done{Said: "The terminal asks no longer."}, nil
}
