// Package clitest runs commands of parley in tests. They run against a [Recorder] instead of a
// node, and at a terminal of a chosen width. The answers have values that are wide, hostile or
// many.
package clitest

import (
	"context"
	"encoding/json"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Recorder is a Service that writes down what it was asked. It gives the answers that the test has
// prepared.
type Recorder struct {
	Asked []string

	Failure  error // the error of Send, Inbox, Read, Show, Status and Stop
	Message  control.Message
	Reply    control.Message
	WaitErr  error
	ShownErr error
	Mail     []control.Message
	Agents   []control.Agent
	People   []control.Participant
	Status   control.Status
	OnLog    func(ctx context.Context) error

	Thread   []control.ThreadMessage
	Found    control.SearchResult
	Channel  control.Channel // the answer for a channel that is not in Channels
	Channels []control.Channel
	Memory   control.Memory
	Memories []control.Memory
	Agent    control.Agent
	Settings []control.Setting       // of the agent that is shown
	Changed  []control.SettingChange // of an agent that is changed, paused or resumed
	Tested   control.TestResult
	Profile  control.Profile
	Prompt   control.Prompt
	Traced   []control.TraceStep
	Woken    control.Woken
	Jobs     []control.Job
	Dead     []control.DeadLetter
	Files    []control.UpgradedFile
	Hosts    []control.Host
	Fleet    control.FleetStatus
	Host     control.Host
	Pings    []control.Ping // one for each question, until all are used
}

// Note writes down a question in the form of Asked: the verb, and its request in JSON.
func (r *Recorder) Note(verb string, request any) {
	data, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	r.Asked = append(r.Asked, verb+" "+string(data))
}

// Bindings are its answers to verbs, for a test's node that answers some verbs in another way.
func (r *Recorder) Bindings() []control.Binding {
	return []control.Binding{
		control.ShowStatus.By(r.answerStatus), control.Send.By(r.answerSend), control.Wait.By(r.answerWait), control.FindTalk.By(r.answerTalk),
		control.Inbox.By(r.answerInbox), control.Read.By(r.answerRead), control.ReadAll.By(r.answerReadAll), control.Shown.By(r.answerShown),
		control.Show.By(r.answerShow), control.Log.By(r.answerLog), control.Agents.By(r.answerAgents), control.ShowAgent.By(r.answerAgent), control.AddAgent.By(r.answerAddAgent),
		control.SetAgent.By(r.answerSetAgent), control.PauseAgent.By(r.answerPauseAgent), control.TestAgent.By(r.answerTestAgent),
		control.MakeToken.By(r.answerAgentToken), control.ActorProfile.By(r.answerProfile), control.ShowPrompt.By(r.answerPrompt), control.Trace.By(r.answerTrace),
		control.Wake.By(r.answerWake), control.RemoveAgent.By(r.answerRemoveAgent), control.List.By(r.answerList), control.Hosts.By(r.answerHosts),
		control.ShowHost.By(r.answerHost), control.HostCertificate.By(r.answerHostCertificate), control.PingHost.By(r.answerPingHost),
		control.AskFleet.By(r.answerFleetStatus), control.RotateKey.By(r.answerRotateKey), control.RevokeKey.By(r.answerRevokeKey),
		control.RemoveHost.By(r.answerRemoveHost), control.Stop.By(r.answerStop), control.Replies.By(r.answerReplies), control.Thread.By(r.answerThread),
		control.Search.By(r.answerSearch), control.Channels.By(r.answerChannels), control.ShowChannel.By(r.answerChannel),
		control.NewChannel.By(r.answerNewChannel), control.AddMemory.By(r.answerAddMemory), control.Memories.By(r.answerMemories),
		control.ShowMemory.By(r.answerMemory), control.Upgrade.By(r.answerUpgrade),
		control.Queue.By(r.answerQueue), control.Cancel.By(r.answerCancel), control.DeadLetters.By(r.answerDeadLetters),
		control.RetryDead.By(r.answerRetryDead), control.DropDead.By(r.answerDropDead),
	}
}

// Answer implements control.Service.
func (r *Recorder) Answer(ctx context.Context, v control.VerbSpec, request any, yield func(any) error) error {
	return control.Bind(r.Bindings()...).Answer(ctx, v, request, yield)
}

func (r *Recorder) answerStatus(context.Context) (control.Status, error) { return r.Status, r.Failure }

func (r *Recorder) answerSend(_ context.Context, q control.SendRequest) (control.Message, error) {
	r.Note("send", q)
	return r.Message, r.Failure
}

func (r *Recorder) answerWait(_ context.Context, q control.WaitRequest) (control.Message, error) {
	r.Note("wait", q)
	return r.Reply, r.WaitErr
}

func (r *Recorder) answerTalk(_ context.Context, q control.TalkRequest) (control.Talk, error) {
	r.Note("talk", q)
	as := q.As
	if as == "" {
		as = r.Status.Human.String()
	}
	return control.Talk{As: as, Channel: r.Message.Channel, Begun: true}, r.Failure
}

func (r *Recorder) answerInbox(_ context.Context, q control.InboxRequest) ([]control.Message, error) {
	r.Note("inbox", q)
	return r.Mail, r.Failure
}

func (r *Recorder) answerRead(_ context.Context, q control.ReadRequest) (control.Message, error) {
	r.Note("read", q)
	return r.Message, r.Failure
}

func (r *Recorder) answerReadAll(_ context.Context, q control.ReadAllRequest) (control.Marked, error) {
	r.Note("read all", q)
	return control.Marked{Read: len(r.Mail)}, r.Failure
}

func (r *Recorder) answerShown(_ context.Context, q control.ShownRequest) (control.Marked, error) {
	r.Note("shown", q)
	return control.Marked{As: "nat"}, r.ShownErr
}

func (r *Recorder) answerShow(_ context.Context, q control.ShowRequest) (control.Message, error) {
	r.Note("show", q)
	return r.Message, r.Failure
}

func (r *Recorder) answerLog(ctx context.Context, q control.LogRequest, yield func(control.Message) error) error {
	r.Note("log", q)
	for _, m := range r.Mail {
		if err := yield(m); err != nil {
			return err
		}
	}
	if r.OnLog != nil {
		return r.OnLog(ctx)
	}
	return r.Failure
}

func (r *Recorder) answerAgents(context.Context) ([]control.Agent, error) { return r.Agents, r.Failure }

func (r *Recorder) answerAgent(_ context.Context, q control.AgentRequest) (control.AgentSettings, error) {
	r.Note("agent", q)
	return control.AgentSettings{Agent: r.Agent, Settings: r.Settings}, r.Failure
}

func (r *Recorder) answerAddAgent(_ context.Context, q control.AddAgentRequest) (control.Agent, error) {
	r.Note("add", q)
	return control.Agent{Name: protocol.Name(q.Name), Door: "exec"}, r.Failure
}

func (r *Recorder) answerSetAgent(_ context.Context, q control.SetAgentRequest) (control.ChangedAgent, error) {
	r.Note("set", q)
	return control.ChangedAgent{Agent: control.Agent{Name: protocol.Name(q.Name), Door: "exec"}, Changed: r.Changed}, r.Failure
}

func (r *Recorder) answerPauseAgent(_ context.Context, q control.PauseRequest) (control.ChangedAgent, error) {
	r.Note("pause", q)
	return control.ChangedAgent{Agent: r.Agent, Changed: r.Changed}, r.Failure
}

func (r *Recorder) answerTestAgent(_ context.Context, q control.TestRequest) (control.TestResult, error) {
	r.Note("test", q)
	return r.Tested, r.Failure
}

func (r *Recorder) answerAgentToken(_ context.Context, q control.AgentRequest) (control.AgentToken, error) {
	r.Note("token", q)
	return control.AgentToken{Agent: protocol.Name(q.Name), Token: "abc.def"}, r.Failure
}

func (r *Recorder) answerProfile(_ context.Context, q control.ProfileRequest) (control.Profile, error) {
	r.Note("profile", q)
	return r.Profile, r.Failure
}

func (r *Recorder) answerPrompt(_ context.Context, q control.PromptRequest) (control.Prompt, error) {
	r.Note("prompt", q)
	return r.Prompt, r.Failure
}

func (r *Recorder) answerTrace(_ context.Context, q control.TraceRequest) ([]control.TraceStep, error) {
	r.Note("trace", q)
	return r.Traced, r.Failure
}

func (r *Recorder) answerWake(_ context.Context, q control.WakeRequest) (control.Woken, error) {
	r.Note("wake", q)
	return r.Woken, r.Failure
}

func (r *Recorder) answerRemoveAgent(_ context.Context, q control.AgentRequest) (control.None, error) {
	r.Note("remove", q)
	return control.None{}, r.Failure
}

func (r *Recorder) answerList(context.Context, control.HostsRequest) ([]control.Participant, error) {
	return r.People, r.Failure
}

func (r *Recorder) answerHosts(context.Context, control.HostsRequest) ([]control.Host, error) {
	return r.Hosts, r.Failure
}

func (r *Recorder) answerHost(_ context.Context, q control.HostRequest) (control.Host, error) {
	r.Note("host", q)
	return r.Host, r.Failure
}

func (r *Recorder) answerHostCertificate(_ context.Context, q control.HostRequest) (control.Certificate, error) {
	r.Note("certificate", q)
	return control.Certificate{Alias: protocol.Name(q.Alias), PEM: "-----BEGIN CERTIFICATE-----\n"}, r.Failure
}

func (r *Recorder) answerPingHost(_ context.Context, q control.PingRequest) (control.Ping, error) {
	r.Note("ping", q)
	if len(r.Pings) == 0 {
		return control.Ping{}, r.Failure
	}
	next := r.Pings[0]
	r.Pings = r.Pings[1:]
	return next, r.Failure
}

func (r *Recorder) answerFleetStatus(context.Context, control.HostsRequest) (control.FleetStatus, error) {
	return r.Fleet, r.Failure
}

func (r *Recorder) answerRotateKey(_ context.Context, q control.RotateRequest) (control.Rotation, error) {
	r.Note("rotate", q)
	return control.Rotation{Host: "here", Old: "UOLD", Key: "UNEW"}, r.Failure
}

func (r *Recorder) answerRevokeKey(_ context.Context, q control.RevokeRequest) (control.Revocation, error) {
	r.Note("revoke", q)
	return control.Revocation{Host: q.Host, Key: "UKEY", Human: "nat", Runs: 2, Later: 3, Out: true}, r.Failure
}

func (r *Recorder) answerRemoveHost(_ context.Context, q control.RemoveHostRequest) (control.HostRemoval, error) {
	r.Note("remove host", q)
	return control.HostRemoval{Host: q.Host, Human: "nat", Agents: []protocol.Name{"shout", "blob"}, Waiting: 3}, r.Failure
}

func (r *Recorder) answerStop(context.Context) (control.None, error) {
	r.Note("stop", nil)
	return control.None{}, r.Failure
}

func (r *Recorder) answerReplies(_ context.Context, q control.ThreadRequest) ([]control.Message, error) {
	r.Note("replies", q)
	return r.Mail, r.Failure
}

func (r *Recorder) answerThread(_ context.Context, q control.ThreadRequest) ([]control.ThreadMessage, error) {
	r.Note("thread", q)
	return r.Thread, r.Failure
}

func (r *Recorder) answerSearch(_ context.Context, q control.SearchRequest) (control.SearchResult, error) {
	r.Note("search", q)
	return r.Found, r.Failure
}

func (r *Recorder) answerChannels(context.Context) ([]control.Channel, error) {
	return r.Channels, r.Failure
}

func (r *Recorder) answerChannel(_ context.Context, q control.ChannelRequest) (control.Channel, error) {
	r.Note("channel", q)
	for _, c := range r.Channels {
		if c.ID.String() == q.Channel {
			return c, r.Failure
		}
	}
	return r.Channel, r.Failure
}

func (r *Recorder) answerNewChannel(_ context.Context, q control.NewChannelRequest) (control.Channel, error) {
	r.Note("new channel", q)
	return r.Channel, r.Failure
}

func (r *Recorder) answerAddMemory(_ context.Context, q control.AddMemoryRequest) (control.Memory, error) {
	r.Note("add memory", q)
	return r.Memory, r.Failure
}

func (r *Recorder) answerMemories(_ context.Context, q control.MemoriesRequest) ([]control.Memory, error) {
	r.Note("memories", q)
	return r.Memories, r.Failure
}

func (r *Recorder) answerMemory(_ context.Context, q control.MemoryRequest) (control.Memory, error) {
	r.Note("memory", q)
	return r.Memory, r.Failure
}

func (r *Recorder) answerUpgrade(_ context.Context, q control.UpgradeRequest) ([]control.UpgradedFile, error) {
	r.Note("upgrade", q)
	return r.Files, r.Failure
}

func (r *Recorder) answerQueue(_ context.Context, q control.QueueRequest) ([]control.Job, error) {
	r.Note("queue", q)
	return r.Jobs, r.Failure
}

func (r *Recorder) answerCancel(_ context.Context, q control.CancelRequest) ([]control.Job, error) {
	r.Note("cancel", q)
	return r.Jobs, r.Failure
}

func (r *Recorder) answerDeadLetters(_ context.Context, q control.DeadLettersRequest) ([]control.DeadLetter, error) {
	r.Note("dead letters", q)
	return r.Dead, r.Failure
}

func (r *Recorder) answerRetryDead(_ context.Context, q control.DeadLetterRequest) (control.DeadLetter, error) {
	r.Note("retry", q)
	return r.Dead[0], r.Failure
}

func (r *Recorder) answerDropDead(_ context.Context, q control.DeadLetterRequest) (control.DeadLetter, error) {
	r.Note("drop", q)
	return r.Dead[0], r.Failure
}
