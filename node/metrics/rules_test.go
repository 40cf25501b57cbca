package metrics

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

const examples = "../../configs/prometheus"

// rules is a file of rules of Prometheus, as far as this test needs them.
type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr string
			For         time.Duration
			Labels      map[string]string
			Annotations map[string]string
		}
	}
}

// TestRules reads the example rules and looks for the metrics that they name.
func TestRules(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(examples, "alerts.yml"))
	if err != nil {
		t.Fatal(err)
	}
	in := yaml.NewDecoder(bytes.NewReader(data))
	in.KnownFields(true)
	var all rules
	if err := in.Decode(&all); err != nil {
		t.Fatal(err)
	}
	known := series(t)
	for _, g := range all.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Expr == "" || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
				t.Errorf("a rule is not whole: %+v", r)
			}
			wantKnown(t, known, r.Alert, r.Expr)
		}
	}
}

// TestDashboard reads the example dashboard and looks for the metrics that it names.
func TestDashboard(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(examples, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Definition string } }
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	known, ids := series(t), map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || len(p.Targets) == 0 {
			t.Errorf("the panel %q shows nothing, or has the id of another one", p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			wantKnown(t, known, p.Title, target.Expr)
		}
	}
	for _, v := range board.Templating.List {
		wantKnown(t, known, "a variable", v.Definition)
	}
}

// name matches a word of an expression that can only be a metric of a node.
var name = regexp.MustCompile(`\b(parley|go|process)_[a-z_]+`)

func wantKnown(t *testing.T, known map[string]bool, where, expr string) {
	t.Helper()
	for _, metric := range name.FindAllString(expr, -1) {
		if !known[metric] {
			t.Errorf("%s: there is no metric %s", where, metric)
		}
	}
}

// series returns the names under which a node's metrics are stored.
func series(t *testing.T) map[string]bool {
	t.Helper()
	families, err := whole(t).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, f := range families {
		all[f.GetName()] = true
		if f.GetType().String() == "HISTOGRAM" {
			for _, end := range []string{"_bucket", "_sum", "_count"} {
				all[f.GetName()+end] = true
			}
		}
	}
	return all
}

// TestPromtool has Prometheus's own program check the rules, and try them.
func TestPromtool(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed: the rules are not tried")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.Command(promtool, args...)
		cmd.Dir = examples
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
