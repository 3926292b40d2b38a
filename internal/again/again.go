// Package again keeps lists whose memory is used again. It owns nothing. Begin reading at Lists.
package again

import "sync"

// Lists gives empty lists, and takes them back. The zero value is ready. Several goroutines may use it at once.
type Lists[T any] struct{ pool sync.Pool }

// Take gives an empty list.
func (l *Lists[T]) Take() *[]T {
	if list, ok := l.pool.Get().(*[]T); ok {
		return list
	}
	return new([]T)
}

// GiveBack takes a list back, and forgets what is in it. Nobody may use it any more.
func (l *Lists[T]) GiveBack(list *[]T) {
	clear(*list)
	*list = (*list)[:0]
	l.pool.Put(list)
}
