package client

import (
	"reflect"
	"testing"
)

// TestAPartKnowsNoOther: otherwise a program that uses one part of a client would link the methods of all parts, 700
// kB.
func TestAPartKnowsNoOther(t *testing.T) {
	t.Parallel()
	whole := reflect.TypeFor[Client]()
	for i := range whole.NumField() {
		part := whole.Field(i)
		if !part.IsExported() {
			continue
		}
		if of := part.Type.Elem(); of.NumField() != 1 || of.Field(0).Type != reflect.TypeFor[*connection]() {
			t.Errorf("the part %s has more than a connection", part.Name)
		}
	}
	for i := range reflect.TypeFor[connection]().NumField() {
		if f := reflect.TypeFor[connection]().Field(i); f.Type.Kind() == reflect.Pointer && f.Type.Elem().PkgPath() == whole.PkgPath() {
			t.Errorf("a connection has the field %s, which leads to a part", f.Name)
		}
	}
}
