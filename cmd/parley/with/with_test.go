package with

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// listed is what `parley work-with --list` prints where nothing is active.
func listed(t *testing.T, terminal bool, more ...string) string {
	t.Helper()
	var out bytes.Buffer
	home := t.TempDir()
	p := cli.New(strings.NewReader(""), &out, &bytes.Buffer{}, func(name string) string { return map[string]string{"PARLEY_HOME": home}[name] })
	p.Out, p.Zone = term.Screen{Writer: &out, Terminal: terminal, Width: 80}, time.UTC
	p.Now = func() time.Time { return time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC) }
	p.Connect = func(string) control.Service {
		return control.Bind(control.Topics.By(func(context.Context, control.TopicsRequest) (control.TopicList, error) {
			return control.TopicList{Me: "skills"}, nil
		}))
	}
	cmd := NewCommand(p)
	cmd.SetArgs(append([]string{"--list"}, more...))
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Work-with W3: a person reads the time first, in the seed's form. What is piped begins with the
// answer.
func TestTheTimeComesFirst(t *testing.T) {
	for terminal, want := range map[bool]string{true: "🕐 19:01 UTC (Saturday 23 May 2026)\nNo active collaborations.\n", false: "No active collaborations.\n"} {
		if got := listed(t, terminal); !strings.HasPrefix(got, want) {
			t.Errorf("a terminal: %v; got\n%s\nwant\n%s", terminal, got, want)
		}
	}
}

// It prevents: a hint that is refused when it is typed, because it leaves out for whom one acts.
func TestAHintIsForTheSameAgent(t *testing.T) {
	if got, want := listed(t, true, "--via", "skills"), `parley work-with mawjs "topic" --via skills`; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant the hint\n%s", got, want)
	}
}

// It prevents: a flag that is typed beside something of which it says nothing, and that is ignored
// in silence: "--list --until tomorrow", "--accept A1 --item A2".
func TestFlagsGoWithWhatTheySayMoreOf(t *testing.T) {
	values := map[string]string{"anchor": "332", "item": "A1", "reason": "x", "claim": "x", "persist": "true", "wait": "1s", "text": "x", "until": "2027-04-20"}
	for _, a := range append(actions(), action{}) {
		for flag, value := range values {
			cmd := NewCommand(cli.New(nil, nil, nil, func(string) string { return "" }))
			c := &call{flags: map[string]string{}}
			args := []string{"--" + flag + "=" + value}
			if a.flag != "" && a.takes == "" {
				args = append(args, "--"+a.flag)
			} else if a.flag != "" {
				args = append(args, "--"+a.flag, "A1")
			}
			if err := cmd.ParseFlags(args); err != nil {
				t.Fatal(err)
			}
			chosen, err := c.chosen(cmd)
			if err != nil {
				t.Fatal(err)
			}
			if chosen == nil && flag == "persist" {
				chosen = &action{flag: "persist"}
			}
			err = besides(cmd, chosen)
			goes := strings.Contains(" "+a.beside+" ", " "+flag+" ") || a.flag == "" && (flag == "anchor" || flag == "persist")
			if goes != (err == nil) {
				t.Errorf("%s: %v, want it to be taken: %v", strings.Join(args, " "), err, goes)
			}
		}
	}
}
