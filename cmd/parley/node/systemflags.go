package node

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/spf13/pflag"
)

// systemFlags gives init and join the flags for an existing NATS system.
func systemFlags(f *pflag.FlagSet, b *configs.Bus) {
	f.StringVar(&b.URL, "bus-url", "", "an existing NATS system in place of a server of our own, such as nats://host:4222")
	f.StringVar(&b.Creds, "bus-creds", "", "credentials file (.creds) for the existing system")
	f.StringVar(&b.NKey, "bus-nkey", "", "file with the seed of a user nkey for the existing system (default: this host's own key)")
	f.StringVar(&b.CA, "bus-ca", "", "file with the certificates (PEM) to believe of the existing system")
	f.StringVar(&b.Context, "bus-context", "", "a context of the NATS command line, in place of the other bus flags")
}

// absoluteSystem makes the paths of files independent of the folder in which the node will run.
func absoluteSystem(b configs.Bus) (configs.Bus, error) {
	files := []*string{&b.Creds, &b.NKey, &b.CA}
	if strings.HasPrefix(b.Context, ".") {
		files = append(files, &b.Context)
	}
	for _, file := range files {
		if *file == "" {
			continue
		}
		abs, err := filepath.Abs(*file)
		if err != nil {
			return b, fmt.Errorf("cannot find %s: %w", *file, err)
		}
		*file = abs
	}
	return b, nil
}
