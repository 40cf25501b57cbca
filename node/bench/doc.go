// Package bench measures what parley promises in figures, on the machine and the
// disk of whoever asks.
//
// A Suite is a list of measures; each sets up its own real parts in a folder of
// its own, and gives some figures. Every figure that can have one stands beside a
// yardstick: what the bare disk, the git program or bare NATS needs for the same
// work, taken in the same run on the same disk. So a figure means something on a
// machine that nobody here knows, and says when a slow disk rather than parley is
// to blame.
//
// The command "parley bench" and the Go benchmarks of this package run the same
// functions: there is one truth. Nothing is measured on the user's own node.
package bench
