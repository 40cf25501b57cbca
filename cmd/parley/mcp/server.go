package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
)

// server answers tools. It keeps nothing from one call to the next but that the session was told of.
type server struct {
	program *cli.Program
	node    control.Service
	over    <-chan struct{} // closed when the client says nothing more: then nobody waits any longer
	beat    time.Duration   // how often a client is told that a call still waits
	there   *sync.Once
}

// within is the server for one call. Codex starts a server for each of its sessions, and says with each
// call which one that is: the node believes it if Codex itself has said so (R67).
func (s *server) within(ctx context.Context, r *mcp.CallToolRequest) *server {
	session, _ := r.Params.Meta["sessionId"].(string)
	node, connects := s.node.(*control.Client)
	if session == "" || !connects {
		return s
	}
	one := *s
	one.node = node.Within(session)
	s.there.Do(func() {
		tellThere(ctx, node, control.SessionEventRequest{Program: "codex", Session: session, Folder: workingFolder()})
	})
	return &one
}

func workingFolder() string {
	dir, _ := os.Getwd() // without it, the session is named after no folder
	return dir
}

// answer is the result of a tool.
type answer struct {
	// Text is everything that there is to say, for a model. What others wrote stands in fences.
	Text string `json:"text"`
	// The rest is for programs, and has no text of others: names as they may stand in a line of ours.
	Messages     []message     `json:"messages,omitempty"`
	Participants []participant `json:"participants,omitempty"`
	Me           *me           `json:"me,omitempty"`
}

// call is what a tool knows of a call besides its arguments.
type call struct {
	*mcp.CallToolRequest
	*server
}

// add gives the SDK's server a tool. Whatever goes wrong in it is told to the model, with what to do.
func add[In any](s *server, m *mcp.Server, name string, reads bool, description string, run func(*server, context.Context, call, In) (answer, error)) {
	closed, harmless := false, false // what it writes stays within the fleet, and takes nothing away
	tool := &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, OpenWorldHint: &closed}}
	if !reads {
		tool.Annotations.DestructiveHint = &harmless
	}
	tool.InputSchema = schemaOf[In]()
	mcp.AddTool(m, tool, func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		one := s.within(ctx, r)
		if node, connects := one.node.(*control.Client); connects && masks(in) {
			masking := *one
			masking.node = node.Handling(control.MaskSecrets)
			one = &masking
		}
		done, err := run(one, ctx, call{r, one}, in)
		if err != nil {
			e := s.program.Explain(err)
			if e.Kind == control.KindSecret {
				e.Hint = "say where the secret is kept, and not the secret; or call again with mask: true, which puts its kind in its place"
			}
			if strings.HasSuffix(e.Hint, "--help") { // that of the command, which is no help here
				e.Hint = "see the description of " + name
			}
			e.Message, e.Hint = visible.Text(e.Message), visible.Text(e.Hint)
			text := e.Message
			if e.Hint != "" {
				text += "\nwhat to do: " + e.Hint
			}
			return &mcp.CallToolResult{IsError: true, Content: said(text)}, e, nil
		}
		return &mcp.CallToolResult{Content: said(done.Text)}, done, nil
	})
}

// masking is the argument of tools that say something.
type masking struct {
	Mask bool `json:"mask,omitempty" jsonschema:"put its kind in the place of each token or private key in what you say; without it they are refused"`
}

func (m masking) masks() bool { return m.Mask }

func masks(in any) bool {
	m, says := in.(interface{ masks() bool })
	return says && m.masks()
}

// schemaOf is the schema of arguments. A list is never null: some programs know no such lists.
func schemaOf[In any]() *jsonschema.Schema {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		panic(err) // the types are those of this package, so the first start of any test would show it
	}
	for _, p := range s.Properties {
		if p.Items != nil {
			p.Type, p.Types = "array", nil
		}
	}
	return s
}

func said(text string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: text}} }

// mostWait is how long a call may wait. A model that waits longer asks again.
const mostWait = time.Hour

// waitOf is the time that an argument says, in seconds.
func waitOf(seconds int) (time.Duration, error) {
	if d := time.Duration(seconds) * time.Second; seconds >= 0 && seconds <= int(mostWait/time.Second) {
		return d, nil
	}
	return 0, control.Errorf(control.KindUsage, "", "cannot wait %d seconds: wait is from 0 to %d", seconds, mostWait/time.Second)
}

// wait asks the node for something that may take long. It ends when the client cancels the call or
// says nothing more. Meanwhile the client is told that the call goes on, if it asked for that.
func (c call) wait(ctx context.Context, within time.Duration, what string, ask func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	told := make(chan struct{})
	go func() { // ends with the call
		defer close(told)
		c.tell(ctx, cancel, within, what)
	}()
	err := ask(ctx)
	cancel(nil)
	<-told
	return err
}

// errOver is why a wait ends whose client has said all that it wants.
var errOver = errors.New("the client says nothing more")

func (c call) tell(ctx context.Context, cancel context.CancelCauseFunc, within time.Duration, what string) {
	tick := time.NewTicker(c.beat)
	defer tick.Stop()
	for began, token := time.Now(), c.Params.GetProgressToken(); ; {
		select {
		case <-ctx.Done():
			return
		case <-c.over:
			cancel(errOver)
			return
		case <-tick.C:
		}
		if token == nil {
			continue
		}
		gone := time.Since(began)
		_ = c.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // who does not listen misses nothing
			ProgressToken: token, Progress: gone.Seconds(), Total: within.Seconds(), Message: fmt.Sprintf("%s for %s", what, span.Text(gone.Round(time.Second))),
		})
	}
}

// speaker is how the node knows the caller. A program that is no agent to it may only look: what a
// model says must not count as the word of a human.
func (s *server) speaker(ctx context.Context) (control.Self, error) {
	self, err := control.Whoami.Ask(ctx, s.node)
	if err == nil && (!self.Agent || self.Name == "") {
		err = control.Errorf(control.KindRefused, noAgent, "cannot do that: the node of %s takes this program for no agent (%s), and nothing is said here in the name of a human", self.Host, self.How)
	}
	return self, err
}

// noAgent is how a program becomes an agent.
const noAgent = "your human makes it one: parley agent add NAME --inbox; then PARLEY_TOKEN, with what parley agent token NAME prints, in the env of this server's entry in the program's configuration"
