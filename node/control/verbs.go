package control

// Verbs are all verbs of a node. No node answers a verb that is missing here.
func Verbs() []VerbSpec {
	return specs(
		ShowStatus, Whoami, Send, Wait, FindTalk, Inbox, Read, ReadAll, Shown, Show, Replies, Thread, Trace, Why, Search, Log, Events,
		Agents, ShowAgent, AddAgent, SetAgent, RemoveAgent, PauseAgent, TestAgent, MakeToken, SetPresence, ActorProfile, ShowPrompt, Open,
		TellSession, SessionGiven, SessionBells, Sessions, NameSession, MuteSession,
		Sync,
		Wake, Queue, Cancel, DeadLetters, RetryDead, DropDead,
		Channels, ShowChannel, NewChannel, ChangeMembers, AddMemory, Memories, ShowMemory,
		Topics, ShowTopic, ShowRelation, OpenTopic, DoInTopic, SweepTopics, PageOfTopic, ReadIssues, PersistTopic,
		Parties, ShowParty, Organize, DoInParty, UseParty, TellParty, SayPresence, Recruits, BroadcastStats, BroadcastTopic, ShowMesh, Gates, AnswerGate,
		OpenFrame, Frames, ShowFrame, DescribeFrame, AnswerFrame, EscFrame, ResumeFrame,
		ListPolicy, SetPolicy, Humans, GiveHumanKey, EndHumanKey, TryNotifications, ChangeNotifications,
		Upgrade, Verify, VerifyProgress, CountRecord, Export, Withhold, Redact, Admit,
		List, Hosts, ShowHost, HostCertificate, PingHost, ProbeHost, AskFleet, RotateKey, RevokeKey, RemoveHost, MakeInvitation, Invitations, AnswerKnock, RevokeInvitation, OpenLinks, Stop,
	)
}

func specs(verbs ...interface{ spec() VerbSpec }) []VerbSpec {
	list := make([]VerbSpec, len(verbs))
	for i, v := range verbs {
		list[i] = v.spec()
	}
	return list
}

func (v VerbSpec) spec() VerbSpec { return v }
