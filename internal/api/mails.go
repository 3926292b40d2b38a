package api

import (
	"net/http"

	"holdfast/internal/api/input"
	"holdfast/internal/api/view"
	"holdfast/internal/notify/mail"
)

func (s *server) listMails(c *call) error {
	q := c.query()
	page := q.Page(nil)
	filter := mail.Filter{
		States: input.Words(q, "state", mail.States), Kinds: input.Words(q, "kind", mail.Kinds),
		Bookings: q.Ids("bookings"), Transactions: q.Ids("transactions"),
	}
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Mails.List(c.ctx, c.actor, filter, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, view.ShowMail)
}

func (s *server) getMail(c *call) error {
	found, text, err := s.app.Mails.Get(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{body: view.ShowMailText(found, text)})
}

func (s *server) resendMail(c *call) error {
	made, err := s.app.Mails.Resend(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{body: view.ShowMail(made)})
}

func (s *server) tryMail(c *call) error {
	in, err := c.input()
	if err != nil {
		return err
	}
	to := in.Text("to")
	if to == nil && !in.Problems.Has("to") {
		in.Problems.Missing("to")
	}
	if err := in.Problems.Err(); err != nil {
		return err
	}
	made, err := s.app.Mails.Try(c.ctx, c.actor, *to)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, object{body: view.ShowMail(made)})
}
