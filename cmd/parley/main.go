// Command parley lets agents on many machines talk live over NATS, with every word kept in git.
//
// The folders beside this file hold the commands, one folder for each group, and cli, which is what
// they share. A command is in a file of its own name: NewXCommand reads the command line, and runX
// asks the node through node/control and prints the answer. The package root makes one tree of them.
// Stories that scripts tell stand beside the commands, and those of machines and disks here.
package main

import (
	"os"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/root"
)

func main() { os.Exit(root.Play(cli.New(os.Stdin, os.Stdout, os.Stderr, os.Getenv))) }
