// Package catchup keeps what the bus did not bring, or not yet: the gaps in the chains of
// hosts and how often they were asked for, messages that wait for their key, and how many
// were refused. All of it is bounded, whatever others say.
package catchup
