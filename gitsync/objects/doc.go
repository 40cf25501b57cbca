// Package objects reads and writes the objects, packs and refs of a bare git
// repository that the git program works on at the same time.
//
// A read finds packs that appeared and forgets packs that vanished. If an object is not found,
// the pack folder is read again and the object is looked for once more. No file stays open
// between calls, except the packs that a Reader has open.
//
// Writing goes into one rolling pack (see Store.Install). Refs move under git's own lock files
// (see Refs.MoveRef). Everything is fsynced before a ref names it. Only SHA-1 repositories with
// loose or packed refs are understood.
//
// A Store is made of parts. A part knows at most the parts that stand before it in this list:
//
//   - Refs
//   - Trees
//   - packFolder, which knows in which order files of packs come and go
//   - packSet, which keeps the packs that are known
//   - looseObjects
//   - Writer, which installs packs and removes packs that were replaced
//   - joins, which joins packs so that there are only a few
//
// Locks are taken in the reverse order: first that of joins, then that of the Writer, then that
// of the packSet. Package objects/pack knows what the bytes of a pack mean.
package objects
