package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// readPassword reads a password: from a terminal twice and without showing it, else the first line of standard input.
// It is never an argument, which others on the machine could read.
func (p *program) readPassword() (string, error) {
	fd := int(p.stdin.Fd())
	if !term.IsTerminal(fd) {
		return p.readLine("")
	}
	ask := func(question string) (string, error) {
		fmt.Fprint(p.stderr, question)
		password, err := term.ReadPassword(fd)
		fmt.Fprintln(p.stderr)
		return string(password), err
	}
	first, err := ask("Password: ")
	if err != nil {
		return "", fmt.Errorf("the password cannot be read: %w", err)
	}
	second, err := ask("Once more: ")
	if err == nil && first != second {
		err = errors.New("the two differ")
	}
	if err != nil {
		return "", fmt.Errorf("the password cannot be read: %w", err)
	}
	return first, nil
}

// readSecret reads a password that is known already: from a terminal once and without showing it, else the first line
// of standard input.
func (p *program) readSecret(question string) (string, error) {
	fd := int(p.stdin.Fd())
	if !term.IsTerminal(fd) {
		return p.readLine("")
	}
	fmt.Fprint(p.stderr, question)
	secret, err := term.ReadPassword(fd)
	fmt.Fprintln(p.stderr)
	if err != nil {
		return "", fmt.Errorf("the password cannot be read: %w", err)
	}
	return string(secret), nil
}

// readLine reads one line of standard input, asking for it where somebody is there to read the question.
func (p *program) readLine(question string) (string, error) {
	if term.IsTerminal(int(p.stdin.Fd())) {
		fmt.Fprint(p.stderr, question)
	}
	line, err := lineOf(p.stdin)
	if err != nil {
		return "", fmt.Errorf("standard input cannot be read: %w", err)
	}
	return line, nil
}

// lineOf reads one line, with or without an end, and nothing of what follows it: a password may come before something
// else to read.
func lineOf(in *os.File) (string, error) {
	const most = 4096 // nothing that is asked for is longer
	var line []byte
	for one := make([]byte, 1); len(line) < most; {
		n, err := in.Read(one)
		if n == 1 && one[0] == '\n' {
			break
		}
		line = append(line, one[:n]...)
		if errors.Is(err, io.EOF) && len(line) > 0 {
			break
		}
		if err != nil {
			return "", err
		}
	}
	return strings.TrimRight(string(line), "\r"), nil
}
