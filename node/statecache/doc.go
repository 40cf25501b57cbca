// Package statecache makes the state when a node starts, and keeps it in a cache. What is in the
// cache need not be read from the record again, and takes little memory. The cache is derived: it
// is made anew if it is missing, damaged, or of no use.
package statecache
