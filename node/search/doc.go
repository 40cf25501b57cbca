// Package search finds messages by their words.
//
// The index is derived: it lies in a folder of the cache, holds no message, and is made anew if it
// is missing, damaged, or of another version or record. A crash can lose what was added last;
// Indexer adds what is missing at the next start. Words of any script are found.
//
// The index is a file with a line of words for each message, and a search reads all of it: a library
// that keeps lists of the messages of each word would find them sooner among millions, and costs more
// packages than the rest of parley, time at each start of the program, and merges in the background.
package search
