package with

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
)

// It prevents: a flag that is typed beside something that it says nothing of, and is passed
// over in silence: "--list --until tomorrow", "--accept A1 --item A2".
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
