// Package door runs an agent's command: the exec door, through which a message reaches an agent
// that is a program.
//
// A command line comes from the operator's own configuration. It is split as a shell would split
// it, and run without a shell (SplitCommand). So nothing that a message says is ever read as code.
// Run starts the command as the leader of a session of its own, and so of a process group. It gives
// it the message on standard input and returns what it printed.
//
// If the Command says so, {prompt} and {output} in its words stand for the message and for a file
// that takes the answer. A word is filled in as a whole, after splitting: no shell reads it, and
// CheckPlaceholders refuses the places where one would.
//
// What Run guarantees:
//
//   - It returns. After the timeout, or when its context ends, the group gets
//     SIGTERM and, after the grace, SIGKILL. Descendants that keep standard
//     output open after the command has ended are waited for no longer than
//     the grace. Only a process that the kernel itself cannot end holds it up.
//   - When it returns, the command is gone and all that was left of its group
//     has been sent SIGKILL, however the command ended. Beneath a keeper (Linux)
//     that is everything the command has started; without one a descendant that
//     moved to a session of its own (setsid) is on its own and not waited for.
//   - Memory is bounded: of standard output MaxOutput bytes are kept, of
//     standard error the last 4 KiB; the rest is read and thrown away, so that
//     no command blocks on a full pipe.
//   - A command with limits has them from its first instruction on (Linux), and is
//     ended when it has used more; the result says of what. One that has printed
//     more than it may is ended on every system.
//   - A file for the answer lies in a folder of its own that only the node's user
//     may enter. It is gone when Run returns, whatever the command did; only the
//     sudden death of the node leaves it.
//   - On Linux the command is killed when the node dies, even by kill -9; beneath
//     a keeper its descendants are too. On Windows the whole job is.
//   - Windows knows no SIGTERM: a job is ended at once, without grace. A
//     descendant that the command starts in the instant before it is put into
//     its job is not part of it.
package door
