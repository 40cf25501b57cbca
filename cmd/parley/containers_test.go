package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/configs"
	"gopkg.in/yaml.v3"
)

// composeFile is the part of the Compose format that parley uses. Other keys are refused, so that
// the file has no key at which this test does not look.
type composeFile struct {
	Name     string                    `yaml:"name"`
	Host     composeService            `yaml:"x-host"`
	Services map[string]composeService `yaml:"services"`
	Volumes  map[string]any            `yaml:"volumes"`
}

type composeService struct {
	Image   string `yaml:"image"`
	Build   string `yaml:"build"`
	Init    bool   `yaml:"init"`
	Restart string `yaml:"restart"`
	Grace   string `yaml:"stop_grace_period"`
	Command []string
	Depends map[string]struct {
		Condition string `yaml:"condition"`
	} `yaml:"depends_on"`
	Volumes []string `yaml:"volumes"`
}

// mounts returns the volumes of a service, by the place where the container sees them.
func (s composeService) mounts(t *testing.T) map[string]string {
	t.Helper()
	at := map[string]string{}
	for _, v := range s.Volumes {
		parts := strings.Split(v, ":")
		if len(parts) < 2 || len(parts) == 3 && parts[2] != "ro" || at[parts[1]] != "" {
			t.Fatalf("volume %q", v)
		}
		at[parts[1]] = parts[0]
	}
	return at
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	file, err := os.Open(filepath.Join(docsRoot, "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var c composeFile
	dec := yaml.NewDecoder(file)
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

// instruction is one instruction of a Dockerfile.
type instruction struct{ word, rest string }

func readDockerfile(t *testing.T) []instruction {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(docsRoot, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	var all []instruction
	text := regexp.MustCompile(`(?m)^#.*\n`).ReplaceAllString(string(data), "")
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if word, rest, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all = append(all, instruction{word, strings.TrimSpace(rest)})
		}
	}
	return all
}

func only(t *testing.T, all []instruction, word string) string {
	t.Helper()
	var found []string
	for _, i := range all {
		if i.word == word {
			found = append(found, i.rest)
		}
	}
	if len(found) != 1 {
		t.Fatalf("the Dockerfile has %d %s, want one", len(found), word)
	}
	return found[0]
}

func jsonWords(t *testing.T, text string) []string {
	t.Helper()
	var words []string
	if err := json.Unmarshal([]byte(text), &words); err != nil {
		t.Fatalf("%q is not in the exec form: %v", text, err)
	}
	return words
}

// checkCommandLine checks that words are a command of the program, with flags that it has.
func checkCommandLine(t *testing.T, words []string) {
	t.Helper()
	cmd, rest, err := root.New(testProgram()).Find(words)
	if err != nil {
		t.Errorf("parley %q: %v", words, err)
		return
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("parley %q: %v", words, err)
		return
	}
	if help, _ := cmd.Flags().GetBool("help"); help || !cmd.Runnable() {
		return
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("parley %q: %v", words, err)
	}
}

// The image is made of stages and files that are there, with the Go of go.mod. It runs commands
// that the program has, as a user that is not root.
func TestDockerfile(t *testing.T) {
	all := readDockerfile(t)
	mod, err := os.ReadFile(filepath.Join(docsRoot, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	goVersion := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(mod))[1]
	stages, final := map[string]bool{}, ""
	for _, i := range all {
		words := strings.Fields(i.rest)
		switch i.word {
		case "FROM":
			if name, tag, ok := strings.Cut(words[0], ":"); !ok || tag == "latest" || name == "golang" && tag != goVersion+"-alpine" {
				t.Errorf("FROM %s: want a version, and Go %s", i.rest, goVersion)
			}
			if len(words) == 3 {
				stages[words[2]] = true
			}
		case "COPY":
			if from, ok := strings.CutPrefix(words[0], "--from="); ok {
				if !stages[from] {
					t.Errorf("COPY %s: there is no stage %q", i.rest, from)
				}
				final = words[2]
				continue
			}
			for _, source := range words[:len(words)-1] {
				if _, err := fs.Stat(os.DirFS(docsRoot), filepath.Clean(source)); err != nil {
					t.Errorf("COPY %s: %v", i.rest, err)
				}
			}
		case "RUN":
			if strings.Contains(i.rest, "go build") && !(strings.Contains(i.rest, "CGO_ENABLED=0") && strings.HasSuffix(i.rest, " ./cmd/parley")) {
				t.Errorf("RUN %s: want a static build of ./cmd/parley", i.rest)
			}
		}
	}
	if final != "/usr/local/bin/parley" {
		t.Errorf("the program is copied to %q", final)
	}
	if user := only(t, all, "USER"); user == "root" || user == "0" || !strings.Contains(fmt.Sprint(all), "adduser -D -u 1000 "+user) {
		t.Errorf("USER %s is root, or is not made", user)
	}
	if home, volume := only(t, all, "ENV"), only(t, all, "VOLUME"); !strings.HasPrefix(home, "PARLEY_HOME="+volume+"/") {
		t.Errorf("ENV %s is not in VOLUME %s", home, volume)
	}
	if entry := jsonWords(t, only(t, all, "ENTRYPOINT")); !slices.Equal(entry, []string{"parley-entrypoint"}) ||
		!strings.Contains(fmt.Sprint(all), "configs/compose/entrypoint.sh /usr/local/bin/parley-entrypoint") {
		t.Errorf("ENTRYPOINT %q is not what is copied", entry)
	}
	if info, err := os.Stat(filepath.Join(docsRoot, "configs", "compose", "entrypoint.sh")); err != nil || info.Mode()&0o111 != 0o111 {
		t.Errorf("the entry point cannot be run: %v, %v", info.Mode(), err)
	}
	checkCommandLine(t, jsonWords(t, only(t, all, "CMD")))
	_, health, _ := strings.Cut(only(t, all, "HEALTHCHECK"), "CMD ")
	if words := jsonWords(t, health); words[0] != "parley" {
		t.Errorf("HEALTHCHECK %q", words)
	} else {
		checkCommandLine(t, words[1:])
	}
	if stop := only(t, all, "STOPSIGNAL"); stop != "SIGTERM" {
		t.Errorf("STOPSIGNAL %s: the node ends well at SIGTERM", stop)
	}
}

// The command lines of the entry point are commands of the program.
func TestEntrypointCommands(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(docsRoot, "configs", "compose", "entrypoint.sh"))
	if err != nil {
		t.Fatal(err)
	}
	lines := regexp.MustCompile(`(?m)^\s*(?:exec|until)? ?parley ([^\n;$]*?)(?: "\$from")?(?:; do)?$`).FindAllStringSubmatch(string(data), -1)
	if len(lines) != 3 {
		t.Fatalf("found the commands %q, want init, join and up", lines)
	}
	for _, line := range lines {
		words := strings.Fields(line[1])
		if words[len(words)-1] == "--from" {
			words = append(words, "/etc/parley")
		}
		checkCommandLine(t, words)
	}
}

// There are three hosts and a service that greets them. Each host has its own settings, agents and
// volume, and all share the record. The names and ports by which they reach each other are those of
// the services.
func TestCompose(t *testing.T) {
	c := readCompose(t)
	docker := readDockerfile(t)
	home, exposed := only(t, docker, "VOLUME"), only(t, docker, "EXPOSE")
	founder, seen := "", map[string]int{}
	for name, s := range c.Services {
		if s.Image != c.Host.Image {
			t.Errorf("%s: image %q is not %q, which is built", name, s.Image, c.Host.Image)
		}
		if s.Build != "" && s.Build != "." {
			t.Errorf("%s: build %q: the Dockerfile is at the root", name, s.Build)
		}
		for other, how := range s.Depends {
			if _, ok := c.Services[other]; !ok || how.Condition != "service_healthy" {
				t.Errorf("%s depends on %s, %s", name, other, how.Condition)
			}
		}
		mounts := s.mounts(t)
		for at, what := range mounts {
			_, declared := c.Volumes[what]
			if !declared && !strings.HasPrefix(what, "./") {
				t.Errorf("%s: the volume %s is not declared", name, what)
			}
			seen[what]++
			if at != home && at != "/srv/record" && at != "/etc/parley" {
				t.Errorf("%s: nothing is at %s in the image", name, at)
			}
		}
		switch strings.Join(s.Command, " ") {
		case "found":
			founder = name
		case "join":
		default: // these are words of parley, in the volume of one of the hosts
			checkCommandLine(t, s.Command)
			if s.Restart != "on-failure" {
				t.Errorf("%s: restart %q: it would be said once, whether it worked or not, or for ever", name, s.Restart)
			}
			if _, ok := s.Depends[mounts[home]]; !ok {
				t.Errorf("%s does not wait for %s, in whose volume it works", name, mounts[home])
			}
			continue
		}
		checkComposeHost(t, name, exposed, mounts, mounts[home] == name)
	}
	for volume := range c.Volumes {
		if seen[volume] == 0 {
			t.Errorf("nobody uses the volume %s", volume)
		}
	}
	for name, s := range c.Services {
		if _, waits := s.Depends[founder]; !waits && name != founder {
			t.Errorf("%s does not wait for %s, which founds the record", name, founder)
		}
	}
}

// checkComposeHost checks the settings that lie ready for one host.
func checkComposeHost(t *testing.T, name, port string, mounts map[string]string, ownVolume bool) {
	t.Helper()
	dir := filepath.Join(docsRoot, mounts["/etc/parley"])
	cfg, err := configs.Load(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	agents, err := configs.ReadAgents(filepath.Join(dir, "agents"))
	if err != nil || len(agents) == 0 {
		t.Errorf("%s has the agents %v, %v", name, agents, err)
	}
	if cfg.Alias.String() != name || !ownVolume || mounts["/srv/record"] != "record" {
		t.Errorf("%s has the alias %s and the volumes %v", name, cfg.Alias, mounts)
	}
	if !strings.HasPrefix(cfg.Remote, "/srv/record/") {
		t.Errorf("%s: the remote %s is not in the shared volume", name, cfg.Remote)
	}
	if want := []string{name + ":" + port}; cfg.Bus.Links != "0.0.0.0:"+port || !slices.Equal(cfg.Bus.Advertise, want) {
		t.Errorf("%s: links at %s, told as %q, want port %s and %q", name, cfg.Bus.Links, cfg.Bus.Advertise, port, want)
	}
}
