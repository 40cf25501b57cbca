package secrets

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// some gives n characters of an alphabet, all different at first. So no file has a whole token,
// which would stop a push to hosts that look for them.
func some(alphabet string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte(alphabet[(i*7+3)%len(alphabet)])
	}
	return b.String()
}

const (
	hexes  = "0123456789abcdef"
	capped = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	wide   = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	words  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	bech   = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"
)

// known has one secret or more of each rule.
var known = map[string][]string{
	"private key":        {"-----BEGIN OPENSSH PRIVATE " + "KEY-----\n" + some(wide, 70) + "\n" + some(wide, 70) + "\n-----END OPENSSH PRIVATE KEY-----", "-----BEGIN PRIVATE " + "KEY-----\n" + some(wide, 100), `-----BEGIN RSA PRIVATE ` + `KEY-----\n` + some(wide, 100) + `\n-----END RSA PRIVATE KEY-----`},
	"age key":            {"AGE-SECRET-" + "KEY-1" + some(bech, 58)},
	"parley token":       {"eyJh" + "Ijoi" + some(wide, 40) + "." + some(wide, 43)},
	"invitation line":    {"parley://192.0.2.7:4222,[2001:db8::7]:4222/#" + some(wide, 110)},
	"NATS seed":          {"SU" + some(capped, 56), "SA" + some(capped, 56)},
	"GitHub token":       {"ghp_" + some(wide, 36), "gho_" + some(wide, 36), "ghs_" + some(wide, 40), "github_" + "pat_" + some(wide, 22) + "_" + some(wide, 59)},
	"GitLab token":       {"glpat-" + some(wide, 20), "glrt-" + some(wide, 20)},
	"Bitbucket token":    {"ATBB" + some(wide, 32), "ATATT3" + some(wide, 180)},
	"AWS access key":     {"AKIA" + some(capped, 16), "ASIA" + some(capped, 16)},
	"Google API key":     {"AIza" + some(wide, 35)},
	"Google token":       {"GOCSPX-" + some(wide, 28), "ya29." + some(wide, 60)},
	"Azure key":          {"AccountKey=" + some(wide, 86) + "==", "SharedAccessKey=" + some(wide, 43) + "="},
	"DigitalOcean token": {"dop_v1_" + some(hexes, 64)},
	"Alibaba key":        {"LTAI" + some(wide, 20)},
	"Fly.io token":       {"fo1_" + some(wide, 43), "fm2_" + some(wide, 120)},
	"Cloudflare key":     {"v1.0-" + some(hexes, 24) + "-" + some(hexes, 146)},
	"Heroku key":         {"HRKU-" + some(wide, 60)},
	"Databricks token":   {"dapi" + some(hexes, 32)},
	"Vault token":        {"hvs." + some(wide, 95)},
	"Terraform token":    {".atlasv1." + some(wide, 67)},
	"Doppler token":      {"dp.pt." + some(wide, 43)},
	"Pulumi token":       {"pul-" + some(hexes, 40)},
	"1Password token":    {"ops_" + "eyJ" + some(wide, 260)},
	"Tailscale key":      {"tskey-auth-" + some(wide, 12) + "-" + some(wide, 32)},
	"Anthropic key":      {"sk-ant-" + "api03-" + some(wide, 93) + "AA"},
	"OpenAI key":         {"sk-" + some(wide, 20) + "T3Blbk" + "FJ" + some(wide, 20), "sk-proj-" + some(wide, 120)},
	"OpenRouter key":     {"sk-or-" + "v1-" + some(hexes, 64)},
	"Hugging Face token": {"hf_" + some(words, 34)},
	"Groq key":           {"gsk_" + some(wide, 52)},
	"xAI key":            {"xai-" + some(wide, 80)},
	"Perplexity key":     {"pplx-" + some(wide, 48)},
	"Replicate token":    {"r8_" + some(wide, 37)},
	"Slack token":        {"xoxb-" + "123456789012-" + some(wide, 24), "xapp-1-" + some(capped, 11) + "-1234567890-" + some(hexes, 64)},
	"Slack webhook":      {"hooks.slack.com/" + "services/T" + some(capped, 10) + "/B" + some(capped, 10) + "/" + some(wide, 24)},
	"Discord webhook":    {"discord.com/api/" + "webhooks/123456789012345678/" + some(wide, 68)},
	"Telegram token":     {":AA" + some(wide, 33)},
	"Twilio key":         {"SK" + some(hexes, 32)},
	"SendGrid key":       {"SG." + some(wide, 22) + "." + some(wide, 43)},
	"Mailgun key":        {"key-" + some(hexes, 32)},
	"Stripe key":         {"sk_" + "live_" + some(wide, 24), "rk_" + "test_" + some(wide, 99), "whsec_" + some(wide, 32)},
	"Square token":       {"sq0atp-" + some(wide, 22), "EAAA" + some(wide, 60)},
	"Shopify token":      {"shpat_" + some(hexes, 32)},
	"npm token":          {"npm_" + some(wide, 36)},
	"PyPI token":         {"pypi-AgEI" + "cHlwaS5vcmc" + some(wide, 100)},
	"RubyGems key":       {"rubygems_" + some(hexes, 48)},
	"Docker token":       {"dckr_pat_" + some(wide, 27)},
	"Linear key":         {"lin_api_" + some(wide, 40)},
	"Notion token":       {"ntn_12345678901" + some(wide, 35)},
	"Postman key":        {"PMAK-" + some(hexes, 24) + "-" + some(hexes, 34)},
	"Grafana token":      {"glsa_" + some(wide, 32) + "_" + some(hexes, 8)},
	"Sentry token":       {"sntryu_" + some(hexes, 64)},
	"New Relic key":      {"NRAK-" + some("ABCDEFGHIJ0123456789", 27)},
	"Dynatrace token":    {"dt0c01." + some(capped, 24) + "." + some(capped, 64)},
	"Figma token":        {"figd_" + some(wide, 40)},
	"PlanetScale token":  {"pscale_tkn_" + some(wide, 43)},
	"Supabase key":       {"sbp_" + some(hexes, 40)},
}

// Each form is found as a whole, in its line, with its kind, wherever it stands.
func TestEachFormIsFound(t *testing.T) {
	for _, r := range rules {
		if known[r.kind] == nil {
			t.Errorf("no test has a %s", r.kind)
		}
	}
	for kind, all := range known {
		for _, secret := range all {
			for _, around := range [][2]string{{"", ""}, {"one\ntwo: ", " and more"}, {`{"key":"`, `"}`}, {"KEY=", "\nnext"}, {"(", ")."}} {
				text := around[0] + secret + around[1]
				found := Find(text)
				if len(found) != 1 || found[0].Kind != kind || found[0].Begin != len(around[0]) || found[0].Line != 1+strings.Count(around[0], "\n") {
					t.Errorf("in %q: %+v, want one %s", text, found, kind)
					continue
				}
				if masked, n := Mask(text); n != 1 || strings.Contains(masked, secret[len(secret)/2:]) || !strings.HasPrefix(masked, around[0]+"[secret: ") {
					t.Errorf("masked: %q", masked)
				}
				if len(Find(text)) == 0 {
					t.Errorf("a look at %q finds nothing", text)
				}
			}
		}
	}
}

// What only looks like a secret passes: placeholders, parts of words, and what is too short.
func TestWhatIsNoSecret(t *testing.T) {
	for _, text := range []string{
		"", "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "AKIA" + "IOSFODNN7EXAMPLE", "ghp_ is how they begin", "ghp_" + some(wide, 20),
		"graph_" + "ghp_" + some(wide, 36), "task-123", "sk-learn and sk-proj-x", "-----BEGIN PUBLIC KEY-----\n" + some(wide, 70), "-----BEGIN PRIVATE KEY-----", "eyJhIjoi is no token",
		"UA" + some(capped, 54), "the SUM and the SKY", strings.Repeat("key-", 50), "a1b2c3d4-" + some(hexes, 32),
	} {
		if found := Find(text); found != nil {
			t.Errorf("in %q: %+v", text, found)
		}
		if masked, n := Mask(text); n != 0 || masked != text {
			t.Errorf("%q became %q", text, masked)
		}
	}
}

// It prevents: one message with many starts of secrets holds a node up for a minute.
func TestManyStartsTakeNoTime(t *testing.T) {
	text, begun := strings.Repeat("eyJh"+"Ijoi-", 1<<16/9), time.Now()
	if found, took := Find(text), time.Since(begun); found != nil || took > 15*time.Second {
		t.Errorf("%v after %s", found, took)
	}
}

// Two secrets in one text are both found, and one that two rules know counts once.
func TestSeveralSecrets(t *testing.T) {
	masked, n := Mask("a " + known["GitHub token"][0] + "\nb " + known["Anthropic key"][0] + " c " + known["OpenRouter key"][0])
	if n != 3 || masked != "a [secret: github token]\nb [secret: anthropic key] c [secret: openrouter key]" {
		t.Errorf("%d: %q", n, masked)
	}
}

// corpus calls visit with the text files below a folder.
func corpus(t *testing.T, dir string, visit func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir() || !d.Type().IsRegular():
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".txt", ".txtar", ".yaml", ".yml", ".json", ".sh", ".golden", ".html", ".s":
		default:
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil {
			visit(path, string(data))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// On real texts, nothing is taken for a secret that is none. What may be found are seeds, tokens and
// private keys, which tests of this tree and of Go's own sources have on purpose.
func TestFalsePositives(t *testing.T) {
	dirs := []string{filepath.Join("..", "..")}
	if os.Getenv("PARLEY_LONG_TESTS") != "" {
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, filepath.Join(strings.TrimSpace(string(root)), "src"))
	}
	files, size, real := 0, 0, 0
	for _, dir := range dirs {
		corpus(t, dir, func(path, text string) {
			files, size = files+1, size+len(text)
			for _, f := range Find(text) {
				if f.Kind == "private key" || f.Kind == "NATS seed" || f.Kind == "parley token" {
					real++
					continue
				}
				t.Errorf("%s:%d: a %s: %.60q", path, f.Line, f.Kind, text[f.Begin:f.End])
			}
		})
	}
	if real > 20 {
		t.Errorf("%d seeds, tokens and keys were found, more than tests have", real)
	}
	t.Logf("%d files, %d kB: no false positive; %d secrets of tests", files, size>>10, real)
}

func talk(size int) string {
	const sentence = "The SKU table of key-value pairs is done, so see https://example.org/a?b=c, and SO on: sk-learn v1.0 has AIza no. "
	return strings.Repeat(sentence, 1+size/len(sentence))[:size]
}

// It prevents: a message waits noticeably for the search. The bound is far above what it takes.
func TestALookIsQuick(t *testing.T) {
	text := talk(4 << 10)
	best := time.Hour
	for range 20 {
		began := time.Now()
		Find(text)
		best = min(best, time.Since(began))
	}
	if best > time.Millisecond {
		t.Errorf("4 kB took %s", best)
	}
}

func BenchmarkFind4kB(b *testing.B) {
	text := talk(4 << 10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Find(text)
	}
}
