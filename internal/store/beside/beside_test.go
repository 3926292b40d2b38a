package beside_test

import (
	"errors"
	"strings"
	"testing"

	"holdfast/internal/store/beside"
)

// TestFunctionsRunOneAfterTheOther: the second one sees what the first has done, and Wait all of it.
func TestFunctionsRunOneAfterTheOther(t *testing.T) {
	t.Parallel()
	var line beside.Line
	var ran []int
	for n := range 100 {
		line.Add(func() error {
			ran = append(ran, n)
			return nil
		})
		if n%3 != 0 {
			continue
		}
		if err := line.Start(); err != nil {
			t.Fatal(err)
		}
	}
	if err := line.Wait(); err != nil || len(ran) != 100 || ran[99] != 99 {
		t.Errorf("ran %v, %v", ran, err)
	}
	if err := line.Wait(); err != nil {
		t.Errorf("nothing runs, and waiting says %v", err)
	}
}

// TestAnErrorStopsTheLine: what comes behind a function that failed does not run, and the error is told once.
func TestAnErrorStopsTheLine(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func() error{
		"an error": func() error { return errors.New("it broke") },
		"a panic":  func() error { panic("it broke") },
	} {
		var line beside.Line
		next := func() error {
			t.Errorf("after %s the next one runs", name)
			return nil
		}
		line.Add(fails)
		line.Add(next)
		if err := line.Start(); err != nil {
			t.Fatal(err)
		}
		line.Add(next)
		err := line.Wait()
		if err == nil || !strings.Contains(err.Error(), "it broke") {
			t.Errorf("after %s the line says %v", name, err)
		}
		if err := line.Wait(); err != nil {
			t.Errorf("%s is told twice: %v", name, err)
		}
	}
}
