package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/errs"
	"holdfast/internal/store"
)

// object is the answer about one thing.
type object struct {
	id       int64
	version  int64 // 0 for objects without versions
	body     any   // the shape to be encoded as JSON
	proposal int64 // id of the proposal that the request became; 0 when the request was done
	existing bool  // a create made nothing, because the thing existed already
	secret   bool  // the body is a secret that is shown once: no address answers with it, and the ETag has no digest of it
}

const jsonType = "application/json; charset=utf-8"

// json writes an answer. Its fields have the order of the structs, so the same answer is always the same bytes.
func (c *call) json(status int, body any) {
	if status < http.StatusMultipleChoices && c.wantedFields() != nil {
		var whole bytes.Buffer
		if view.Encode(&whole, body) == nil {
			c.text(status, whole.Bytes())
			return
		}
	}
	c.Header().Set("Content-Type", jsonType)
	c.WriteHeader(status)
	// The status has been sent: if the client has disconnected, nothing more can be done.
	_ = view.Encode(c, body)
}

// text writes an answer that is JSON already.
func (c *call) text(status int, body []byte) {
	if want := c.wantedFields(); want != nil {
		if narrow, err := want.narrow(body); err == nil { // it is JSON, so there is none
			body = narrow
		}
	}
	c.Header().Set("Content-Type", jsonType)
	c.WriteHeader(status)
	_, _ = c.Write(body) // if the client has disconnected, nothing more can be done
}

// show answers with one thing. Its ETag is for a later If-Match and If-None-Match. A GET that names this ETag already is
// answered with 304, and no body.
func (c *call) show(status int, o object) error {
	body := shownBodies.Get().(*bytes.Buffer)
	defer shownBodies.Put(body)
	body.Reset()
	if shape, ok := o.body.(view.Booking); ok { // it writes the same in less time
		body.Write(append(shape.Write(body.AvailableBuffer()), '\n'))
	} else if err := view.Encode(body, o.body); err != nil {
		return err
	}
	if tag := o.tag(body.Bytes()); tag != "" {
		c.Header().Set("ETag", tag)
		reads := c.r.Method == http.MethodGet || c.r.Method == http.MethodHead
		if reads && holdsTag(strings.Join(c.r.Header.Values("If-None-Match"), ","), tag) {
			c.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	c.text(status, body.Bytes())
	return nil
}

// tag is the ETag of a response: the version of the object, and a digest of what this caller sees of it. Responses also
// change without a new version: with the day, the caller's permissions, and objects that refer to it. It is "" if no
// URL returns this body.
func (o object) tag(body []byte) string {
	sum := sha256.Sum256(body)
	digest := hex.EncodeToString(sum[:tagBytes])
	switch {
	case o.id == 0 && o.version == 0 || o.secret && o.version == 0:
		return ""
	case o.secret:
		return fmt.Sprintf(`"%d"`, o.version)
	case o.version == 0:
		return `"` + digest + `"`
	}
	return `"` + strconv.FormatInt(o.version, 10) + "-" + digest + `"`
}

// ifVersion calls change with the version that the caller wants to change (If-Match), or with 0 when any version will do.
// If the caller names several ETags, it calls it with each until one is the present version.
func (c *call) ifVersion(change func(version int64) error) error {
	const most = 16 // ETags in the header
	header := strings.TrimSpace(strings.Join(c.r.Header.Values("If-Match"), ","))
	if header == "" || header == "*" {
		return change(0)
	}
	tags := strings.Split(header, ",")
	if len(tags) > most {
		return errs.WrongField("If-Match", "At most %d ETags are allowed.", most)
	}
	var err error
	for _, tag := range tags {
		if err = change(versionIn(strings.TrimSpace(tag))); !errs.Is(err, errs.Precondition) {
			return err
		}
	}
	return err
}

// versionIn is the version in an ETag. It is -1, which no object has, when it is not an ETag of ours.
func versionIn(tag string) int64 {
	parts := ownTag.FindStringSubmatch(tag)
	if parts == nil {
		return -1
	}
	version, ok := input.ParseID(parts[1])
	if !ok {
		return -1
	}
	return version
}

// create responds to a POST that creates an object: with 201 and its URL, or with 202 and a proposal if another person
// has to approve it first.
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

// created answers with the thing that a POST made, and its address.
func (s *server) created(c *call, made object) error {
	c.Header().Set("Location", s.cfg.BaseURL+c.r.URL.EscapedPath()+"/"+strconv.FormatInt(made.id, 10))
	if made.existing {
		return c.show(http.StatusOK, made)
	}
	return c.show(http.StatusCreated, made)
}

// list answers with one page of a collection. show gives the shape of an item.
func list[T, W any](s *server, c *call, page store.Page, l store.List[T], show func(T) W) error {
	if err := paging(s, c, page, l); err != nil {
		return err
	}
	c.json(http.StatusOK, view.Each(l.Items, show))
	return nil
}

// listText answers with the n items of a page as JSON, which write appends without reflection: for the longest lists.
func listText(c *call, n int, write func(i int, to []byte) []byte) {
	kept := longTexts.Get().(*[]byte)
	defer longTexts.Put(kept)
	text := append((*kept)[:0], '[')
	for i := range n {
		if i > 0 {
			text = append(text, ',')
		}
		text = write(i, text)
	}
	*kept = append(text, "]\n"...)
	c.text(http.StatusOK, *kept)
}

// paging writes the headers of a page. The error is PageNumber if the page does not exist.
func paging[T any](s *server, c *call, page store.Page, l store.List[T]) error {
	total := l.Total
	pages := (total + int64(page.Size) - 1) / int64(page.Size)
	if l.PastEnd {
		return errs.New(errs.PageNumber, "The page number is larger than the number of pages available.")
	}
	if page.Count {
		c.Header().Set("X-WP-Total", strconv.FormatInt(total, 10))
		c.Header().Set("X-WP-TotalPages", strconv.FormatInt(pages, 10))
	}
	if page.Skip() > 0 && total != 0 {
		c.Header().Add("Link", s.linkTo(c.r.URL, page, -1, "prev"))
	}
	switch {
	case l.Last != nil:
		c.Header().Add("Link", s.linkAfter(c.r.URL, *l.Last))
	case l.More:
		c.Header().Add("Link", s.linkTo(c.r.URL, page, 1, "next"))
	}
	return nil
}

// linkTo writes the Link header for the next or the previous page of the same query.
func (s *server) linkTo(u *url.URL, page store.Page, step int, rel string) string {
	values := u.Query()
	if page.Offset >= 0 {
		values.Set("offset", strconv.Itoa(max(0, page.Offset+step*page.Size)))
	} else {
		values.Set("page", strconv.Itoa(page.Number+step))
	}
	return "<" + s.cfg.BaseURL + u.EscapedPath() + "?" + values.Encode() + `>; rel="` + rel + `"`
}

// linkAfter writes the Link header for the page of the same query that follows a row. Paging by it misses nothing while
// others write.
func (s *server) linkAfter(u *url.URL, last store.Anchor) string {
	values := u.Query()
	values.Del("page")
	values.Del("offset")
	values.Set("cursor", input.Cursor(last))
	return "<" + s.cfg.BaseURL + u.EscapedPath() + "?" + values.Encode() + `>; rel="next"`
}

// linksAt returns the links of objects in a collection of the site with a path, by their ids.
func (s *server) linksAt(site, collection string) func(id int64) view.Links {
	all := fmt.Sprintf("%s/%s/%s/%s/v2/%s", s.cfg.BaseURL, site, s.cfg.RESTRoot, s.cfg.Namespace, collection)
	return func(id int64) view.Links {
		return view.Links{Self: [1]view.Link{{HREF: all + "/" + strconv.FormatInt(id, 10)}}, Collection: [1]view.Link{{HREF: all}}}
	}
}

// shownBodies are the memory of answers that have been sent, for the next ones.
var shownBodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// tagBytes is the length of the digest in an ETag.
const tagBytes = 8

// holdsTag reports whether a list of ETags, as in If-None-Match, names one of ours. A proxy that packs answers makes our
// ETags weak, which counts as the same here. A star matches every ETag. Anything that is not a list of ETags matches none.
func holdsTag(list, tag string) bool {
	if strings.TrimSpace(list) == "*" {
		return true
	}
	for rest := list; ; {
		rest = strings.TrimPrefix(strings.TrimLeft(rest, ", \t"), "W/")
		text, opened := strings.CutPrefix(rest, `"`)
		name, after, closed := strings.Cut(text, `"`)
		if !opened || !closed {
			return false
		}
		if `"`+name+`"` == tag {
			return true
		}
		rest = after
	}
}

// ownTag is an ETag with a version, as tag makes it. The digest may be left out.
var ownTag = regexp.MustCompile(`^"([1-9][0-9]*)(-[0-9a-f]{16})?"$`)

// longTexts are the memory of long answers that have been sent, for the next ones.
var longTexts = sync.Pool{New: func() any { return new([]byte) }}
