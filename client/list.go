package client

import (
	"context"
	"iter"
	"net/http"
	"strings"
)

// Page is one page of a list. Its zero value is the first one, with 100 items.
type Page struct {
	Number int  // from 1; 0 is 1
	Size   int  // from 1 to 100; 0 is 100
	Count  bool // whether to count the whole list, which takes time where it is long
}

// PageInfo says where in a list a page stands.
type PageInfo struct {
	Total int64 // items of the whole list; 0 unless Page.Count asked for it
	Pages int64 // pages of the whole list; 0 unless Page.Count asked for it
	More  bool  // whether there is another page
}

// paged reads a page of a list, or of an object that has one.
func paged[T any](ctx context.Context, c *connection, path string, query any, page Page) (made T, info PageInfo, err error) {
	r := request{method: http.MethodGet, path: path, query: values(query)}
	for name, value := range values(pageQuery{max(1, page.Number), page.Size}) {
		r.query[name] = value
	}
	if !page.Count {
		r.query.Set("count", "false")
	}
	got, err := c.call(ctx, r, nil, nil)
	if err != nil {
		return made, info, err
	}
	if err := parse(r, got.body, &made); err != nil {
		return made, info, err
	}
	info = PageInfo{Total: integer(got.header, "X-WP-Total"), Pages: integer(got.header, "X-WP-TotalPages")}
	// Only whether there is a next page is taken from the header, and not its address: behind a proxy, that may be another.
	for _, link := range got.header.Values("Link") {
		info.More = info.More || strings.Contains(link, `rel="next"`)
	}
	return made, info, nil
}

// pageQuery are the parameters of a page.
type pageQuery struct {
	Number int `query:"page"`
	Size   int `query:"per_page"`
}

// all goes through all pages. After an error it ends.
func all[T, P any](page func(n Page) (P, PageInfo, error), items func(P) []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for n := 1; ; n++ {
			got, info, err := page(Page{Number: n})
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items(got) {
				if !yield(item, nil) {
					return
				}
			}
			if !info.More {
				return
			}
		}
	}
}

// each goes through all items of a list.
func each[T any](ctx context.Context, c *connection, path string, query any) iter.Seq2[T, error] {
	return all(func(n Page) ([]T, PageInfo, error) { return paged[[]T](ctx, c, path, query, n) },
		func(items []T) []T { return items })
}
