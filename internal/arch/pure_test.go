package arch

import (
	"testing"
)

func TestCheckPurity(t *testing.T) {
	const why = " (why: same bytes, same meaning)"
	tests := []struct {
		name string
		file string
		want []string
	}{
		{
			name: "a pure file",
			file: `package pure

import (
	"fmt"
	"time"
)

func Later(now time.Time) string { return fmt.Sprint(now.Add(time.Hour)) }
`,
		},
		{
			name: "imports",
			file: `package pure

import (
	_ "crypto/rand"
	_ "io/fs"
	_ "log/slog"
	_ "math/rand/v2"
	_ "net"
	_ "net/http"
	_ "net/netip"
	_ "os/exec"
)
`,
			want: []string{
				"pure/a.go:4 imports crypto/rand, but pure must be pure: it draws random numbers; take an io.Reader or the value as an argument" + why,
				"pure/a.go:5 imports io/fs, but pure must be pure: it reads or changes the machine" + why,
				"pure/a.go:6 imports log/slog, but pure must be pure: it writes where no caller asked for it" + why,
				"pure/a.go:7 imports math/rand/v2, but pure must be pure: it draws random numbers; take an io.Reader or the value as an argument" + why,
				"pure/a.go:8 imports net, but pure must be pure: it talks to other machines" + why,
				"pure/a.go:9 imports net/http, but pure must be pure: it talks to other machines" + why,
				"pure/a.go:11 imports os/exec, but pure must be pure: it reads or changes the machine" + why,
			},
		},
		{
			name: "the clock, under another name and as a value too",
			file: `package pure

import (
	"fmt"
	clock "time"
)

var now = clock.Now

func Wait() {
	clock.Sleep(1)
	go fmt.Println(now().In(clock.Local))
}
`,
			want: []string{
				"pure/a.go:8 uses time.Now, but pure must be pure: it asks the clock; take the time as an argument" + why,
				"pure/a.go:11 uses time.Sleep, but pure must be pure: it waits" + why,
				"pure/a.go:12 starts a goroutine, but pure must be pure: its outcome would depend on scheduling" + why,
				"pure/a.go:12 uses fmt.Println, but pure must be pure: it uses the terminal" + why,
				"pure/a.go:12 uses time.Local, but pure must be pure: it depends on the machine's time zone" + why,
			},
		},
		{
			name: "a local name is no import",
			file: `package pure

import "time"

type clock struct{ Now func() time.Time }

func When(time clock) any { return time.Now() }
`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			compare(t, map[string]string{
				"pure/a.go": test.file,
				// Tests may do all of this.
				"pure/a_test.go": "package pure\n\nimport (\n\t_ \"os\"\n\t\"time\"\n)\n\nfunc f() { go time.Now() }\n",
			}, test.want)
		})
	}
}

func TestCheckVariables(t *testing.T) {
	const why = " (why: two nodes run in one process; state belongs to a value that New returned)"
	tests := []struct {
		name string
		file string
		want []string
	}{
		{
			name: "constants in all but name",
			file: `package store

import "regexp"

var (
	pattern = regexp.MustCompile("a")
	table   = map[string]int{"a": 1}
)

func local(table map[string]int) {
	table["b"] = 2
	pattern := 1
	pattern++
	for pattern = range 3 {
	}
}
`,
		},
		{
			name: "every way to change one",
			file: `package store

import "example.com/git"

var (
	count int
	table = map[string]int{}
	state struct{ list []git.Hash }
	where = new(int)
)

func change() {
	count++
	count, _ = git.Unknown()
	table["a"] = 1
	state.list[0] = git.Zero
	*where = count
	func() { (table) = nil }()
	for count = range 3 {
	}
}

func again() { count = git.Unknown() }
`,
			want: []string{
				"store/a.go:13 changes the package-level variable count" + why,
				"store/a.go:14 changes the package-level variable count" + why,
				"store/a.go:15 changes the package-level variable table" + why,
				"store/a.go:16 changes the package-level variable state" + why,
				"store/a.go:17 changes the package-level variable where" + why,
				"store/a.go:18 changes the package-level variable table" + why,
				"store/a.go:19 changes the package-level variable count" + why,
				"store/a.go:23 changes the package-level variable count" + why,
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			compare(t, map[string]string{
				"store/a.go": test.file,
				// The same variable on another system is one variable.
				"store/a_windows.go": "package store\n\nvar count int\n",
			}, test.want)
		})
	}
}
