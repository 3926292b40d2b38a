package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
)

// Page is one page of a list. Its zero value is the first one, with 100 items.
type Page struct {
	Number int    // from 1; 0 is 1
	Cursor string // instead of Number: PageInfo.Next of the previous page
	Size   int    // from 1 to 100; 0 is 100
	Count  bool   // whether to count all items, which is slow on long lists
}

// PageInfo describes the position of a page in its list.
type PageInfo struct {
	Total int64  // total number of items; 0 unless Page.Count is set
	Pages int64  // total number of pages; 0 unless Page.Count is set
	More  bool   // whether there is another page
	Next  string // the Cursor of the next page; "" if the list only has numbered pages
}

// paged reads a page of a list, or of an object that contains a list.
func paged[T any](ctx context.Context, c *connection, path string, query any, page Page) (made T, info PageInfo, err error) {
	r := request{method: http.MethodGet, path: path, query: values(query)}
	wanted := pageQuery{Number: max(1, page.Number), Size: page.Size}
	if page.Cursor != "" {
		wanted.Number, wanted.Cursor = 0, page.Cursor
	}
	for name, value := range values(wanted) {
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
	for _, link := range got.header.Values("Link") {
		if strings.Contains(link, `rel="next"`) {
			info.More, info.Next = true, cursorOf(link)
		}
	}
	return made, info, nil
}

// cursorOf returns the cursor from a Link header. The rest of the URL may differ behind a proxy.
func cursorOf(link string) string {
	address, _, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Query().Get("cursor")
}

// pageQuery are the parameters of a page.
type pageQuery struct {
	Number int    `query:"page"`
	Cursor string `query:"cursor"`
	Size   int    `query:"per_page"`
}

// all iterates over all pages and stops at the first error.
func all[T, P any](page func(n Page) (P, PageInfo, error), items func(P) []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for at := (Page{Number: 1}); ; at = (Page{Number: at.Number + 1, Cursor: at.Cursor}) {
			got, info, err := page(at)
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
			at.Cursor = info.Next
		}
	}
}

// each iterates over all items of a list.
func each[T any](ctx context.Context, c *connection, path string, query any) iter.Seq2[T, error] {
	return all(func(n Page) ([]T, PageInfo, error) { return paged[[]T](ctx, c, path, query, n) },
		func(items []T) []T { return items })
}
