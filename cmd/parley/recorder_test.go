package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// recorder is a Service that writes down what it was asked and answers what the
// test prepared.
type recorder struct {
	asked []string

	err      error // what Send, Inbox, Read, Show, Status and Stop fail with
	message  control.Message
	reply    control.Message
	waitErr  error
	shownErr error
	mail     []control.Message
	agents   []control.Agent
	people   []control.Participant
	status   control.Status
	onLog    func(ctx context.Context) error

	thread   []control.ThreadMessage
	found    control.SearchResult
	channel  control.Channel // what a channel that is not among channels is
	channels []control.Channel
	memory   control.Memory
	memories []control.Memory
	agent    control.Agent
	tested   control.TestResult
	profile  control.Profile
	prompt   control.Prompt
	woken    control.Woken
	files    []control.UpgradedFile
	hosts    []control.Host
	fleet    control.FleetStatus
	host     control.Host
	pings    []control.Ping // one for each question, until they are used up
}

func (r *recorder) note(verb string, request any) {
	data, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	r.asked = append(r.asked, verb+" "+string(data))
}

func (r *recorder) bindings() []control.Binding {
	return []control.Binding{
		control.ShowStatus.By(r.Status), control.Send.By(r.Send), control.Wait.By(r.Wait), control.FindTalk.By(r.Talk),
		control.Inbox.By(r.Inbox), control.Read.By(r.Read), control.ReadAll.By(r.ReadAll), control.Shown.By(r.Shown),
		control.Show.By(r.Show), control.Log.By(r.Log), control.Agents.By(r.Agents), control.AddAgent.By(r.AddAgent),
		control.SetAgent.By(r.SetAgent), control.PauseAgent.By(r.PauseAgent), control.TestAgent.By(r.TestAgent),
		control.MakeToken.By(r.AgentToken), control.ActorProfile.By(r.Profile), control.ShowPrompt.By(r.Prompt),
		control.Wake.By(r.Wake), control.RemoveAgent.By(r.RemoveAgent), control.List.By(r.List), control.Hosts.By(r.Hosts),
		control.ShowHost.By(r.Host), control.HostCertificate.By(r.HostCertificate), control.PingHost.By(r.PingHost),
		control.AskFleet.By(r.FleetStatus), control.RotateKey.By(r.RotateKey), control.RevokeKey.By(r.RevokeKey),
		control.RemoveHost.By(r.RemoveHost), control.Stop.By(r.Stop), control.Replies.By(r.Replies), control.Thread.By(r.Thread),
		control.Search.By(r.Search), control.Channels.By(r.Channels), control.ShowChannel.By(r.Channel),
		control.NewChannel.By(r.NewChannel), control.AddMemory.By(r.AddMemory), control.Memories.By(r.Memories),
		control.ShowMemory.By(r.Memory), control.Upgrade.By(r.Upgrade),
	}
}

// Answer implements control.Service.
func (r *recorder) Answer(ctx context.Context, v control.VerbSpec, request any, yield func(any) error) error {
	return control.Bind(r.bindings()...).Answer(ctx, v, request, yield)
}

func (r *recorder) Status(context.Context) (control.Status, error) { return r.status, r.err }

func (r *recorder) Send(_ context.Context, q control.SendRequest) (control.Message, error) {
	r.note("send", q)
	return r.message, r.err
}

func (r *recorder) Wait(_ context.Context, q control.WaitRequest) (control.Message, error) {
	r.note("wait", q)
	return r.reply, r.waitErr
}

func (r *recorder) Talk(_ context.Context, q control.TalkRequest) (control.Talk, error) {
	r.note("talk", q)
	as := q.As
	if as == "" {
		as = r.status.Human.String()
	}
	return control.Talk{As: as, Channel: r.message.Channel, Begun: true}, r.err
}

func (r *recorder) Inbox(_ context.Context, q control.InboxRequest) ([]control.Message, error) {
	r.note("inbox", q)
	return r.mail, r.err
}

func (r *recorder) Read(_ context.Context, q control.ReadRequest) (control.Message, error) {
	r.note("read", q)
	return r.message, r.err
}

func (r *recorder) ReadAll(_ context.Context, q control.ReadAllRequest) (control.Marked, error) {
	r.note("read all", q)
	return control.Marked{Read: len(r.mail)}, r.err
}

func (r *recorder) Shown(_ context.Context, q control.ShownRequest) (control.Marked, error) {
	r.note("shown", q)
	return control.Marked{As: "nat"}, r.shownErr
}

func (r *recorder) Show(_ context.Context, q control.ShowRequest) (control.Message, error) {
	r.note("show", q)
	return r.message, r.err
}

func (r *recorder) Log(ctx context.Context, q control.LogRequest, yield func(control.Message) error) error {
	r.note("log", q)
	for _, m := range r.mail {
		if err := yield(m); err != nil {
			return err
		}
	}
	if r.onLog != nil {
		return r.onLog(ctx)
	}
	return r.err
}

func (r *recorder) Agents(context.Context) ([]control.Agent, error) { return r.agents, r.err }

func (r *recorder) AddAgent(_ context.Context, q control.AddAgentRequest) (control.Agent, error) {
	r.note("add", q)
	return control.Agent{Name: protocol.Name(q.Name), Door: "exec"}, r.err
}

func (r *recorder) SetAgent(_ context.Context, q control.SetAgentRequest) (control.Agent, error) {
	r.note("set", q)
	return control.Agent{Name: protocol.Name(q.Name), Door: "exec"}, r.err
}

func (r *recorder) PauseAgent(_ context.Context, q control.PauseRequest) (control.Agent, error) {
	r.note("pause", q)
	return r.agent, r.err
}

func (r *recorder) TestAgent(_ context.Context, q control.TestRequest) (control.TestResult, error) {
	r.note("test", q)
	return r.tested, r.err
}

func (r *recorder) AgentToken(_ context.Context, q control.AgentRequest) (control.AgentToken, error) {
	r.note("token", q)
	return control.AgentToken{Agent: protocol.Name(q.Name), Token: "abc.def"}, r.err
}

func (r *recorder) Profile(_ context.Context, q control.ProfileRequest) (control.Profile, error) {
	r.note("profile", q)
	return r.profile, r.err
}

func (r *recorder) Prompt(_ context.Context, q control.PromptRequest) (control.Prompt, error) {
	r.note("prompt", q)
	return r.prompt, r.err
}

func (r *recorder) Wake(_ context.Context, q control.WakeRequest) (control.Woken, error) {
	r.note("wake", q)
	return r.woken, r.err
}

func (r *recorder) RemoveAgent(_ context.Context, q control.AgentRequest) (control.None, error) {
	r.note("remove", q)
	return control.None{}, r.err
}

func (r *recorder) List(context.Context, control.HostsRequest) ([]control.Participant, error) {
	return r.people, r.err
}

func (r *recorder) Hosts(context.Context, control.HostsRequest) ([]control.Host, error) {
	return r.hosts, r.err
}

func (r *recorder) Host(_ context.Context, q control.HostRequest) (control.Host, error) {
	r.note("host", q)
	return r.host, r.err
}

func (r *recorder) HostCertificate(_ context.Context, q control.HostRequest) (control.Certificate, error) {
	r.note("certificate", q)
	return control.Certificate{Alias: protocol.Name(q.Alias), PEM: "-----BEGIN CERTIFICATE-----\n"}, r.err
}

func (r *recorder) PingHost(_ context.Context, q control.PingRequest) (control.Ping, error) {
	r.note("ping", q)
	if len(r.pings) == 0 {
		return control.Ping{}, r.err
	}
	next := r.pings[0]
	r.pings = r.pings[1:]
	return next, r.err
}

func (r *recorder) FleetStatus(context.Context, control.HostsRequest) (control.FleetStatus, error) {
	return r.fleet, r.err
}

func (r *recorder) RotateKey(_ context.Context, q control.RotateRequest) (control.Rotation, error) {
	r.note("rotate", q)
	return control.Rotation{Host: "here", Old: "UOLD", Key: "UNEW"}, r.err
}

func (r *recorder) RevokeKey(_ context.Context, q control.RevokeRequest) (control.Revocation, error) {
	r.note("revoke", q)
	return control.Revocation{Host: q.Host, Key: "UKEY", Human: "nat", Runs: 2, Later: 3, Out: true}, r.err
}

func (r *recorder) RemoveHost(_ context.Context, q control.RemoveHostRequest) (control.HostRemoval, error) {
	r.note("remove host", q)
	return control.HostRemoval{Host: q.Host, Human: "nat", Agents: []protocol.Name{"shout", "blob"}, Waiting: 3}, r.err
}

func (r *recorder) Stop(context.Context) (control.None, error) {
	r.note("stop", nil)
	return control.None{}, r.err
}

func (r *recorder) Replies(_ context.Context, q control.ThreadRequest) ([]control.Message, error) {
	r.note("replies", q)
	return r.mail, r.err
}

func (r *recorder) Thread(_ context.Context, q control.ThreadRequest) ([]control.ThreadMessage, error) {
	r.note("thread", q)
	return r.thread, r.err
}

func (r *recorder) Search(_ context.Context, q control.SearchRequest) (control.SearchResult, error) {
	r.note("search", q)
	return r.found, r.err
}

func (r *recorder) Channels(context.Context) ([]control.Channel, error) { return r.channels, r.err }

func (r *recorder) Channel(_ context.Context, q control.ChannelRequest) (control.Channel, error) {
	r.note("channel", q)
	for _, c := range r.channels {
		if c.ID.String() == q.Channel {
			return c, r.err
		}
	}
	return r.channel, r.err
}

func (r *recorder) NewChannel(_ context.Context, q control.NewChannelRequest) (control.Channel, error) {
	r.note("new channel", q)
	return r.channel, r.err
}

func (r *recorder) AddMemory(_ context.Context, q control.AddMemoryRequest) (control.Memory, error) {
	r.note("add memory", q)
	return r.memory, r.err
}

func (r *recorder) Memories(_ context.Context, q control.MemoriesRequest) ([]control.Memory, error) {
	r.note("memories", q)
	return r.memories, r.err
}

func (r *recorder) Memory(_ context.Context, q control.MemoryRequest) (control.Memory, error) {
	r.note("memory", q)
	return r.memory, r.err
}

func (r *recorder) Upgrade(_ context.Context, q control.UpgradeRequest) ([]control.UpgradedFile, error) {
	r.note("upgrade", q)
	return r.files, r.err
}

// run is one run of parley against a recorder.
type run struct {
	recorder
	program *cli.Program
	out     bytes.Buffer
	err     bytes.Buffer
	env     map[string]string
	ctx     context.Context
}

// newRun prepares a run with piped output in a home that is not set up.
func newRun(t *testing.T) *run {
	t.Helper()
	r := &run{env: map[string]string{"PARLEY_HOME": t.TempDir()}, ctx: t.Context()}
	if err := os.Chmod(r.env["PARLEY_HOME"], 0o700); err != nil { // as a home has to be
		t.Fatal(err)
	}
	r.program = cli.New(strings.NewReader(""), &r.out, &r.err, func(key string) string { return r.env[key] })
	r.program.Zone = time.FixedZone("", 2*60*60)
	r.program.Now = func() time.Time { return letter("").Timestamp.Add(24 * time.Hour) }
	r.program.Connect = func(string) control.Service { return &r.recorder }
	r.program.Terminal = func() (io.ReadWriteCloser, error) { return nil, errors.New("there is none") }
	r.message = letter("hello")
	return r
}

// do runs parley and returns its exit code.
func (r *run) do(args ...string) int { return r.program.Run(r.ctx, newRootCommand(r.program), args) }

// typing makes a terminal at which somebody types a line.
func (r *run) typing(line string) {
	r.program.Terminal = func() (io.ReadWriteCloser, error) {
		return keyboard{strings.NewReader(line + "\n"), &r.err}, nil
	}
}

// keyboard is a terminal that shows what is asked on standard error.
type keyboard struct {
	io.Reader
	io.Writer
}

func (keyboard) Close() error { return nil }

// atTerminal makes the output a terminal without colour.
func (r *run) atTerminal(width int) {
	for _, s := range []*term.Screen{&r.program.Out, &r.program.Err} {
		s.Terminal, s.Width = true, width
	}
}

const letterPath = "adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/190100000Z-b2c3d4e5.md"

// letter is a message from mawjs on white to nat.
func letter(body string) control.Message {
	path, err := protocol.ParsePath(letterPath)
	if err != nil {
		panic(err)
	}
	return control.Message{
		Path: path, Channel: path.Channel(), Direct: true, From: "mawjs", To: []string{"nat"}, Timestamp: path.Time(),
		Type: protocol.TypeText, Act: protocol.ActHey, Host: "white", Run: "0badcafe", Seq: 7,
		Stage: protocol.StageStored, Signature: protocol.SignatureValid, Body: body,
	}
}
