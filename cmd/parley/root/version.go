package root

import (
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// VersionInfo is what "parley version --json" prints.
type VersionInfo struct {
	Version  string `json:"version"`  // of this program
	Commit   string `json:"commit"`   // of the source of which it was built; "" if that was in no git repository
	Date     string `json:"date"`     // of that commit, in UTC; "" likewise
	Changed  bool   `json:"changed"`  // the source was not as in that commit
	API      int    `json:"api"`      // version of the control socket's interface
	Go       string `json:"go"`       // version of Go with which it was built
	Platform string `json:"platform"` // system and processor
}

func newVersionCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program, and of which commit it is",
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
	info := VersionInfo{Version: cli.Version, API: control.API, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	build, _ := debug.ReadBuildInfo()
	return info.of(build)
}

// of adds what the build says of the source; nil: it says nothing.
func (info VersionInfo) of(build *debug.BuildInfo) VersionInfo {
	if build == nil {
		return info
	}
	for _, s := range build.Settings {
		switch s.Key {
		case "vcs.revision":
			info.Commit = s.Value
		case "vcs.time":
			info.Date = s.Value
		case "vcs.modified":
			info.Changed = s.Value == "true"
		}
	}
	return info
}

func runVersion(info VersionInfo, v cli.View) error {
	if v.JSON {
		return v.WriteJSON(info)
	}
	v.Out.Printf("parley %s (%s %s)\n", info.Version, info.Go, info.Platform)
	if info.Commit != "" {
		day, _, _ := strings.Cut(info.Date, "T")
		changed := ""
		if info.Changed {
			changed = ", and changes that are not in it"
		}
		v.Out.Printf("commit %s of %s%s\n", cli.ShortHash(info.Commit), day, changed)
	}
	return nil
}
