// Package term is what parley knows about a person's terminal: whether there is one, how wide it
// is, whether it shows colour, and how wide a text is on it. It shows text that strangers wrote in
// such a form that the terminal does not obey it.
package term
