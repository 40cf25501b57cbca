package main

import (
	"runtime"

	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// versionInfo is what "parley version --json" prints.
type versionInfo struct {
	Version  string `json:"version"`  // of this program
	API      int    `json:"api"`      // of the control socket
	Go       string `json:"go"`       // that it was built with
	Platform string `json:"platform"` // system and processor
}

func newVersionCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: `  parley version --json`,
		Args:    exactly(0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			return runVersion(thisVersion(), p.view())
		},
	}
	p.jsonFlag(cmd, "print the version as JSON")
	return cmd
}

func thisVersion() versionInfo {
	return versionInfo{version, control.API, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
}

func runVersion(info versionInfo, v view) error {
	if v.json {
		return v.writeJSON(info)
	}
	v.out.Printf("parley %s (%s %s)\n", info.Version, info.Go, info.Platform)
	return nil
}
