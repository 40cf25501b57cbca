package cli

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/internal/term"
)

func TestColumnsGiveWayInTheirOrder(t *testing.T) {
	for _, test := range []struct {
		name  string
		width int
		want  string
	}{
		{"piped", 0, `
NAME              WHEN                     FOLDER                     PART
a-name-of-length  2026-05-23 21:01 +02:00  /home/nat/projects/parley  all
世界                                       /srv
`},
		{"wide", 80, `
NAME              WHEN                     FOLDER                     PART
a-name-of-length  2026-05-23 21:01 +02:00  /home/nat/projects/parley  all
世界                                       /srv
`},
		{"the first gives what is too much", 72, `
NAME            WHEN                     FOLDER                     PART
a-name-of-len…  2026-05-23 21:01 +02:00  /home/nat/projects/parley  all
世界                                     /srv
`},
		{"then the day is enough", 60, `
NAME         WHEN        FOLDER                     PART
a-name-of-…  2026-05-23  /home/nat/projects/parley  all
世界                     /srv
`},
		{"then the folder gives", 50, `
NAME         WHEN        FOLDER               PART
a-name-of-…  2026-05-23  …at/projects/parley  all
世界                     /srv
`},
		{"then the last is left out, and the rest comes from the flexible one", 40, `
NAME        WHEN        FOLDER
a-name-of…  2026-05-23  …projects/parley
世界                    /srv
`},
	} {
		var out bytes.Buffer
		v := View{Out: term.Screen{Writer: &out, Terminal: test.width > 0, Width: test.width}}
		v.Table(term.Table{
			Heading:  []string{"NAME", "WHEN", "FOLDER", "PART"},
			Rows:     [][]string{{"a-name-of-length", "2026-05-23 21:01 +02:00", "/home/nat/projects/parley", "all"}, {"世界", "", "/srv", ""}},
			Flexible: 0,
		}, Squeeze{Column: 0, Least: 11}, Squeeze{Column: 1, Least: DayWidth, Cut: ToDay}, Squeeze{Column: 2, Least: 16, Cut: ToEnd}, Squeeze{Column: 3})
		if diff := cmp.Diff(test.want, "\n"+out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestNextIsShortWhereItMust(t *testing.T) {
	const letterPath = "adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/190100000Z-b2c3d4e5.md"
	var out bytes.Buffer
	v := View{Out: term.Screen{Writer: &out, Terminal: true, Width: 40}, Command: func(words string) string { return words }}
	v.Next("parley inbox", "what waits")
	v.Next("parley show "+letterPath, "a command is never cut")
	if want := "next: parley inbox   what waits\nnext: parley show " + letterPath + "\n"; out.String() != want {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
}
