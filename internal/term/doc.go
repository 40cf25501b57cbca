// Package term is what parley knows about a person's terminal: whether there is one, how wide it
// is, whether it shows colour, and how wide a text stands in it. It shows text that strangers
// wrote without obeying it.
package term
