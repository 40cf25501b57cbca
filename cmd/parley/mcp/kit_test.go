package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
)

// realNode is a node with the agents mawjs and volt, which ask for their mail.
type realNode struct {
	home   configs.Home
	client *control.Client // of the operator
}

func startNode(t testing.TB) *realNode {
	t.Helper()
	home := configs.Home{Dir: filepath.Join(t.TempDir(), "home")}
	n := &realNode{home: home, client: control.NewClient(home.Socket(), cli.Version)}
	n.must(t, "init", "--alias", "white", "--human", "nat")
	n.up(t)
	n.must(t, "agent", "add", "mawjs", "--inbox")
	n.must(t, "agent", "add", "volt", "--inbox")
	return n
}

// up starts the node, which ends with the test or before.
func (n *realNode) up(t testing.TB) {
	t.Helper()
	up := n.command(t, "up")
	out, err := up.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := up.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = up.Process.Kill()
		_ = up.Wait()
		scratch.Clear(t, n.home.Dir) // the git of a killed node may still write
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it says that it runs
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // ends with the process
}

// command is parley with these words, as the operator.
func (n *realNode) command(t testing.TB, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "parley", words...) // TestMain put it in PATH
	cmd.Env = append(os.Environ(), "PARLEY_HOME="+n.home.Dir, "PARLEY_AGENT=", "PARLEY_TOKEN=", "PARLEY_SOCKET=", "GORACE=atexit_sleep_ms=0")
	cmd.Dir = filepath.Dir(n.home.Dir)
	return cmd
}

func (n *realNode) must(t testing.TB, words ...string) string {
	t.Helper()
	out, err := n.command(t, words...).CombinedOutput()
	if err != nil {
		t.Fatalf("parley %s: %v: %s", strings.Join(words, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// token makes the caller an agent.
func (n *realNode) token(t testing.TB, agent string) string {
	t.Helper()
	return n.must(t, "agent", "token", agent)
}

// model is a client of the SDK that is connected with a server in this process.
type model struct {
	t       testing.TB
	session *mcp.ClientSession
	hangUp  func() // ends what the server reads
}

// programAt is a run of parley with this home.
func programAt(home configs.Home) *cli.Program {
	return cli.New(strings.NewReader(""), io.Discard, io.Discard, func(key string) string { return map[string]string{"PARLEY_HOME": home.Dir}[key] })
}

// connect serves a node to a client, as the agent whose token it bears.
func connect(t testing.TB, home configs.Home, node control.Service, beat time.Duration, o *mcp.ClientOptions) *model {
	t.Helper()
	p := programAt(home)
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	l := newLines(t.Context(), toServer, fromServer)
	s := &server{program: p, node: node, over: l.over, beat: beat}
	serving, err := s.tools().Connect(t.Context(), l, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &model{t: t, session: session, hangUp: func() { _ = fromClient.Close() }}
	t.Cleanup(func() {
		m.hangUp()
		if err := serving.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		_ = session.Close()
	})
	return m
}

// arguments are those of a tool.
type arguments map[string]any

// try calls a tool, and returns what it says to the model, and for programs.
func (m *model) try(tool string, in arguments) (text string, structured map[string]any, failed bool) {
	m.t.Helper()
	if in == nil {
		in = arguments{}
	}
	r, err := m.session.CallTool(m.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		m.t.Fatalf("%s: %v", tool, err)
	}
	structured, _ = r.StructuredContent.(map[string]any)
	return r.Content[0].(*mcp.TextContent).Text, structured, r.IsError
}

// does calls a tool that must work. The structured result must say the same.
func (m *model) does(tool string, in arguments, want ...string) map[string]any {
	m.t.Helper()
	text, structured, failed := m.try(tool, in)
	if failed {
		m.t.Fatalf("%s(%v) failed: %s", tool, in, text)
	}
	if structured["text"] != text {
		m.t.Errorf("%s: the structured result says something else than the text: %v", tool, structured)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			m.t.Errorf("%s(%v) does not say %q:\n%s", tool, in, w, text)
		}
	}
	return structured
}

// fails calls a tool that must say why it cannot do that.
func (m *model) fails(tool string, in arguments, want ...string) {
	m.t.Helper()
	text, structured, failed := m.try(tool, in)
	if !failed {
		m.t.Errorf("%s(%v) works: %s", tool, in, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			m.t.Errorf("%s(%v) does not say %q:\n%s (%v)", tool, in, w, text, structured)
		}
	}
}

// ids are the ids of the messages of a result.
func ids(t testing.TB, structured map[string]any) (list []string) {
	t.Helper()
	data, err := json.Marshal(structured["messages"])
	if err != nil {
		t.Fatal(err)
	}
	var refs []message
	if err := json.Unmarshal(data, &refs); err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs {
		list = append(list, ref.ID)
	}
	return list
}

// until waits until something is so.
func until(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(scratch.Patience()); !so(); <-time.After(10 * time.Millisecond) { // spares the processor only
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain until %s", scratch.Patience(), what)
		}
	}
}
