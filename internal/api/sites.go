package api

import (
	"net/http"

	"holdfast/internal/api/view"
	"holdfast/internal/book/merchants"
	"holdfast/internal/domain/merchant"
)

func (s *server) listSites(c *call) error {
	q := c.query()
	page := q.SearchedPage(merchants.SiteOrders)
	filter := merchants.SiteFilter{Text: q.Text("search")}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Sites.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowSite)
}

func (s *server) getSite(c *call) error {
	found, err := s.app.Sites.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, siteObject(found))
}

func siteObject(s merchant.Site) object {
	return object{id: s.ID, version: s.Version, body: view.ShowSite(s)}
}

func (s *server) updateSite(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	fields := merchant.SiteFields{PermittedURLs: in.Texts("permitted_urls"), Name: in.Text("name")}
	fields.Issuer, fields.Policyholder = in.Party("issuer_"), in.Party("policyholder_")
	fields.Problems = in.Problems.Clone()
	var changed merchant.Site
	err = c.ifVersion(func(version int64) (err error) {
		fields.IfVersion = version
		changed, err = s.app.Sites.Change(c.ctx, c.actor, c.id, fields)
		return err
	})
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, siteObject(changed))
}
