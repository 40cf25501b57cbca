// Package catchup is what a node does so that nothing the bus loses stays lost: it lets in
// what comes by the bus, holds messages that wait for their key, counts what it refuses,
// finds gaps in the chains of hosts and asks for what is missing, and tells others how far
// chains go. All that it remembers is bounded, whatever others say.
package catchup
