package schemasteps

import (
	"strings"
	"testing"
	"testing/fstest"
)

func folder(names ...string) fstest.MapFS {
	files := fstest.MapFS{}
	for _, name := range names {
		files["steps/"+name] = &fstest.MapFile{Data: []byte("-- " + name)}
	}
	return files
}

func TestRead(t *testing.T) {
	t.Parallel()
	steps, err := Read(folder("0002_more.sql", "0001_schema.sql", "notes.txt"), "steps")
	if err != nil || len(steps) != 2 || steps[0].String() != "0001_schema" || steps[1].String() != "0002_more" || steps[1].Text != "-- 0002_more.sql" {
		t.Errorf("%v, %v", steps, err)
	}
	for want, names := range map[string][]string{
		"migration steps/0003_late.sql stands at place 2":           {"0001_schema.sql", "0003_late.sql"},
		"migration steps/1_schema.sql is not named NNNN_words.sql":  {"1_schema.sql"},
		"migration steps/0001-schema.sql is not named NNNN_words.s": {"0001-schema.sql"},
	} {
		if _, err := Read(folder(names...), "steps"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %v, want %s", names, err, want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	steps, err := Read(folder("0001_schema.sql", "0002_more.sql"), "steps")
	if err != nil {
		t.Fatal(err)
	}
	first := Ran{1, "schema", steps[0].Digest()}
	for want, ran := range map[string][]Ran{
		"":                                       {first, {2, "more", ""}},
		"its schema is at step 3, and this pro":  {first, {2, "more", steps[1].Digest()}, {3, "late", ""}},
		"step 2 of its schema is missing":        {first, {3, "more", ""}},
		`step 2 of its schema is "less", and th`: {first, {2, "less", ""}},
		`step 2 of its schema, "more", had anot`: {first, {2, "more", steps[0].Digest()}},
	} {
		err := Compare(ran, steps)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%v: %v, want %s", ran, err, want)
		}
	}
	if err := Compare(nil, steps); err != nil {
		t.Errorf("an empty database: %v", err)
	}
}
