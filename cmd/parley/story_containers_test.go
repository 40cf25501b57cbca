package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// container is a service of docker-compose.yml that runs as a process. It has the entry point and
// the words that stand there. Folders take the place of volumes, and an address of this machine
// takes the place of its own.
type container struct {
	*storyHost
	words []string
	from  string // what it sees as /etc/parley
}

// containers returns the hosts of docker-compose.yml, with their folders below dir.
func containers(t *testing.T, c composeFile, dir string) map[string]*container {
	t.Helper()
	all, n := map[string]*container{}, 0
	for name, s := range c.Services {
		source, ok := s.mounts(t)["/etc/parley"]
		if !ok {
			continue
		}
		n++
		from := filepath.Join(dir, "etc", name)
		if err := os.CopyFS(from, os.DirFS(filepath.Join(docsRoot, source))); err != nil {
			t.Fatal(err)
		}
		adapt(t, filepath.Join(from, "config.yaml"), fmt.Sprintf("127.0.0.%d:0", n), filepath.Join(dir, "record.git"))
		home := configs.Home{Dir: filepath.Join(dir, name)}
		h := &storyHost{t: t, home: home, client: control.NewClient(home.Socket(), cli.Version)}
		t.Cleanup(h.kill)
		all[name] = &container{h, s.Command, from}
	}
	return all
}

// adapt rewrites what holds in a container only: its addresses and the place of the record.
func adapt(t *testing.T, file, address, record string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`links: .*`).ReplaceAllString(string(data), "links: "+address)
	text = regexp.MustCompile(`(?m)^  advertise: .*\n`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`remote: .*`).ReplaceAllString(text, "remote: "+record)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// entrypoint returns the image's entry point with these words as a command.
func (c *container) entrypoint(words ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), "sh", append([]string{filepath.Join(docsRoot, "configs", "compose", "entrypoint.sh")}, words...)...)
	cmd.Env = append(os.Environ(), "PARLEY_HOME="+c.home.Dir, "PARLEY_FROM="+c.from, "PARLEY_AGENT=", "PARLEY_TOKEN=", "PARLEY_SOCKET=", "GORACE=atexit_sleep_ms=0",
		"GIT_CONFIG_GLOBAL=/dev/null")
	return cmd
}

// up starts the container. It does not wait for the node.
func (c *container) up() {
	c.t.Helper()
	c.output, c.ended = &firstWord{came: make(chan struct{})}, make(chan struct{})
	c.storyHost.up = c.entrypoint(c.words...)
	c.storyHost.up.Stdout, c.storyHost.up.Stderr = c.output, c.output
	if err := c.storyHost.up.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func(up *exec.Cmd, ended chan<- struct{}) { // ends with the process
		_ = up.Wait() // ProcessState says how it ended
		close(ended)
	}(c.storyHost.up, c.ended)
}

// healthy waits until the container is what the image calls healthy.
func (c *container) healthy() {
	c.t.Helper()
	c.until("the container is healthy", func() bool {
		_, err := c.try("status")
		return err == nil
	})
}

// The hosts of docker-compose.yml run as processes of this machine, with the settings, agents,
// entry point and command lines that stand there. They find each other, and their agents answer
// from host to host. A second start is only a start.
func TestComposeHostsAsProcesses(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs sh")
	}
	c := readCompose(t)
	hosts := containers(t, c, t.TempDir())
	unfinished := filepath.Join(hosts["black"].home.Keys(), "host.nk")
	if err := os.MkdirAll(filepath.Dir(unfinished), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(unfinished, []byte("of a start that was cut off\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// They start in any order: a host that joins waits for the record.
	for _, h := range hosts {
		h.up()
	}
	for _, h := range hosts {
		h.healthy()
	}
	world, white := hosts["oracle-world"], hosts["white"]
	for _, h := range hosts {
		h.until("all agents are known here", func() bool {
			out := h.must("ls")
			return strings.Contains(out, "words") && strings.Contains(out, "loud") && strings.Contains(out, "first")
		})
		h.until("all hosts are live here", func() bool { return strings.Count(h.must("host", "list"), "live") == len(hosts)-1 })
	}
	greet := world.entrypoint(c.Services["greeting"].Command...)
	if out, err := greet.Output(); err != nil || strings.TrimSpace(string(out)) != "GOOD MORNING" {
		t.Errorf("greeting: %v, %q", err, out)
	}
	if out := white.must("wormhole", "black:first", "--wait", "20s", "one\ntwo"); strings.TrimSpace(out) != "one" {
		t.Errorf("the agent of black answered %q", out)
	}
	if out := hosts["black"].must("wormhole", "oracle-world:words", "--wait", "20s", "one two three"); strings.TrimSpace(out) != "3" {
		t.Errorf("the agent of oracle-world answered %q", out)
	}

	key, before := white.publicKey(), len(white.log())
	if err := white.storyHost.up.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-white.ended
	if !white.storyHost.up.ProcessState.Success() {
		t.Errorf("the container ended with %s: %s", white.storyHost.up.ProcessState, white.output.text.String())
	}
	white.up()
	white.healthy()
	if after := len(white.log()); white.publicKey() != key || after < before {
		t.Errorf("after a second start: key %s, %d messages; before: %s, %d", white.publicKey(), after, key, before)
	}
	for _, h := range hosts {
		h.until("the record has no hole left", func() bool { _, err := h.try("record", "verify"); return err == nil })
		h.stop()
	}
	if bytes.Contains(white.output.text.Bytes(), []byte("is a host of")) {
		t.Errorf("the second start made the host anew: %s", &white.output.text)
	}
}
