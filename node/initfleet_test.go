package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

func initIn(t *testing.T, o homes.Options) homes.Result {
	t.Helper()
	o.Home, o.Version, o.Log = configs.Home{Dir: filepath.Join(t.TempDir(), "home")}, "test", zerolog.Nop()
	r, err := Init(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestTheDefaultFleet prevents two things. First, every fleet of people who were not asked has the
// same name, and two such fleets that meet on one NATS system are one. Second, the hosts of a
// record that names no fleet each give it another name, and do not hear each other. Such a record
// is taken over first, which writes the name into it.
func TestTheDefaultFleet(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	if first := initIn(t, homes.Options{Alias: "white", Human: "nat", Remote: remote}); first.Config.Fleet != "nat" {
		t.Errorf("the fleet is called %s", first.Config.Fleet)
	}
	if second := initIn(t, homes.Options{Alias: "black", Human: "eve", Remote: remote}); second.Config.Fleet != "nat" {
		t.Errorf("who joins calls it %s", second.Config.Fleet)
	}
	clone := cloneOf(t, remote)
	file := filepath.Join(clone, filepath.FromSlash(books.IdentityFile))
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	nameless := strings.Replace(string(data), "fleet: nat\n", "", 1)
	if nameless == string(data) {
		t.Fatalf("no fleet in %s", data)
	}
	if err := os.WriteFile(file, []byte(nameless), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "commit", "--quiet", "--all", "-m", "no fleet")
	git(t, clone, "push", "--quiet")
	for _, o := range []homes.Options{
		{Alias: "red", Human: "ann", Remote: remote, Join: true}, {Alias: "red", Human: "ann", Remote: remote, Fleet: "team"},
	} {
		o.Home = configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
		said := new(control.Error)
		if _, err := Init(t.Context(), o); !errors.As(err, &said) || said.Kind != control.KindRefused || !strings.Contains(said.Hint, "--adopt") {
			t.Errorf("a record that names no fleet: %v", err)
		}
	}
	adopt := func(homes.Adoption) error { return nil }
	red := initIn(t, homes.Options{Alias: "red", Human: "ann", Remote: remote, Fleet: "team", Adopt: adopt})
	blue := initIn(t, homes.Options{Alias: "blue", Human: "bob", Remote: remote, Join: true})
	if red.Config.Fleet != "team" || blue.Config.Fleet != "team" {
		t.Errorf("red calls the fleet %s, blue %s", red.Config.Fleet, blue.Config.Fleet)
	}
}
