package root

import (
	"runtime"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// VersionInfo is what "parley version --json" prints.
type VersionInfo struct {
	Version  string `json:"version"`  // of this program
	API      int    `json:"api"`      // version of the control socket's interface
	Go       string `json:"go"`       // version of Go with which it was built
	Platform string `json:"platform"` // system and processor
}

func newVersionCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: `  parley version --json`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			return runVersion(thisVersion(), p.View())
		},
	}
	p.JSONFlag(cmd, "print the version as JSON")
	return cmd
}

func thisVersion() VersionInfo {
	return VersionInfo{cli.Version, control.API, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func runVersion(info VersionInfo, v cli.View) error {
	if v.JSON {
		return v.WriteJSON(info)
	}
	v.Out.Printf("parley %s (%s %s)\n", info.Version, info.Go, info.Platform)
	return nil
}
