package apptest

import (
	"fmt"
	"testing"
	"time"

	"holdfast/internal/limits"
	"holdfast/internal/protection"
	"holdfast/internal/travel"
)

func (w *World) Limit(scope protection.LimitScope, channel, amount int64) protection.Limit {
	w.t.Helper()
	in := limits.LimitFields{Scope: &scope, Amount: &amount}
	if channel != 0 {
		in.ChannelID = &channel
	}
	made, err := w.App.Limits.Set(w.t.Context(), w.Actor, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return made
}

// Settle lets the job see what there is, and settle it when its time has come.
func (w *World) Settle() {
	w.t.Helper()
	w.SettlePieces()
	w.Advance(6 * time.Second)
	w.SettlePieces()
}

func (w *World) SettlePieces() {
	w.t.Helper()
	for more := true; more; {
		var err error
		if more, err = w.App.Limits.Recompute(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

var WholeList = travel.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id", Count: true}

// Events lists events as "scope object percent".
func (w *World) Events(scope protection.LimitScope) []string {
	w.t.Helper()
	list, err := w.App.Limits.Events(w.t.Context(), w.Actor, limits.LimitEvents{Scopes: []protection.LimitScope{scope}}, WholeList)
	if err != nil {
		w.t.Fatal(err)
	}
	var texts []string
	for _, e := range list.Items {
		texts = append(texts, fmt.Sprintf("%d:%d%%=%d", e.ObjectID, e.Percent, e.Use))
	}
	return texts
}

// Row reads the row of a channel's limit, or the site's where channel is 0.
func (w *World) Row(scope protection.LimitScope, channel int64) limits.LimitRow {
	w.t.Helper()
	list, err := w.App.Limits.List(w.t.Context(), w.Actor, limits.LimitFilter{Scopes: []protection.LimitScope{scope}, Channels: []int64{channel}}, WholeList)
	if err != nil || len(list.Items) != 1 {
		w.t.Fatalf("%d rows of %s %d, %v", len(list.Items), scope, channel, err)
	}
	return list.Items[0]
}

func Same(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s: %s, want %s", what, g, w)
	}
}
