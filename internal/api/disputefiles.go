package api

import (
	"context"
	"net/http"
	"strconv"

	"holdfast/internal/api/input"
	"holdfast/internal/api/reports"
	"holdfast/internal/book/disputefile"
	"holdfast/internal/book/disputes"
)

// createDisputeFile receives a processor's file piece by piece, so its body is not read at the door.
func (s *server) createDisputeFile(c *call) error {
	q := c.query()
	options, dryRun := disputefile.Options{Format: q.Text("format")}, q.Flag("dry_run", false)
	text := q.Text("map")
	contentType(c, q, "The body must be the file itself.", disputeTypes)
	if err := q.Err(); err != nil {
		return err
	}
	if text != "" {
		mapping, err := disputefile.ParseMapping([]byte(text))
		if err != nil {
			return err
		}
		options.Mapping = mapping
	}
	return s.upload(c, s.cfg.ImportBytes, func(ctx context.Context, body upload) error {
		made, err := s.app.Disputes.Receive(ctx, c.actor, body, options, dryRun)
		if err != nil {
			return err
		}
		c.Header().Set("Location", s.cfg.BaseURL+c.r.URL.EscapedPath()+"/"+strconv.FormatInt(made.ID, 10))
		return c.show(http.StatusAccepted, disputeFileObject(made))
	})
}

func disputeFileObject(u disputes.Upload) object {
	return object{id: u.ID, body: reports.ShowDisputeFile(u)}
}

func (s *server) listDisputeFiles(c *call) error {
	q := c.query()
	page := q.Page(nil)
	states := input.Words(q, "state", disputes.UploadStates)
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Disputes.Uploads(c.ctx, c.actor, states, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, reports.ShowDisputeFile)
}

func (s *server) getDisputeFile(c *call) error {
	found, err := s.app.Disputes.UploadByID(c.ctx, c.actor, c.id)
	if err != nil {
		return err
	}
	return c.show(http.StatusOK, disputeFileObject(found))
}

func (s *server) listDisputeFileLines(c *call) error {
	q := c.query()
	page := q.Page(nil)
	outcomes := input.Words(q, "outcome", disputes.Outcomes())
	if err := q.Err(); err != nil {
		return err
	}
	found, err := s.app.Disputes.UploadLines(c.ctx, c.actor, c.id, outcomes, page)
	if err != nil {
		return err
	}
	return list(s, c, page, found, reports.ShowDisputeLine)
}
