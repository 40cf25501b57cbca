// Package cli is what all commands of parley share: the [Program] that runs one
// of them, flags and words that several take, questions to whoever types, how a
// failure is told, and the [View] that shows answers in tables, lines and JSON.
//
// It knows the node only by its control socket, and no command.
package cli
