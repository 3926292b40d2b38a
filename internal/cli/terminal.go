package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// readPassword reads a new password. On a terminal it asks twice without echo; otherwise it reads the next line of standard
// input. Passwords are never arguments, because other users of the machine can see those.
func (p *program) readPassword() (string, error) {
	fd := int(p.stdin.Fd())
	if !term.IsTerminal(fd) {
		return p.readLine("", "the password")
	}
	ask := func(question string) (string, error) {
		fmt.Fprint(p.stderr, question)
		password, err := term.ReadPassword(fd)
		fmt.Fprintln(p.stderr)
		return string(password), err
	}
	first, err := ask("Password: ")
	if err != nil {
		return "", fmt.Errorf("cannot read the password: %w", err)
	}
	second, err := ask("Confirm password: ")
	if err == nil && first != second {
		err = errors.New("the passwords do not match")
	}
	if err != nil {
		return "", fmt.Errorf("cannot read the password: %w", err)
	}
	return first, nil
}

// readSecret reads an existing password. On a terminal it asks once without echo; otherwise it reads the next line of standard
// input.
func (p *program) readSecret(question string) (string, error) {
	fd := int(p.stdin.Fd())
	if !term.IsTerminal(fd) {
		return p.readLine("", "the password")
	}
	fmt.Fprint(p.stderr, question)
	secret, err := term.ReadPassword(fd)
	fmt.Fprintln(p.stderr)
	if err != nil {
		return "", fmt.Errorf("cannot read the password: %w", err)
	}
	return string(secret), nil
}

// watched reports whether standard input is a terminal.
func (p *program) watched() bool { return term.IsTerminal(int(p.stdin.Fd())) }

// confirm asks a question on the terminal. Anything but yes means no.
func (p *program) confirm(question string) (bool, error) {
	answer, err := p.readLine(question+" [y/N] ", "the answer")
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", err
}

// errNoLine: standard input ended before a line that the command needs.
var errNoLine = errors.New("standard input has no line")

// readLine reads one line of standard input. The question is printed on a terminal only. what names the line in an error.
func (p *program) readLine(question, what string) (string, error) {
	if term.IsTerminal(int(p.stdin.Fd())) {
		fmt.Fprint(p.stderr, question)
	}
	line, err := lineOf(p.stdin)
	if errors.Is(err, io.EOF) {
		return "", fmt.Errorf("%w for %s", errNoLine, what)
	}
	if err != nil {
		return "", fmt.Errorf("cannot read standard input: %w", err)
	}
	return line, nil
}

// lineOf reads one line and not a byte more, because another answer may follow.
func lineOf(in *os.File) (string, error) {
	const most = 4096 // bytes; longer than any answer
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
