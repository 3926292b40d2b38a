package api

import "testing"

// TestListsOfTags: a header contains an ETag or not, whatever surrounds it.
func TestListsOfTags(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]bool{
		"": false, "*": true, " * ": true, "3-a": false, `"3-a`: false, `3-a"`: false, `"3-a"`: true, `W/"3-a"`: true, `w/"3-a"`: false,
		`"1", "3-a"`: true, `"1","2"`: false, `"1" ,	W/"3-a" , "4"`: true, `"x, 3-a"`: false, `"x,\"3-a\""`: false, `,,"3-a"`: true,
		`"1", *`: false, `"", "3-a"`: true, `W/`: false, `"1" x "3-a"`: false,
	} {
		if got := holdsTag(list, `"3-a"`); got != want {
			t.Errorf("%s holds the ETag: %v, want %v", list, got, want)
		}
	}
}
