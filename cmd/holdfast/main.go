// Command holdfast is the whole program: the service, its dashboard and its command line. All of it stands in package cli.
package main

import (
	"os"

	"holdfast/internal/cli"
)

func main() { os.Exit(cli.Main()) }
