// Package bus moves messages and letters between the nodes of a fleet over NATS (DESIGN
// section 7). It has a server inside the process and leaf links to the servers of other
// hosts, or uses an existing NATS system.
//
// What it promises:
//
//   - At most once. A message that Publish accepted reaches every host that is
//     linked at that moment, unless a link breaks or a receiver is too slow. The
//     bus repeats nothing and stores nothing; hosts ask each other for lost
//     messages, or git brings them.
//   - Order. What one host publishes, one after the other, arrives in that order
//     while the same links stay up. Nothing is promised between two senders, or
//     across a reconnect. Handlers run on one goroutine. Of what queued up while
//     they ran, the messages come first, as one batch in their order of arrival,
//     then the letters in theirs: a letter never overtakes a message.
//   - Lost: what is published while a link is down (nobody stores it), what is
//     under way when a link breaks, and what arrives when the receiving queue is
//     full. The last of these is counted (Dropped). Linked tells the node that a
//     link came up, when the peer can hear it, so that the node can say again
//     what matters.
//   - Blocking. Publish and its like hand over to the connection and return. A
//     connection that takes nothing for 2 s is given up, so they take no longer.
//     Ask waits for its answer until its context ends. A slow handler delays the
//     queue.
//   - Bounds. At most 96 MiB of messages and letters wait for the handlers, two
//     thirds of them from one host. At most 256 questions wait for their turn, and
//     16 are answered at a time. A message with its headers has at most
//     protocol.MaxFile bytes.
//
// Messages are not checked here: the node judges who signed one, and whether that counts. The
// sender of an Incoming is what its subject says, and the bus guards subjects only at the first hop.
// Letters are checked: each must be signed for this record, by a key that is trusted for the host in
// the subject, and its time must be within 36 hours of our clock. A question or a presence that came
// before is refused. A repetition of another letter is harmless.
//
// Links. A host that takes links has one port for them (entrance). The port speaks TLS 1.3 with the
// host's key as its certificate, and lets in a host that proves a key which counts. A host has at
// most one link that it has dialled. Each dial is pinned to a key of the host that it means
// (dialler). Both are in front of the embedded server, whose own leaf port and leaf remote never
// leave the loopback. Links form a tree, whatever is reachable (tree). A link that carries nothing
// is pinged every 2 s and given up after 6.
//
// Who may connect: a host that proves a key which counts, by a link or as a client. It may publish
// below its own name and read the fleet. Anybody who reaches a clients port on the loopback may read
// the fleet's subjects and say nothing. The link of a host that itself takes links carries the
// letters of all hosts behind it. So such a host with a changed program can hold back, repeat or
// invent what it carries. It can speak on another host's subjects and read answers that pass. It can
// close or feign a cycle of links between other hosts that take links, which NATS then cuts. It
// cannot sign for another host. A host that takes no links can do none of that (unmarked). Whoever
// holds a key may also look for NATS services, by which all hosts can be found (Discovery). That
// proves nothing to anybody.
package bus
