package api_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"holdfast/internal/dbtest"
	"holdfast/internal/travel"
)

// changing are the conversations in which bookings change, or what is shown of them.
var changing = regexp.MustCompile(`bookings|payments|transactions|channels|clock|modal|other_protection|server-to-server`)

// TestListsOfAllBookingsStayTrue: after each exchange of a conversation, the list of all bookings, whose texts are kept, is the same as the list
// with a filter that leaves nothing out, whose texts are not.
func TestListsOfAllBookingsStayTrue(t *testing.T) {
	t.Parallel()
	lists, rows := 0, 0
	t.Run("conversations", func(t *testing.T) {
		for _, folder := range []string{"testdata", "testdata/server-to-server"} {
			files, err := filepath.Glob(folder + "/*.txt")
			must(t, err)
			profile := travel.ProtectionOnlyProfile
			if folder != "testdata" {
				profile = travel.ServerToServerProfile
			}
			for _, file := range files {
				if !changing.MatchString(filepath.ToSlash(file)) {
					continue
				}
				k := &talk{world: newWorldOf(t, profile, dbtest.Engines[0].Database(t), io.Discard), as: "nobody", kept: map[string]string{}}
				text, err := os.ReadFile(file)
				must(t, err)
				for i, turn := range turns(string(text)) {
					k.run(t, turn.request)
					kept, status := k.listBookings(t, "")
					fresh, again := k.listBookings(t, "&exclude=999999999")
					if kept != fresh || status != again {
						t.Errorf("%s, exchange %d: the list of all bookings is\n%s\nand should be\n%s", file, i+1, kept, fresh)
					}
					if lists++; status == http.StatusOK {
						rows += strings.Count(kept, `"trust_id"`)
					}
				}
			}
		}
	})
	if lists < 300 || rows < 300 {
		t.Errorf("%d lists with %d bookings were compared", lists, rows)
	}
}

// listBookings asks for all bookings of the site demo by its token.
func (k *talk) listBookings(t *testing.T, more string) (body string, status int) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/demo/rest/svc/v2/bookings?per_page=100&count=false"+more, nil)
	r.Header.Set("X-Request-Id", "conversation")
	r.Header.Set("Authorization", "Bearer 1|"+tokenSecret)
	recorder := httptest.NewRecorder()
	k.world.handler.ServeHTTP(recorder, r)
	return recorder.Body.String(), recorder.Code
}
