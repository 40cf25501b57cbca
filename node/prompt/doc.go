// Package prompt writes what an agent that is a language model is given for a message. The text
// says who the agent is, what is wanted of it, and what the channel is for. Then comes what was
// remembered and said before, and the message itself.
//
// It is text in, text out: the same request gives the same bytes.
//
// The text keeps two things apart. What those who run the agent say stands outside of fences: the
// frame, which is written here, and the actor profile that they have accepted. What anybody else
// wrote stands inside fences: another profile, channel descriptions, memories, earlier messages,
// and the message. A fence is a line that begins and a line that ends, both with a word that the writers
// could not know. If that word occurs in one of the texts all the same, all fences get another
// word. So no text ever has to be changed to stay inside. Sender, host, time, path, act and the
// state of the signature stand outside of the fences. Names are shown in such a way that they
// cannot pass for anything else.
//
// Characters that cannot be seen but change how others are read are written out everywhere, as
// \u202e (internal/visible).
package prompt
