package configs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// full is a configuration in which no setting has its default.
func full() Config {
	return Config{
		Fleet: "0123", Alias: "white", Human: "true", Remote: "git@example.org:a b/record.git",
		Bus: Bus{
			Listen: "127.0.0.1:4222", Links: "[::1]:7422", Advertise: []string{"white.example:7422", "[2001:db8::1]:7"},
			Hubs: []string{"black@localhost:7001", "127.0.0.1:7002"},
		},
		FetchInterval: 90 * time.Second, PushInterval: 250 * time.Millisecond, CourierGrace: 2 * time.Hour,
		MaxHops: 3, MaxRuns: 40, MaxConversationRuns: 20, MaxTurns: 10, MaxCommands: 5, MessageLimit: 30_001, CommandTimeout: 5 * time.Minute, ClaimFor: time.Hour, LogLevel: "debug", Metrics: "127.0.0.1:9464",
		Notify: []Notification{{Command: `sh -c "x"`, For: []string{NotifyGate}, Quiet: QuietHours{{From: 22 * 60, To: 7 * 60}}}, {Command: "mail"}},
	}
}

// write writes a config.yaml in a folder of its own and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDefaults(t *testing.T) {
	got, err := Load(write(t, "config.yaml", "fleet: f\nalias: a\nhuman: h\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Fleet: "f", Alias: "a", Human: "h",
		FetchInterval: 10 * time.Second, CourierGrace: 30 * time.Second, MaxHops: 8, MaxRuns: 60, MaxConversationRuns: 30, MaxTurns: 20, MessageLimit: 512 * 1024,
		CommandTimeout: time.Minute, ClaimFor: 15 * time.Minute, LogLevel: "info",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadEverything(t *testing.T) {
	got, err := Load(write(t, "config.yaml", `
fleet: 0123        # taken by its text
alias: white
human: true
remote: git@example.org:a b/record.git
bus: {listen: 127.0.0.1:4222, links: "[::1]:7422", advertise: [white.example:7422, "[2001:db8::1]:7"], hubs: ["black@localhost:7001", 127.0.0.1:7002], url: }
fetch_interval: 1m30s
push_interval: 250ms
courier_grace: 2h
max_hops: 3
max_runs: 40
max_conversation_runs: 20
max_turns: 10
max_commands: 5
message_limit: 30001
command_timeout: 5m
claim_for: 1h
log_level: debug
metrics: 127.0.0.1:9464
notify: [{command: 'sh -c "x"', for: [gate], quiet: 22:00-07:00}, {command: mail}]
`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	_, err := Load(path)
	var missing *NotFoundError
	if !errors.As(err, &missing) || missing.Path != path || !errors.Is(err, ErrNoConfig) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if want := "cannot read " + path + ": there is no configuration (parley init makes one)"; err.Error() != want {
		t.Errorf("got %q", err)
	}
}

func TestLoadUnreadable(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.HasPrefix(err.Error(), "cannot read "+dir+": ") {
		t.Errorf("a folder: %v", err)
	}
	path := write(t, "config.yaml", "fleet: f\n#"+strings.Repeat(" ", maxFileBytes))
	if _, err := Load(path); err == nil || err.Error() != "cannot read "+path+": it is larger than 64KiB" {
		t.Errorf("a large file: %v", err)
	}
}

func TestLinksAddress(t *testing.T) {
	for _, test := range []struct {
		bus  Bus
		want string
	}{
		{Bus{}, ""},
		{Bus{Links: "127.0.0.1:1"}, "127.0.0.1:1"},
		{Bus{Listen: "127.0.0.1:4222"}, "127.0.0.1:4223"},
		{Bus{Listen: "[::1]:4222"}, "[::1]:4223"},
		{Bus{Listen: "localhost:0"}, "localhost:0"},
		{Bus{Listen: "localhost:5", Links: "127.0.0.1:0"}, "127.0.0.1:0"},
	} {
		if got := test.bus.LinksAddress(); got != test.want {
			t.Errorf("%+v: %q, want %q", test.bus, got, test.want)
		}
	}
}

func TestPushEvery(t *testing.T) {
	for remote, want := range map[string]time.Duration{
		"":                                 time.Second,
		"/srv/record.git":                  time.Second,
		"ssh://git@git.example.org/a/b":    time.Second,
		"git@example.org:github.com/a":     time.Second,
		"https://github.com.example.org/a": time.Second,
		"https://github.com/a/b.git":       10 * time.Second,
		"git@GitHub.com:a/b.git":           10 * time.Second,
		"ssh://git@ssh.github.com:443/a/b": 10 * time.Second,
		"https://me@gitlab.com/a/b":        10 * time.Second,
		"https://a@dev.azure.com/a/_git/b": 10 * time.Second,
		"codeberg.org:a/b":                 10 * time.Second,
		"git@git.sr.ht:~a/b":               10 * time.Second,
		"git@ssh.dev.azure.com:v3/a/b/c":   10 * time.Second,
		"https://github.com:bad port/a/b":  time.Second,
	} {
		if got := (Config{Remote: remote}).PushEvery(); got != want {
			t.Errorf("%q: %s, want %s", remote, got, want)
		}
	}
	if got := (Config{Remote: "https://github.com/a/b", PushInterval: time.Minute}).PushEvery(); got != time.Minute {
		t.Errorf("set: %s", got)
	}
}
