// Package talk holds the commands with which people and agents talk and read what was said:
// messages, the channels in which they are, and memories.
package talk
