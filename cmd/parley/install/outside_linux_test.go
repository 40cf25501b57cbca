package install_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/install"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/service"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/spf13/cobra"
)

// Who leaves takes their own service out of their own manager. It prevents: the manager of the whole
// machine is asked, which wants the password of root, and the node goes on.
func TestOwnServiceIsTakenAway(t *testing.T) {
	r := clitest.New(t, func(program *cli.Program) *cobra.Command {
		end := func(context.Context, *cli.Program, configs.Home) error { return nil }
		answers := func(context.Context, *cli.Program, configs.Home, service.Service) error { return nil }
		return cli.NewRoot(program, install.NewCommand(program, nil, end, answers))
	})
	person := t.TempDir()
	home, told := configs.Home{Dir: filepath.Join(person, "node")}, filepath.Join(person, "told")
	if err := os.Mkdir(home.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(person, "systemctl"): "#!/bin/sh\necho \"$*\" >>" + told + "\n",
		home.Config():                      "fleet: demo\nhuman: nat\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if own, err := os.Executable(); err != nil {
		t.Fatal(err)
	} else if err := os.Symlink(own, filepath.Join(person, "parley")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", person+":"+os.Getenv("PATH"))
	r.Env["HOME"], r.Env["PARLEY_HOME"], r.Env["PATH"], r.Env["SHELL"] = person, home.Dir, os.Getenv("PATH"), "/bin/sh"
	if code := r.Do("install", "service", "--yes"); code != cli.ExitDone {
		t.Fatalf("exit %d: %s", code, r.Err.String())
	}
	all, err := install.Outsides(t.Context(), r.Program, home)
	if err != nil || len(all) != 1 || all[0].Undo == nil {
		t.Fatalf("%+v, %v", all, err)
	}
	if err := os.Remove(told); err != nil {
		t.Fatal(err)
	}
	if err := all[0].Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if said, err := os.ReadFile(told); err != nil || !strings.HasPrefix(string(said), "--user disable --now parley-node-") {
		t.Errorf("systemctl was told %q, %v", said, err)
	}
	if _, err := os.Stat(all[0].Paths[0]); err == nil {
		t.Errorf("%s is still there", all[0].Paths[0])
	}
}
