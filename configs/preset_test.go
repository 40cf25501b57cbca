package configs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Every preset makes an agent that can be written, and has its page.
func TestPresets(t *testing.T) {
	presets, err := Presets()
	if err != nil || len(presets) < 6 {
		t.Fatalf("%d presets, %v", len(presets), err)
	}
	seen := map[string]bool{}
	for _, p := range presets {
		a := Agent{Name: "agent", Door: DoorExec, Input: p.Input, Open: p.Open, Preset: p.Name, Timeout: p.Timeout, Env: p.Env,
			Tiers: []Tier{{Name: "default", Count: 1, Exec: p.Exec}}}
		if err := a.Validate(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if seen[p.Name] || p.Title == "" || p.Install == "" || p.Note == "" || p.Timeout < time.Minute ||
			!strings.HasPrefix(p.Source, "https://") || !strings.HasPrefix(p.Exec, p.Program+" ") {
			t.Errorf("%s is not told in full: %+v", p.Name, p)
		}
		if len(p.Env) < 4 || !p.Env.Let("https_proxy") || !p.Env.Let("XDG_CONFIG_HOME") || p.Env.Let("GITLAB_TOKEN") || p.Env.Let("COPILOT_ALLOW_ALL") {
			t.Errorf("%s is given %s", p.Name, p.Env)
		}
		seen[p.Name] = true
		page, err := os.ReadFile(filepath.Join("..", "docs", "how-to", "agents", p.Name+".md"))
		if err != nil {
			t.Error(err)
			continue
		}
		a.Tiers[0].Exec = p.Resume
		if err := a.Validate(); err != nil || !strings.HasPrefix(p.Resume, p.Program+" ") {
			t.Errorf("%s goes on with %q: %v", p.Name, p.Resume, err)
		}
		must := []string{p.Exec, p.Source, "--preset " + p.Name, p.Resume}
		for _, name := range p.Login {
			if must = append(must, "`~/"+name+"`"); !filepath.IsLocal(name) {
				t.Errorf("%s: %q is no path below a home", p.Name, name)
			}
		}
		for _, must := range must {
			if !strings.Contains(string(page), must) {
				t.Errorf("the page of %s does not say %q", p.Name, must)
			}
		}
		if found, err := FindPreset(p.Name); err != nil || !reflect.DeepEqual(found, p) {
			t.Errorf("found %+v, %v", found, err)
		}
	}
	for name, want := range map[string]string{"clade": "did you mean claude?", "zzzzzz": "there are claude"} {
		if _, err := FindPreset(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
