// Package netrig gives tests real hosts on a real network, on one Linux machine. Each host is a
// network namespace with an address of its own, joined to a router by a wire. The router breaks
// what a test wants broken: in one direction, for a share of the packets, for good, or with a
// reset.
//
// It needs root and the programs ip and nft, and works only if PARLEY_ROOT_TESTS says so.
// Otherwise, tests that ask for a network are skipped, and say why. All that it makes has the
// number of the process in its name, and is removed at the end of the test. What a killed process
// has left behind is removed by the next one.
package netrig
