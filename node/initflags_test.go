package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// A person who had typed --listen was told what is wrong with bus.listen.
func TestWrongOptionsAreNamedAsTheyWereGiven(t *testing.T) {
	both := &configs.Error{Problems: []configs.Problem{
		{Key: "remote", Text: "is no URL"}, {Key: "bus.hubs", Text: "stands twice"}, {Key: "bus.url", Text: "set bus.listen or bus.links"}}}
	for want, test := range map[string]struct {
		options InitOptions
		err     error
	}{
		"cannot make a node: --remote: is no URL; --hub: stands twice; --bus-url: set --listen":               {InitOptions{}, both},
		"cannot make a node: the URL: is no URL; --hub: stands twice; --bus-url: set --listen":                {InitOptions{Join: true}, both},
		"cannot make a node: remote: is no URL; bus.hubs: stands twice; bus.url: set bus.listen or bus.links": {InitOptions{From: "/ready"}, both},
		"cannot make a node: cannot use --bus-ca: there is no file /keys/bus.ca":                              {InitOptions{}, errors.New("cannot use bus.ca: there is no file /keys/bus.ca")},
		"cannot make a node: the place of --listen, --advertise and --hub (--bus-creds)":                      {InitOptions{}, errors.New("the place of bus.listen, bus.links, bus.advertise and bus.hubs (bus.creds)")},
	} {
		wrong := new(control.Error)
		if err := test.options.wrong("", test.err); !errors.As(err, &wrong) || wrong.Kind != control.KindUsage || wrong.Message != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Ctrl-C while the remote was looked at was answered with advice about the URL.
func TestInterruptedInit(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	home := configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
	_, err := Init(ctx, InitOptions{Home: home, Version: "test", Alias: "white", Human: "nat", Remote: bareRemote(t), Log: zerolog.Nop()})
	said := new(control.Error)
	if !errors.As(err, &said) || said.Message != "cannot make a node: interrupted" || said.Hint != "" {
		t.Errorf("%v, hint %q", err, said.Hint)
	}
	if _, err := os.Stat(home.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was left behind: %v", err)
	}
}
