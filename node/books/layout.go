package books

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/random"
)

// layout holds the files of a new record that are the same for every fleet.
// Dot files and empty folders of the record are added by FirstCommit.
//
//go:embed layout
var layout embed.FS

// FirstCommit returns the files of a record's first commit: the folders of the seed, the protocol's
// version, what parley says about it, a default actor, and the fleet's identity (R1).
func FirstCommit(cfg configs.Config) map[string][]byte {
	files := map[string][]byte{
		".gitattributes": []byte("data/** -text\n"),
		VersionFile:      []byte("5.0\n"),
		IdentityFile: fmt.Appendf(nil,
			"---\nname: %[1]s\nemail: %[1]s@parley.local\nfleet: %[1]s\n---\n\nThis record belongs to the fleet %[1]s.\n"+
				"It began with the random number %[2]s, so that no two records are alike.\n", cfg.Fleet, random.Hex(16)),
	}
	for _, folder := range []string{"local/actors", "hosts", "data/channels", "data/memories"} {
		files[folder+"/.gitkeep"] = nil
	}
	_ = fs.WalkDir(layout, "layout", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := layout.ReadFile(path)
		files[path[len("layout/"):]] = data
		return err
	})
	return files
}
