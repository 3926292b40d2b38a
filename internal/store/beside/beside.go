// Package beside runs functions one after the other beside their caller, who goes on meanwhile. It owns nothing. Begin reading at
// Line.
package beside

import (
	"fmt"
	"runtime/debug"
)

// Line is functions that run beside its owner. The zero value is ready. It belongs to one goroutine.
type Line struct {
	next []func() error // that do not run yet
	done chan error     // of those that run; nil: none does
}

// Add puts a function behind the others. It runs after the next Start or Wait.
func (l *Line) Add(fn func() error) { l.next = append(l.next, fn) }

// Start runs the functions that were added, without waiting for them, but for those before. If one of these has failed, its error
// comes back, and no other one runs.
func (l *Line) Start() error {
	list := l.next
	l.next = nil
	if err := l.await(); err != nil || len(list) == 0 {
		return err
	}
	done := make(chan error, 1)
	l.done = done
	go func() { done <- run(list) }()
	return nil
}

// Wait runs what was added and waits until no function runs. It returns the first error, once.
func (l *Line) Wait() error {
	if err := l.Start(); err != nil {
		return err
	}
	return l.await()
}

func (l *Line) await() error {
	if l.done == nil {
		return nil
	}
	err := <-l.done
	l.done = nil
	return err
}

// run runs functions up to the first error. A panic is one, too: the program serves others.
func run(list []func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic beside: %v\n%s", p, debug.Stack())
		}
	}()
	for _, fn := range list {
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}
