// Package talk holds the commands with which people and agents talk and read what was
// said: messages, the channels that they stand in, and memories.
package talk
