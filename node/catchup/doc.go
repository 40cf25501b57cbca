// Package catchup makes sure that nothing which the bus loses stays lost. It lets in what comes by
// the bus, and counts what it refuses. It holds messages that wait for their key. It finds gaps in
// the chains of hosts, asks for what is missing, and tells others how far chains go. All that it
// remembers is bounded, whatever others say.
package catchup
