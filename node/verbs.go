package node

import (
	"context"

	"github.com/parleyfleet/parley/node/control"
)

var _ control.Service = (*Node)(nil)

// bindings are the verbs, each with the function that answers it.
func (n *Node) bindings() []control.Binding {
	return []control.Binding{
		control.ShowStatus.For(n.Status),
		control.Whoami.For(n.Whoami),
		control.Send.For(n.talk.Outbox.Send),
		control.Wait.For(n.talk.Waiter.Wait),
		control.FindTalk.For(n.talk.Outbox.Talk),
		control.Inbox.For(n.talk.Inbox.Inbox),
		control.Read.For(n.talk.Inbox.Read),
		control.ReadAll.For(n.talk.Inbox.ReadAll),
		control.Shown.For(n.talk.Inbox.Shown),
		control.Show.By(n.talk.Views.Show),
		control.Replies.By(n.talk.Views.Replies),
		control.Thread.By(n.talk.Views.Thread),
		control.Sync.For(n.collab.Sync),
		control.Search.By(n.talk.Finder.Search),
		control.Log.By(n.talk.Logbook.Log),
		control.Events.By(n.talk.Narrator.Events),
		control.MakeToken.By(n.actors.Token),
		control.TellSession.For(n.seats.Tell),
		control.SessionGiven.For(n.seats.Given),
		control.SessionBells.For(n.seats.Bells),
		control.Sessions.For(n.seats.List),
		control.NameSession.For(n.seats.Rename),
		control.MuteSession.For(n.seats.Mute),
		control.Trace.By(n.talk.Tracer.Trace),
		control.Channels.By(n.talk.Shelves.Channels),
		control.ShowChannel.By(n.talk.Shelves.Channel),
		control.NewChannel.For(n.talk.Shelves.NewChannel),
		control.ChangeMembers.For(n.talk.Shelves.ChangeMembers),
		control.AddMemory.For(n.talk.Shelves.AddMemory),
		control.Memories.By(n.talk.Shelves.Memories),
		control.ShowMemory.By(n.talk.Shelves.Memory),
		control.Topics.For(n.collab.Topics),
		control.ShowTopic.For(n.collab.Topic),
		control.ShowRelation.For(n.collab.Relation),
		control.OpenTopic.For(n.collab.Open),
		control.DoInTopic.For(n.collab.Deed),
		control.SweepTopics.For(n.collab.Sweep),
		control.PageOfTopic.For(n.collab.Page),
		control.ReadIssues.For(n.collab.Issues),
		control.PersistTopic.For(n.collab.Persist),
		control.Parties.For(n.parties.List),
		control.ShowParty.For(n.parties.Show),
		control.Organize.For(n.parties.Organize),
		control.DoInParty.For(n.parties.Deed),
		control.UseParty.For(n.parties.Use),
		control.TellParty.For(n.parties.Tell),
		control.SayPresence.For(n.parties.Present),
		control.Recruits.For(n.parties.Recruits),
		control.BroadcastStats.By(n.parties.Stats),
		control.BroadcastTopic.For(n.parties.BroadcastTopic),
		control.TryNotifications.By(n.notify.TryAll),
		control.ChangeNotifications.By(n.notify.Change),
		control.ShowMesh.By(n.parties.Mesh),
		control.Gates.By(n.Gates),
		control.AnswerGate.For(clearing(n, n.parties.Answer, func(g control.Gate) string { return g.Channel })),
		control.OpenFrame.For(n.inquiries.Open),
		control.Frames.By(n.inquiries.List),
		control.ShowFrame.By(n.inquiries.Show),
		control.AnswerFrame.For(clearing(n, n.inquiries.Answer, func(f control.Frame) string { return f.Channel.String() })),
		control.EscFrame.For(clearing(n, n.inquiries.Esc, func(f control.Frame) string { return f.Channel.String() })),
		control.ResumeFrame.For(n.inquiries.Resume),
		control.ListPolicy.By(n.hosts.Policies.List),
		control.SetPolicy.For(n.hosts.Policies.Set),
		control.Humans.By(n.hosts.Humans.List),
		control.GiveHumanKey.By(n.hosts.Humans.Give),
		control.EndHumanKey.By(n.hosts.Humans.End),
		control.Upgrade.By(n.talk.Shelves.Upgrade),
		control.Verify.By(n.audits.Verify),
		control.VerifyProgress.By(n.audits.VerifyProgress),
		control.CountRecord.By(n.recordView.RecordStats),
		control.Export.By(n.recordView.Export),
		control.Withhold.By(n.withholding.Withhold),
		control.Admit.By(n.recordView.Admit),
		control.List.By(n.hosts.Directory.List),
		control.Hosts.By(n.hosts.Directory.Hosts),
		control.ShowHost.By(n.hosts.Directory.Host),
		control.HostCertificate.By(n.hosts.Questioner.HostCertificate),
		control.PingHost.By(n.hosts.Questioner.PingHost),
		control.ProbeHost.By(n.hosts.Questioner.ProbeHost),
		control.AskFleet.By(n.hosts.Questioner.FleetStatus),
		control.RotateKey.By(n.hosts.Rotator.RotateKey),
		control.RevokeKey.By(n.hosts.Revoker.RevokeKey),
		control.RemoveHost.By(n.hosts.Remover.RemoveHost),
		control.Stop.By(n.Stop),
	}
}

// Answer implements control.Service.
func (n *Node) Answer(ctx context.Context, v control.VerbSpec, request any, yield func(answer any) error) error {
	return n.verbs.Answer(ctx, v, request, yield)
}
