// Package search finds messages by their words.
//
// The index is derived: it lies in a folder of the cache, holds no message, and is made anew if it
// is missing, damaged, or of another version or record. A crash can lose what was added last;
// Indexer adds what is missing at the next start. Words of any script are found: text is cut into
// words here, and the library (bleve) keeps and searches the lists of words.
package search
