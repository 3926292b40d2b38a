package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"holdfast/internal/domain/access"
)

// TestNobodyAnswersUnasked: a handler that reads and writes nothing for a remembered sender has a fault, and its answer does not go out.
func TestNobodyAnswersUnasked(t *testing.T) {
	t.Parallel()
	for what, answer := range map[string]func(c *call){
		"a status": func(c *call) { c.WriteHeader(http.StatusOK) },
		"a body":   func(c *call) { _, _ = c.Write([]byte("secret")) },
	} {
		recorder := httptest.NewRecorder()
		c := &call{ResponseWriter: recorder, actor: access.Actor{Remembered: &access.Remembered{Version: 7}}}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s goes out", what)
				}
			}()
			answer(c)
		}()
		if recorder.Body.Len() > 0 {
			t.Errorf("%s: %s", what, recorder.Body)
		}
		if c.actor.Remembered.Ask(8) || !c.actor.Remembered.Ask(7) {
			t.Error("A sender holds for another version than the one that is remembered.")
		}
		if answer(c); recorder.Code != http.StatusOK {
			t.Errorf("%s: %d", what, recorder.Code)
		}
	}
}
