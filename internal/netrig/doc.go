// Package netrig gives tests real hosts on a real network, on one Linux machine. Each host is a
// network namespace with an address of its own, joined to a router by a wire. The router breaks
// what a test wants broken: by direction, by share of packets, for good or with a reset.
//
// It needs root and the programs ip and nft, and works only where
// PARLEY_ROOT_TESTS says so; elsewhere the tests that ask for a network are
// skipped, and say why. All that it makes has the process's number in its name
// and is removed at the test's end; what a process that was killed left behind is
// removed by the next.
package netrig
