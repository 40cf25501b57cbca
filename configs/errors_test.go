package configs

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Each file in testdata/errors is a config.yaml (agent-*: an agent's file) that is wrong. The
// .golden file beside it has what is said about it.
func TestErrorTexts(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		path := write(t, name, string(data))
		if strings.HasPrefix(name, "agent-") {
			_, err = readAgent(path)
		} else {
			_, err = Load(path)
		}
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		got := strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "") + "\n"
		golden := strings.TrimSuffix(file, ".yaml") + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s:\n got %swant %s", name, got, want)
		}
	}
}

func TestValidateHasNoLines(t *testing.T) {
	c := full()
	c.MaxHops = 0
	c.LogLevel = ""
	const want = "cannot use this configuration: 2 problems\n" +
		"  max_hops: 0 is not from 1 to 1000\n" +
		"  log_level: \"\" is not a level: use one of trace, debug, info, warn, error"
	if err := c.Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if err := full().Validate(); err != nil {
		t.Error(err)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"fleet", "alias", "bus", "bus.listen", "bus.url", "fetch_interval", "message_limit"}
	for key, want := range map[string]string{
		"Fleet":                    "fleet",
		"flete":                    "fleet",
		"fetch-interval":           "fetch_interval",
		"fetch_intervall":          "fetch_interval",
		"listen":                   "bus.listen",
		"bus.lisen":                "bus.listen",
		"url":                      "bus.url",
		"x":                        "",
		"":                         "",
		"colour":                   "",
		strings.Repeat("long", 50): "",
	} {
		if got := Nearest(key, known); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}
