// Package shelf is the files of a record that are no messages, and what people look up in them: the
// CHANNEL.md of channels, memories and actor profiles.
//
// Each kind of file has a type of its own. The type is told of files as they come, change and go.
// It asks others for what it must know of messages and of people.
package shelf
