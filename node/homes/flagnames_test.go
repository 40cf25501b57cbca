package homes

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// It prevents: a person who has typed --listen is told what is wrong with bus.listen.
func TestWrongOptionsAreNamedAsTheyWereGiven(t *testing.T) {
	both := &configs.Error{Problems: []configs.Problem{
		{Key: "remote", Text: "is no URL"}, {Key: "bus.hubs", Text: "stands twice"}, {Key: "bus.url", Text: "set bus.listen or bus.links"}}}
	for want, test := range map[string]struct {
		options Options
		err     error
	}{
		"cannot make a node: --remote: is no URL; --hub: stands twice; --bus-url: set --listen":               {Options{}, both},
		"cannot make a node: the URL: is no URL; --hub: stands twice; --bus-url: set --listen":                {Options{Join: true}, both},
		"cannot make a node: remote: is no URL; bus.hubs: stands twice; bus.url: set bus.listen or bus.links": {Options{From: "/ready"}, both},
		"cannot make a node: cannot use --bus-ca: there is no file /keys/bus.ca":                              {Options{}, errors.New("cannot use bus.ca: there is no file /keys/bus.ca")},
		"cannot make a node: the place of --listen, --advertise and --hub (--bus-creds)":                      {Options{}, errors.New("the place of bus.listen, bus.links, bus.advertise and bus.hubs (bus.creds)")},
	} {
		wrong := new(control.Error)
		if err := test.options.wrong("", test.err); !errors.As(err, &wrong) || wrong.Kind != control.KindUsage || wrong.Message != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestANameThatIsNoneComesWithOne prevents: a person who writes a name as people do is told what a
// name is made of, and is left to find one.
func TestANameThatIsNoneComesWithOne(t *testing.T) {
	for _, c := range []struct {
		options Options
		hint    string
	}{
		{Options{Human: "Nat"}, "write it as: --human nat"},
		{Options{Alias: "Nat's Laptop"}, "write it as: --alias nat-s-laptop"},
		{Options{Fleet: "My Fleet!"}, "write it as: --fleet my-fleet"},
		{Options{Human: "Zoë"}, "write it as: --human zoe"},
		{Options{Human: "ナット"}, ""},
	} {
		c.options.Home = configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
		_, err := Make(t.Context(), c.options, nil)
		said := new(control.Error)
		if !errors.As(err, &said) || said.Kind != control.KindUsage || said.Hint != c.hint {
			t.Errorf("%v, hint %q, want %q", err, said.Hint, c.hint)
		}
	}
}
