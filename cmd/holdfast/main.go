// Command holdfast is the whole program: the service, its dashboard and its command line. See package cli.
package main

import (
	"os"

	"holdfast/internal/cli"
)

func main() { os.Exit(cli.Main()) }
