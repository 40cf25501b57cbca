// Count prints how large the parts of a Go module are: its types, folders and
// packages, how often a comment hands a lock to the caller, what tests skip, and
// which files a name touches. Its output depends on the files alone, so that two
// trees are compared with diff. In tools/:
//
//	go run ./count [-n LINES] [FOLDER [NAME…]]
//
// A NAME is looked for in identifiers and strings of production files, word by
// word and in any case: "rotate key" is in RotateKeyRequest and in "rotate-key".
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	lines := flag.Uint("n", 12, "how many lines a list has at most")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: count [-n LINES] [FOLDER [NAME…]]")
		flag.PrintDefaults()
	}
	flag.Parse()
	root, names := "..", flag.Args()
	if len(names) > 0 {
		root, names = names[0], names[1:]
	}
	tree, err := read(os.DirFS(root))
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot count %s: %v\n", root, err)
		os.Exit(1)
	}
	tree.print(os.Stdout, int(*lines), names)
}
