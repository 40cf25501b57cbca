package release

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Owner is the package manager that has installed a program. It alone may replace or remove the
// files that it knows.
type Owner struct {
	Name    string                     // deb, rpm or brew
	Remove  string                     // the command that removes parley
	Upgrade func(r Release) string     // the command that brings a release for this processor
	listed  func(path string) []string // the command that succeeds if the path is its own
	books   []string                   // files that it has if it installs anything here: without its own, rpm makes a database in the person's home
}

// owners are the package managers for which a release has a package.
func owners(processor string) []Owner {
	file := func(r Release, kind string) string {
		return "parley_" + r.Version + "_linux_" + processor + "." + kind
	}
	return []Owner{{
		Name: "deb", Remove: "sudo apt-get remove parley",
		Upgrade: func(r Release) string {
			return "curl -fLO " + r.Address(file(r, "deb")) + " && sudo apt-get install ./" + file(r, "deb")
		},
		listed: func(path string) []string { return []string{"dpkg-query", "--search", path} },
	}, {
		Name: "rpm", Remove: "sudo dnf remove parley",
		Upgrade: func(r Release) string { return "sudo dnf install " + r.Address(file(r, "rpm")) },
		listed:  func(path string) []string { return []string{"rpm", "--query", "--file", path} },
		books:   []string{"/usr/lib/sysimage/rpm/*", "/var/lib/rpm/*"},
	}}
}

// OwnerOf is the package manager to which a program belongs; nil: to none. Links in the path are
// followed before.
func OwnerOf(ctx context.Context, path, processor string) *Owner {
	for _, folder := range []string{"Caskroom", "Cellar"} {
		if strings.Contains(filepath.ToSlash(path), "/"+folder+"/parley/") {
			return &Owner{Name: "brew", Remove: "brew uninstall parley", Upgrade: func(Release) string { return "brew upgrade parley" }}
		}
	}
	ctx, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	for _, one := range owners(processor) {
		if len(one.books) > 0 && !slices.ContainsFunc(one.books, hasFile) {
			continue
		}
		argv := one.listed(path)
		if exec.CommandContext(ctx, argv[0], argv[1:]...).Run() == nil {
			return &one
		}
	}
	return nil
}

// hasFile reports whether a file fits a pattern.
func hasFile(pattern string) bool {
	found, _ := filepath.Glob(pattern) // a constant, and none that is wrong
	return len(found) > 0
}
