// Package shelf is the books of a record, its files beside messages, and what people
// look up in them: the CHANNEL.md of channels, memories and actor profiles.
//
// Each kind has a type of its own. It is told of files as they come, change and go,
// and asks others for what it must know of messages and of people.
package shelf
