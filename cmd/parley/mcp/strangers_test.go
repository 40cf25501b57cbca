package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// installed is a file in the folder into which npm has installed other people's programs. Without
// such a folder the test is skipped.
func installed(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("PARLEY_PROGRAMS")
	if dir == "" {
		t.Skip("needs other people's programs: set PARLEY_PROGRAMS to a folder with what internal/testkit/programs/package.json names")
	}
	file := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("PARLEY_PROGRAMS names a folder without %s: %v", name, err)
	}
	return file
}

// node runs a program of other people by the Node.js that was installed with them.
func node(t *testing.T, env []string, program string, words ...string) string {
	t.Helper()
	bin, err := filepath.Abs(filepath.Dir(installed(t, ".bin/node")))
	if err != nil {
		t.Fatal(err)
	}
	var beside bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // some of them wait for ever
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "node"), append([]string{program}, words...)...)
	cmd.Dir, cmd.Stderr = t.TempDir(), &beside
	cmd.Env = append(append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH")), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(words, " "), err, out, beside.String())
	}
	return string(out)
}

// The suite of those who write the protocol finds nothing wrong with the tools, in both revisions. It
// speaks HTTP alone, so the SDK's handler serves them here.
func TestRealConformance(t *testing.T) {
	suite := installed(t, "@modelcontextprotocol/conformance/dist/index.js")
	n := startNode(t)
	s := &server{program: programAt(n.home), node: n.client.Bearing("", n.token(t, "mawjs")), over: make(chan struct{}), beat: time.Second}
	tools := s.tools()
	handler := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return tools }, &mcp.StreamableHTTPOptions{Stateless: true}))
	defer handler.Close()
	for revision, scenarios := range map[string]string{
		"2026-07-28": "tools-list caching http-header-validation dns-rebinding-protection sep-2164-resource-not-found input-required-result-unsupported-methods input-required-result-ignore-extra-params",
		"2025-11-25": "server-initialize ping tools-list dns-rebinding-protection",
	} {
		for scenario := range strings.FieldsSeq(scenarios) {
			said := node(t, nil, suite, "server", "--url", handler.URL, "--spec-version", revision, "--scenario", scenario)
			t.Logf("%s %s: %s", revision, scenario, said)
		}
	}
}

// The SDK as it is built here passes the suite as a whole, with the fixtures that its authors have
// for that.
func TestRealConformanceOfSDK(t *testing.T) {
	suite := installed(t, "@modelcontextprotocol/conformance/dist/index.js")
	everything := filepath.Join(t.TempDir(), "everything")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", everything, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for revision, stateless := range map[string]string{"2026-07-28": "true", "2025-11-25": "false"} {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := free.Addr().String()
		_ = free.Close()
		server := exec.CommandContext(t.Context(), everything, "-http", address, "-stateless="+stateless)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "the server listens", func() bool {
			conn, err := net.Dial("tcp", address)
			if err == nil {
				_ = conn.Close()
			}
			return err == nil
		})
		t.Logf("%s: %s", revision, node(t, nil, suite, "server", "--url", "http://"+address, "--requirements", revision))
		_ = server.Process.Kill()
		_ = server.Wait()
	}
}

// The inspector's command line lists the tools and calls one.
func TestRealInspector(t *testing.T) {
	inspector := installed(t, "@modelcontextprotocol/inspector/cli/build/cli.js")
	n := startNode(t)
	parley, err := exec.LookPath("parley")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "mcp.json")
	entry := map[string]any{"command": parley, "args": []string{"mcp"}, "env": map[string]string{"PARLEY_HOME": n.home.Dir, "PARLEY_TOKEN": n.token(t, "mawjs")}}
	data, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"parley": entry}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(words ...string) string {
		return node(t, nil, inspector, append([]string{"--cli", "--config", config, "--server", "parley", "--method"}, words...)...)
	}
	if list := ask("tools/list"); strings.Count(list, `"inputSchema"`) != 13 {
		t.Errorf("it lists %s", list)
	}
	if said := ask("tools/call", "--tool-name", "hey", "--tool-arg", "to=volt", "--tool-arg", "text=by the inspector"); !strings.Contains(said, "Sent as ") {
		t.Errorf("hey says %s", said)
	}
}

// The TypeScript client talks to parley mcp, is told that a wait goes on, and gives it up.
func TestRealTypeScript(t *testing.T) {
	client := installed(t, "@modelcontextprotocol/sdk/dist/esm/client/index.js")
	stdio := installed(t, "@modelcontextprotocol/sdk/dist/esm/client/stdio.js")
	n := startNode(t)
	parley, err := exec.LookPath("parley")
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "client.mjs")
	if err := os.WriteFile(script, []byte(`
const { Client } = await import(process.env.CLIENT);
const { StdioClientTransport } = await import(process.env.STDIO);
const client = new Client({ name: 'stranger', version: '1' });
await client.connect(new StdioClientTransport({ command: process.env.PARLEY, args: ['mcp'], env: process.env }));
const { tools } = await client.listTools();
const who = await client.callTool({ name: 'whoami', arguments: {} });
const sent = await client.callTool({ name: 'hey', arguments: { to: 'volt', text: 'by TypeScript' } });
const wrong = await client.callTool({ name: 'hey', arguments: { to: 'nobody-at-all', text: 'x' } });
const giveUp = new AbortController();
let progress = 0;
const waited = await client.callTool({ name: 'inbox', arguments: { wait: 3600 } }, undefined,
  { signal: giveUp.signal, timeout: 60000, resetTimeoutOnProgress: true, onprogress: () => { progress++; giveUp.abort(); } }).then(() => 'mail', () => 'given up');
console.log(JSON.stringify({ tools: tools.length, who: who.structuredContent.me.name, sent: sent.structuredContent.messages.length, wrong: wrong.isError, progress, waited, instructions: client.getInstructions().split('\n').length }));
await client.close();
`), 0o600); err != nil {
		t.Fatal(err)
	}
	said := node(t, []string{"CLIENT=" + client, "STDIO=" + stdio, "PARLEY=" + parley, "PARLEY_HOME=" + n.home.Dir, "PARLEY_TOKEN=" + n.token(t, "mawjs")}, script)
	if want := `{"tools":13,"who":"mawjs","sent":1,"wrong":true,"progress":1,"waited":"given up","instructions":5}` + "\n"; said != want {
		t.Errorf("it says %s, want %s", said, want)
	}
}
