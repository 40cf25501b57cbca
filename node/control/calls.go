package control

import "context"

// Status says who the node is and how it fares.
func (c *Client) Status(ctx context.Context) (Status, error) {
	return call[Status](ctx, c, verbStatus, none{})
}

// Send stores a message.
func (c *Client) Send(ctx context.Context, r SendRequest) (Message, error) {
	return call[Message](ctx, c, verbSend, r)
}

// Wait returns the first answer to a message, or the next message from or to
// someone.
func (c *Client) Wait(ctx context.Context, r WaitRequest) (Message, error) {
	return call[Message](ctx, c, verbWait, r)
}

// Talk says where two participants talk.
func (c *Client) Talk(ctx context.Context, r TalkRequest) (Talk, error) {
	return call[Talk](ctx, c, verbTalk, r)
}

// Inbox lists the mail of one participant, oldest first.
func (c *Client) Inbox(ctx context.Context, r InboxRequest) ([]Message, error) {
	return call[[]Message](ctx, c, verbInbox, r)
}

// Read returns a message and leaves a receipt.
func (c *Client) Read(ctx context.Context, r ReadRequest) (Message, error) {
	return call[Message](ctx, c, verbRead, r)
}

// ReadAll leaves receipts for mail that waits.
func (c *Client) ReadAll(ctx context.Context, r ReadAllRequest) (Marked, error) {
	return call[Marked](ctx, c, verbReadAll, r)
}

// Shown leaves receipts for messages that were shown to the one they waited for.
func (c *Client) Shown(ctx context.Context, r ShownRequest) (Marked, error) {
	return call[Marked](ctx, c, verbShown, r)
}

// Show returns a message and writes nothing.
func (c *Client) Show(ctx context.Context, r ShowRequest) (Message, error) {
	return call[Message](ctx, c, verbShow, r)
}

// Agents lists the agents served on the node's host.
func (c *Client) Agents(ctx context.Context) ([]Agent, error) {
	return call[[]Agent](ctx, c, verbAgents, none{})
}

// AddAgent begins to serve an agent.
func (c *Client) AddAgent(ctx context.Context, r AddAgentRequest) (Agent, error) {
	return call[Agent](ctx, c, verbAddAgent, r)
}

// SetAgent changes how an agent is served.
func (c *Client) SetAgent(ctx context.Context, r SetAgentRequest) (Agent, error) {
	return call[Agent](ctx, c, verbSetAgent, r)
}

// RemoveAgent stops serving an agent.
func (c *Client) RemoveAgent(ctx context.Context, r AgentRequest) error {
	_, err := call[none](ctx, c, verbRemoveAgent, r)
	return err
}

// List is the fleet's directory.
func (c *Client) List(ctx context.Context, r HostsRequest) ([]Participant, error) {
	return call[[]Participant](ctx, c, verbList, r)
}

// Stop makes the node drain and exit.
func (c *Client) Stop(ctx context.Context) error {
	_, err := call[none](ctx, c, verbStop, none{})
	return err
}

// Replies lists the answers to a message.
func (c *Client) Replies(ctx context.Context, r ThreadRequest) ([]Message, error) {
	return call[[]Message](ctx, c, verbReplies, r)
}

// Thread lists the conversation that a message is in.
func (c *Client) Thread(ctx context.Context, r ThreadRequest) ([]ThreadMessage, error) {
	return call[[]ThreadMessage](ctx, c, verbThread, r)
}

// Search finds messages by their words.
func (c *Client) Search(ctx context.Context, r SearchRequest) (SearchResult, error) {
	return call[SearchResult](ctx, c, verbSearch, r)
}

// PauseAgent has an agent's mail wait, or go on.
func (c *Client) PauseAgent(ctx context.Context, r PauseRequest) (Agent, error) {
	return call[Agent](ctx, c, verbPauseAgent, r)
}

// TestAgent runs an agent's command once and keeps nothing of it.
func (c *Client) TestAgent(ctx context.Context, r TestRequest) (TestResult, error) {
	return call[TestResult](ctx, c, verbTestAgent, r)
}

// AgentToken makes a token for an agent that the node does not start itself.
func (c *Client) AgentToken(ctx context.Context, r AgentRequest) (AgentToken, error) {
	return call[AgentToken](ctx, c, verbAgentToken, r)
}

// Profile returns an actor profile, or writes it.
func (c *Client) Profile(ctx context.Context, r ProfileRequest) (Profile, error) {
	return call[Profile](ctx, c, verbProfile, r)
}

// Prompt returns what an agent is given for a message.
func (c *Client) Prompt(ctx context.Context, r PromptRequest) (Prompt, error) {
	return call[Prompt](ctx, c, verbPrompt, r)
}

// Open returns what an agent's own interactive program needs to run.
func (c *Client) Open(ctx context.Context, r OpenRequest) (Opening, error) {
	return call[Opening](ctx, c, verbOpen, r)
}

// Wake looks at the remote and at what waits for agents.
func (c *Client) Wake(ctx context.Context, r WakeRequest) (Woken, error) {
	return call[Woken](ctx, c, verbWake, r)
}

// Channel describes one channel.
func (c *Client) Channel(ctx context.Context, r ChannelRequest) (Channel, error) {
	return call[Channel](ctx, c, verbChannel, r)
}

// NewChannel makes a named channel.
func (c *Client) NewChannel(ctx context.Context, r NewChannelRequest) (Channel, error) {
	return call[Channel](ctx, c, verbNewChannel, r)
}

// ChangeMembers changes the members of a channel.
func (c *Client) ChangeMembers(ctx context.Context, r MembersRequest) (Channel, error) {
	return call[Channel](ctx, c, verbMembers, r)
}

// AddMemory writes a memory.
func (c *Client) AddMemory(ctx context.Context, r AddMemoryRequest) (Memory, error) {
	return call[Memory](ctx, c, verbAddMemory, r)
}

// Memories lists memories, oldest first.
func (c *Client) Memories(ctx context.Context, r MemoriesRequest) ([]Memory, error) {
	return call[[]Memory](ctx, c, verbMemories, r)
}

// Memory returns one memory.
func (c *Client) Memory(ctx context.Context, r MemoryRequest) (Memory, error) {
	return call[Memory](ctx, c, verbMemory, r)
}

// Upgrade brings the files that come with the program up to date.
func (c *Client) Upgrade(ctx context.Context, r UpgradeRequest) ([]UpgradedFile, error) {
	return call[[]UpgradedFile](ctx, c, verbUpgrade, r)
}

// Channels lists the channels of the record.
func (c *Client) Channels(ctx context.Context) ([]Channel, error) {
	return call[[]Channel](ctx, c, verbChannels, none{})
}

// VerifyProgress says how far the Verify has come that was asked for last.
func (c *Client) VerifyProgress(ctx context.Context) (Progress, error) {
	return call[Progress](ctx, c, verbVerifying, none{})
}

// Verify looks at every message of the record.
func (c *Client) Verify(ctx context.Context) (Verification, error) {
	return call[Verification](ctx, c, verbVerify, none{})
}

// RecordStats counts what is in the record.
func (c *Client) RecordStats(ctx context.Context) (RecordStats, error) {
	return call[RecordStats](ctx, c, verbRecordStats, none{})
}

// Export writes all files of the record into a folder.
func (c *Client) Export(ctx context.Context, r ExportRequest) (Exported, error) {
	return call[Exported](ctx, c, verbExport, r)
}
