package modal

import "context"

// Finding makes the modal find sites without a database.
func (m *Modal) Finding(find func(ctx context.Context, path string) (name string, origins []string, err error)) {
	m.find = func(ctx context.Context, path string) (site, error) {
		name, origins, err := find(ctx, path)
		return site{name, origins}, err
	}
}
