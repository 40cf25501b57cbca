// Package bench measures what parley promises in figures, on the machine and the disk of the user.
//
// A Suite is a list of measures. Each measure sets up its own real parts in a folder of its own,
// and gives some figures. Every figure that can have one stands beside a yardstick: what the bare
// disk, the git program or bare NATS needs for the same work, measured in the same run on the same
// disk. So a figure means something even on an unknown machine, and shows if a slow disk and not
// parley is to blame.
//
// The command "parley bench" and the Go benchmarks of this package run the same functions, so that
// both give the same figures. Nothing is measured on the user's own node.
package bench
