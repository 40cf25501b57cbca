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
		control.Send.For(n.outbox.Send),
		control.Wait.For(n.waiter.Wait),
		control.FindTalk.For(n.outbox.Talk),
		control.Inbox.For(n.inbox.Inbox),
		control.Read.For(n.inbox.Read),
		control.ReadAll.For(n.inbox.ReadAll),
		control.Shown.For(n.inbox.Shown),
		control.Show.By(n.views.Show),
		control.Replies.By(n.views.Replies),
		control.Thread.By(n.views.Thread),
		control.Sync.For(n.collab.Sync),
		control.Search.By(n.finder.Search),
		control.Log.By(n.logbook.Log),
		control.Events.By(n.narrator.Events),
		control.MakeToken.By(n.actors.Token),
		control.Trace.By(n.tracer.Trace),
		control.Channels.By(n.shelves.Channels),
		control.ShowChannel.By(n.shelves.Channel),
		control.NewChannel.For(n.shelves.NewChannel),
		control.ChangeMembers.For(n.shelves.ChangeMembers),
		control.AddMemory.For(n.shelves.AddMemory),
		control.Memories.By(n.shelves.Memories),
		control.ShowMemory.By(n.shelves.Memory),
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
		control.TryNotifications.By(n.TryNotifications),
		control.ShowMesh.By(n.parties.Mesh),
		control.Gates.By(n.Gates),
		control.AnswerGate.For(n.parties.Answer),
		control.OpenFrame.For(n.inquiries.Open),
		control.Frames.By(n.inquiries.List),
		control.ShowFrame.By(n.inquiries.Show),
		control.AnswerFrame.For(n.inquiries.Answer),
		control.EscFrame.For(n.inquiries.Esc),
		control.ResumeFrame.For(n.inquiries.Resume),
		control.ListPolicy.By(n.policies.list),
		control.SetPolicy.For(n.policies.set),
		control.Humans.By(n.humans.list),
		control.GiveHumanKey.By(n.humans.give),
		control.EndHumanKey.By(n.humans.end),
		control.Upgrade.By(n.shelves.Upgrade),
		control.Verify.By(n.audits.Verify),
		control.VerifyProgress.By(n.audits.VerifyProgress),
		control.CountRecord.By(n.recordView.RecordStats),
		control.Export.By(n.recordView.Export),
		control.Withhold.By(n.withholding.Withhold),
		control.Admit.By(n.recordView.Admit),
		control.List.By(n.hosts.directory.List),
		control.Hosts.By(n.hosts.directory.Hosts),
		control.ShowHost.By(n.hosts.directory.Host),
		control.HostCertificate.By(n.hosts.questioner.HostCertificate),
		control.PingHost.By(n.hosts.questioner.PingHost),
		control.ProbeHost.By(n.hosts.questioner.ProbeHost),
		control.AskFleet.By(n.hosts.questioner.FleetStatus),
		control.RotateKey.By(n.hosts.rotator.RotateKey),
		control.RevokeKey.By(n.hosts.revoker.RevokeKey),
		control.RemoveHost.By(n.hosts.remover.RemoveHost),
		control.Stop.By(n.Stop),
	}
}

// Answer implements control.Service.
func (n *Node) Answer(ctx context.Context, v control.VerbSpec, request any, yield func(answer any) error) error {
	return n.verbs.Answer(ctx, v, request, yield)
}
