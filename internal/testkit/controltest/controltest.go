// Package controltest is the contract of the verbs, as tests that every control.Service runs: the
// node in process, and the client over a socket.
package controltest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
)

// Run checks an implementation. Each test gets its own service from `start`: a fresh node that is
// alone in its fleet, with a human and without agents. `start` must register its own clean-up.
func Run(t *testing.T, start func(t *testing.T) control.Service) {
	RunMail(t, start)
	run(t, start, []contract{
		{"the next message from or to someone ends a wait", testWaitNext},
		{"answers form a tree", testThread},
		{"where two talk is said, and with nobody refused", testTalk},
		{"each addressee has its own stage", testAddressees},
		{"a channel is made, found by name and described", testChannels},
		{"a message to all in a channel with members is for them", testMembers},
		{"channels that cannot be are refused", testChannelRefusals},
		{"memories are written, filtered and superseded", testMemories},
		{"memories that cannot be are refused", testMemoryRefusals},
		{"an agent is paused and goes on", testPause},
		{"a profile is written and found", testProfile},
		{"files that come with the program are current", testUpgrade},
		{"waking says who has mail", testWake},
		{"the fleet's hosts are listed", testHosts},
		{"a host is described, and not asked in vain", testHost},
		{"a fleet of one host has a status", testFleetStatus},
		{"a host shows its certificate", testHostCertificate},
		{"every verb answers, or says why not", testEveryVerb},
	})
}

// contract is one test.
type contract struct {
	name string
	run  func(s *suite)
}

// RunMail checks the part of the contract that only needs messages.
func RunMail(t *testing.T, start func(t *testing.T) control.Service) {
	run(t, start, []contract{
		{"status names the node", testStatus},
		{"an agent is added, listed and removed", testAgents},
		{"agents that cannot be added are refused", testAgentRefusals},
		{"a message reaches an inbox and is read once", testInbox},
		{"what was shown to its addressee leaves the inbox", testShown},
		{"all that waits is marked as read at once", testReadAll},
		{"the human speaks where nobody is named, whatever agents are served", testSpeaker},
		{"a reply ends a wait", testReply},
		{"a wait without an answer times out", testNoAnswer},
		{"a wait ends with its context", testWaitCancelled},
		{"messages are found by path, prefix and hex", testFind},
		{"what does not exist is not found", testNotFound},
		{"requests without sense are refused", testUsage},
		{"any text comes back as it was sent", testTexts},
		{"the log is in order and can be cut", testLog},
		{"the log stops at the first error of its reader", testLogStops},
		{"following goes on until its context ends", testFollow},
		{"a broadcast reaches every inbox", testBroadcast},
	})
}

func run(t *testing.T, start func(t *testing.T) control.Service, tests []contract) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), scratch.Patience())
			t.Cleanup(cancel)
			s := &suite{T: t, ctx: ctx, service: start(t)}
			status, err := control.ShowStatus.Ask(ctx, s.service)
			s.must(err)
			s.human = status.Human.String()
			test.run(s)
		})
	}
}

// OverSocket serves `s` on a control socket and returns a client of it. Both end with the test.
func OverSocket(t *testing.T, s control.Answers) *control.Client {
	t.Helper()
	// A test's own temporary folder can be too deep for the path of a socket.
	dir, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "control.sock")
	listener, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- control.Serve(ctx, listener, s, control.Info{Version: "test", API: control.API, Judge: Operator})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return control.NewClient(path, "test")
}

// Operator judges that every caller operates the host. It is for tests that are about something
// else.
func Operator(control.Calling) (control.Caller, error) {
	return control.Caller{Kind: control.Operator}, nil
}

// suite is one running test of the contract.
type suite struct {
	*testing.T
	ctx     context.Context
	service control.Service
	human   string
}

func (s *suite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// ask is the answer to a request that must not fail.
func ask[Q, A any](s *suite, v control.Verb[Q, A], r Q) A {
	s.Helper()
	answer, err := v.Ask(s.ctx, s.service, r)
	s.must(err)
	return answer
}

// refused checks that a request fails with an error of a kind.
func refused[Q, A any](s *suite, what string, kind control.Kind, v control.Verb[Q, A], r Q) {
	s.Helper()
	_, err := v.Ask(s.ctx, s.service, r)
	s.wantKind(what, err, kind)
}

// equal compares the expected value with the actual one.
func (s *suite) equal(what string, want, got any) {
	s.Helper()
	if !reflect.DeepEqual(want, got) {
		s.Errorf("%s: want %+v, got %+v", what, want, got)
	}
}

// wantKind checks that err is an Error of a kind.
func (s *suite) wantKind(what string, err error, kind control.Kind) {
	s.Helper()
	var e *control.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Message == "" {
		s.Errorf("%s: error %v (%T), want an Error of kind %s", what, err, err, kind)
	}
}

// inboxAgent adds an agent with the inbox door.
func (s *suite) inboxAgent(name string) {
	s.Helper()
	ask(s, control.AddAgent, control.AddAgentRequest{Name: name, Inbox: true, Settings: control.Given{"dir": {s.TempDir()}}})
}

// hey sends text from the human.
func (s *suite) hey(to, text string) control.Message {
	s.Helper()
	return ask(s, control.Send, control.SendRequest{As: s.human, To: []string{to}, Body: text})
}

// bodies are the texts in an inbox.
func (s *suite) bodies(r control.InboxRequest) []string {
	s.Helper()
	mail := ask(s, control.Inbox, r)
	return each.Of(mail, func(m control.Message) string { return m.Body })
}
