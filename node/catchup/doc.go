// Package catchup makes sure that nothing which the bus loses stays lost. It finds gaps in the chains
// of hosts, asks for what is missing, and tells others how far chains go. All that it remembers is
// bounded, whatever others say.
package catchup
