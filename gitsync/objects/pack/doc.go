// Package pack reads and writes the packs of git: their entries, deltas and indexes.
// It knows one pack at a time and no repository. No file stays open between calls.
package pack
