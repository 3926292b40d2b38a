package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/fault"
	"holdfast/internal/travel"
)

// object is one thing in the shape of the wire.
type object struct {
	id      int64
	version int64 // 0 where the noun has none
	body    any
	// proposal is the id of the proposal that stands for what was asked; 0 where it was done.
	proposal int64
	// existing says that a create made nothing, because the thing was there already.
	existing bool
}

// json writes an answer. Field order is that of the structs, so that the same answer is always the same bytes.
func (c *call) json(status int, body any) {
	c.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.WriteHeader(status)
	enc := json.NewEncoder(c)
	enc.SetEscapeHTML(false)
	// The status is out: a client that has gone away cannot be told anything more.
	_ = enc.Encode(body)
}

// show answers with one thing, and with its version for a later If-Match.
func (c *call) show(status int, o object) error {
	if o.version > 0 {
		c.Header().Set("ETag", `"`+strconv.FormatInt(o.version, 10)+`"`)
	}
	c.json(status, o.body)
	return nil
}

// ifVersion is the version that the caller wants to change (If-Match): 0 where any will do, -1, which nothing has,
// where the header is not one of our ETags.
func (c *call) ifVersion() int64 {
	header := strings.TrimSpace(c.r.Header.Get("If-Match"))
	if header == "" || header == "*" {
		return 0
	}
	text, quoted := strings.CutPrefix(header, `"`)
	text, closed := strings.CutSuffix(text, `"`)
	version, ok := parseID(text)
	if !quoted || !closed || !ok || version == 0 {
		return -1
	}
	return version
}

// create answers a POST that makes something: 201 with its address, or 202 where another person has to agree.
func (s *server) create(c *call, create func() (object, error)) error {
	made, err := create()
	if err != nil {
		return err
	}
	if made.proposal != 0 {
		return s.accepted(c, made)
	}
	return s.created(c, made)
}

// created answers with what a POST made, and where it is.
func (s *server) created(c *call, made object) error {
	c.Header().Set("Location", s.cfg.BaseURL+c.r.URL.EscapedPath()+"/"+strconv.FormatInt(made.id, 10))
	if made.existing {
		return c.show(http.StatusOK, made)
	}
	return c.show(http.StatusCreated, made)
}

// list answers with one page of a collection, each item in the shape that show gives it.
func list[T, W any](s *server, c *call, page travel.Page, l travel.List[T], show func(T) W) error {
	if err := paging(s, c, page, l); err != nil {
		return err
	}
	c.json(http.StatusOK, shapes(l.Items, show))
	return nil
}

// paging writes the headers of a page, wherever in the answer its items stand.
func paging[T any](s *server, c *call, page travel.Page, l travel.List[T]) error {
	total := l.Total
	pages := (total + int64(page.Size) - 1) / int64(page.Size)
	if l.PastEnd {
		return fault.New(fault.PageNumber, "The page number requested is larger than the number of pages available.")
	}
	if page.Count {
		c.Header().Set("X-WP-Total", strconv.FormatInt(total, 10))
		c.Header().Set("X-WP-TotalPages", strconv.FormatInt(pages, 10))
	}
	if page.Skip() > 0 && total != 0 {
		c.Header().Add("Link", s.linkTo(c.r.URL, page, -1, "prev"))
	}
	if l.More {
		c.Header().Add("Link", s.linkTo(c.r.URL, page, 1, "next"))
	}
	return nil
}

// linkTo writes the address of a page nearby: the same query, one page on or back.
func (s *server) linkTo(u *url.URL, page travel.Page, step int, rel string) string {
	values := u.Query()
	if page.Offset >= 0 {
		values.Set("offset", strconv.Itoa(max(0, page.Offset+step*page.Size)))
	} else {
		values.Set("page", strconv.Itoa(page.Number+step))
	}
	return "<" + s.cfg.BaseURL + u.EscapedPath() + "?" + values.Encode() + `>; rel="` + rel + `"`
}

// isoMicros is how the wire writes instants of tokens and sessions (section 2.1).
const isoMicros = "2006-01-02T15:04:05.000000Z"

// maybeISO writes an instant, null for none.
func maybeISO(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(isoMicros)
	return &text
}
