package events

import "context"

// Look looks once for what other processes have stored.
func (e *Events) Look(ctx context.Context) { e.look(ctx) }

// Heard says whether the watch has been told that something may have happened.
func (w *Watch) Heard() bool {
	select {
	case <-w.listener.C:
		return true
	default:
		return false
	}
}
