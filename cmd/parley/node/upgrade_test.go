package node

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
)

func TestUpgradeForPeople(t *testing.T) {
	for _, test := range []struct {
		name  string
		line  string
		width int // 0: piped
		want  string
	}{
		{"upgrade --check", "upgrade --check", 80, `
FILE                   STATE
upstream/CROSSTALK.md  current
upstream/JITTER.md     changed
next: parley record upgrade   write what has changed
`},
		{"upgrade", "upgrade", 0, `
FILE                   STATE
upstream/CROSSTALK.md  current
upstream/JITTER.md     changed
1 file brought up to parley ` + cli.Version + `
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			r.SomeBooks(t)
			r.WantPrinted(t, test.width, strings.Fields(test.line), test.want)
		})
	}
}

func TestCommandLineThatUpgrades(t *testing.T) {
	newRun(t).WantAsked(t, []string{"upgrade", "--check"}, `upgrade {"check":true}`)
}
