package certificate

import (
	"context"

	"holdfast/internal/book/certificates"
)

// Finding makes the pages find certificates without a database.
func (p *Pages) Finding(find func(ctx context.Context, key string) (certificates.Certificate, error)) {
	p.find = find
}

// Taking makes the pages store notes without a database.
func (p *Pages) Taking(note func(ctx context.Context, key string, n certificates.Note) error) {
	p.note = note
}
