// Package objects reads and writes the objects, packs and refs of a bare git
// repository that the git program works on at the same time.
//
// Reading finds packs that appeared and forgets packs that vanished: an object
// that is not found is looked for once more after the pack folder was read
// again. No file stays open between calls.
//
// Writing goes into one rolling pack (see Store.Install); refs move under git's
// own lock files (see Refs.MoveRef). Everything is fsynced before a ref names
// it. Only SHA-1 repositories with loose or packed refs are understood.
//
// A Store is made of parts, each of which knows those before it in this row at most:
// Refs; Trees; packFolder, in which order files of packs come and go; packSet, which
// packs are known; looseObjects; Writer, which installs packs and takes replaced ones
// away; joins, which has few packs stand beside each other. Locks are taken in the reverse order:
// that of joins, of the Writer, of the packSet. What packs are in bytes is package
// objects/pack.
package objects
