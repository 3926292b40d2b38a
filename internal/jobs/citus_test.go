//go:build citus

package jobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"holdfast/internal/book/imports"
	"holdfast/internal/book/insolvencies"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/paymentfile"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/payment"
	"holdfast/internal/jobs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/notify/schedules"
	"holdfast/internal/notify/webhooks"
	"holdfast/internal/ops/backup"
	"holdfast/internal/ops/verify"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
	"holdfast/internal/testkit/dbtest"
)

// TestJobsOverNodes: a cluster can plan the queries of the jobs, and their work at a site runs on the node of the site.
func TestJobsOverNodes(t *testing.T) {
	t.Parallel()
	w := apptest.NewProcessing(t, apptest.NewWorld(t, dbtest.Engines[1].Database(t)), merchant.ModeLive)
	plans := dbtest.NewPlans(dbtest.Jobs)
	euros := w.World.Channel(merchant.ModeLive, "EUR") // its payments wait for a rate
	url := "https://shop.example/hook"
	if _, err := w.App.Webhooks.Create(t.Context(), w.Actor, webhooks.EndpointFields{URL: &url}); err != nil {
		t.Fatal(err)
	}
	w.App.Webhooks.Show = func(context.Context, int64, []event.Event) ([]json.RawMessage, error) {
		return nil, errors.New("nothing is sent")
	}
	w.App.Schedules.Make = func(context.Context, schedules.Want) (schedules.File, error) {
		return schedules.File{}, errors.New("no pages")
	}
	w.App.Mails.Sandboxes, w.App.Mails.Transport = true, &mail.SMTP{Host: "127.0.0.1", Port: 1, PerMinute: 100, AtOnce: 1} // out of reach
	failing := w.World.Channel(merchant.ModeLive, "GBP")
	w.Must(apptest.Report(payment.Purchase, w.World.Booking(failing, 1000, "2030-09-14"), 1000))
	kind, trigger := insolvencies.Kind("administration"), w.Now()
	failed, err := w.App.Insolvencies.Report(t.Context(), w.Actor, insolvencies.NewReport{
		ChannelID: &failing.ID, Kind: &kind, TriggerAt: &trigger, Evidence: "Notice of the court",
	})
	if err == nil {
		_, err = w.App.Insolvencies.Confirm(t.Context(), w.Actor, failed.ID, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("../book/paymentfile/testdata/sample.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := w.App.ImportFiles.Receive(t.Context(), w.Actor, imports.NewFile{Mode: merchant.ModeTest}, func(keep func([]byte) error) (imports.Scan, error) {
		return paymentfile.Check(file, 1000, 1000, keep)
	}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b := w.World.Booking(euros, 1000, "2024-09-14")
		w.Must(apptest.Linked(payment.Refund, w.Must(apptest.Report(payment.Purchase, b, 1000)), b, 400))
		w.Must(apptest.Pay(payment.Authorize, w.World.Booking(w.Channel, 1000, "2024-09-14"), 1000))
		for range 3 {
			runner := jobs.New(w.App, discard())
			plans.Check(t, w.App.DB.Store, dbtest.Statements(w.App.DB.Store, func() {
				for _, job := range runner.Jobs() {
					if _, err := job.Run(t.Context()); err != nil && job.Name != "send-mails" {
						t.Errorf("%s: %v", job.Name, err)
					}
				}
			}))
			w.Advance(time.Minute)
		}
		w.Advance(40 * 24 * time.Hour)
	}
	plans.Done(t, 80)
	if made, err := w.App.Insolvencies.Get(t.Context(), w.Actor, failed.ID); err != nil || made.Snapshot.Lines != 1 {
		t.Errorf("the snapshot of the insolvency: %+v, %v", made.Snapshot, err)
	}
}

// TestOperatorsOverNodes: a cluster can plan lists and checks over all sites, and backups.
func TestOperatorsOverNodes(t *testing.T) {
	t.Parallel()
	w := apptest.NewWorld(t, dbtest.Engines[1].Database(t))
	w.OtherSandbox()
	c := w.Channel(merchant.ModeProtectionOnly, "GBP")
	b := w.Booking(c, 1000, "2024-09-14")
	w.Must(apptest.Linked(payment.Refund, w.Must(apptest.Report(payment.Purchase, b, 1000)), b, 400))
	w.Advance(40 * 24 * time.Hour)
	jobs.New(w.App, discard()).RunDue(t.Context())
	plans, ctx, page := dbtest.NewPlans(dbtest.Operators), t.Context(), store.Page{Number: 1, Size: 20, Offset: -1}
	for name, list := range map[string]func() error{
		"sites":     func() error { _, err := w.App.Sites.List(ctx, w.Actor, merchants.SiteFilter{}, page); return err },
		"proposals": func() error { _, err := w.App.Approvals.Inbox(ctx, w.Actor, page); return err },
		"requests":  func() error { _, err := w.App.Underwriting.Waiting(ctx, w.Actor, page); return err },
		"receivables": func() error {
			_, err := w.App.Statements.Receivables(ctx, w.Actor, statements.ReceivablesQuery{}, page)
			return err
		},
		"profile": func() error { return merchants.CheckProfile(ctx, w.App.DB, w.App.Config.Profile) },
		"system":  func() error { _, err := w.App.System.Report(ctx, w.Actor); return err },
		"verify": func() error {
			report, err := w.App.Verify.Run(ctx, access.System(0), verify.Query{})
			if err == nil && report.Total > 0 {
				t.Errorf("verify finds %+v", report)
			}
			return err
		},
	} {
		plans.Check(t, w.App.DB.Store, dbtest.Statements(w.App.DB.Store, func() {
			if err := list(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}))
	}
	plans.Done(t, 80)
	backups := dbtest.NewPlans(dbtest.Backups)
	backups.Check(t, w.App.DB.Store, dbtest.Statements(w.App.DB.Store, func() {
		if _, err := backup.Write(ctx, w.App.DB.Store, "test", io.Discard); err != nil {
			t.Error(err)
		}
	}))
	backups.Done(t, len(store.TablesOfSites))
}
