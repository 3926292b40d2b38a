package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"holdfast/internal/book/imports"
	"holdfast/internal/book/ledger"
	"holdfast/internal/book/limits"
	"holdfast/internal/book/merchants"
	"holdfast/internal/book/statements"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/exposure"
	"holdfast/internal/domain/fx"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/proposal"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/platform/approvals"
	"holdfast/internal/report"
	"holdfast/internal/store"
)

// A new demo has a history: its book was imported ten weeks ago, and a payments file has been imported every week since. So
// there are statements for past months, one of them overdue. The program's clock is set back while the history is created.
const (
	weeks   = 10
	week    = 7 * 24 * time.Hour
	atLast  = time.Minute // before now: the last part of the history
	finally = 15 * time.Second
)

// beginHistory sets the clock back if the database has no sites yet. Otherwise, other sites already have a history.
func (m *maker) beginHistory(ctx context.Context) error {
	page := store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: "id"}
	list, err := m.app.Sites.List(ctx, access.System(0), merchants.SiteFilter{}, page)
	if err == nil && len(list.Items) == 0 && !m.Empty {
		m.setBack(weeks * week)
	}
	return err
}

func (m *maker) setBack(by time.Duration) {
	m.back = by
	m.SetBack(by)
}

// moments returns the points in time of the history, as durations before now: every week, and the first of every month, when
// statements are issued.
func (m *maker) moments(now time.Time) (list []time.Duration) {
	for n := weeks; n > 0; n-- {
		list = append(list, time.Duration(n)*week)
	}
	first := time.Date(now.Year(), now.Month(), 1, 0, 5, 0, 0, time.UTC)
	for ; now.Sub(first) < weeks*week; first = first.AddDate(0, -1, 0) {
		if back := now.Sub(first); back > atLast {
			list = append(list, back)
		}
	}
	slices.SortFunc(list, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	return append(list, atLast)
}

// loadBook loads the book once. It saves the day of the book first: if loading is interrupted, it can only continue with the
// same rows.
func (m *maker) loadBook(ctx context.Context) error {
	if m.Empty || m.world.BookLoaded {
		return nil
	}
	shown, err := m.app.Clocks.Show(ctx, m.actor)
	if err != nil {
		return err
	}
	now := shown.Now.Add(m.back)
	if m.world.BookDay == "" {
		m.world.BookDay = civil.DayOf(now).String()
		if err := m.saveCredentials(); err != nil {
			return err
		}
	}
	day, err := civil.ParseDay(m.world.BookDay)
	if err != nil {
		return err
	}
	book := Book(day)
	if err := m.addCollateral(ctx); err != nil {
		return err
	}
	moments := []time.Duration{0} // after an interrupted start, or in a database with other sites: no history
	if m.back > 0 {
		moments = m.moments(now)
	}
	for _, back := range moments {
		if err := m.rehearse(ctx, now, back); err != nil {
			return err
		}
		if err := m.play(ctx, book, now.Add(-back), back); err != nil {
			return err
		}
	}
	steps := []func(context.Context) error{m.payStatements, m.setLimits}
	if m.back > 0 {
		steps = append(steps, m.judge) // otherwise the job does it, ten seconds later
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	m.setBack(0)
	m.world.BookLoaded = true
	return errors.Join(m.look(ctx), m.saveCredentials())
}

// play creates one point of the history: the rates and payments up to then, and the statements that are due.
func (m *maker) play(ctx context.Context, book []imports.ImportedPayment, at time.Time, back time.Duration) error {
	m.setBack(back)
	if err := m.look(ctx); err != nil {
		return err
	}
	if err := m.addRates(ctx); err != nil {
		return err
	}
	end, _ := slices.BinarySearchFunc(book, at, func(row imports.ImportedPayment, at time.Time) int {
		return row.Payment.EffectiveAt.Compare(at)
	})
	if err := m.load(ctx, book[m.loaded:end], len(book)); err != nil {
		return err
	}
	m.loaded = end
	_, err := m.app.Statements.IssueDue(ctx)
	return err
}

// addRates adds the sample rates of the days up to today, each once.
func (m *maker) addRates(ctx context.Context) error {
	later := slices.DeleteFunc(Rates(m.world.Today), func(f fx.Fixing) bool { return f.Day <= m.rated })
	m.rated = m.world.Today
	_, err := m.app.Rates.Add(ctx, m.actor, later)
	return err
}

// load imports some rows of the book.
func (m *maker) load(ctx context.Context, rows []imports.ImportedPayment, whole int) error {
	if len(rows) == 0 {
		return nil
	}
	var refused error
	report, err := m.app.Imports.Payments(ctx, m.actor, m.rowsOf(rows), imports.ImportOptions{
		CoverFromEffective: true,
		Progress: func(done int) {
			if m.Progress != nil {
				m.Progress(m.loaded+done, whole)
			}
		},
		Refused: func(r imports.Refusal) {
			refused = errors.Join(refused, fmt.Errorf("payment %d of the book: %s", r.Line, r.Reason))
		},
	})
	m.world.Book.Rows += report.Rows
	m.world.Book.Bookings.Created += report.Bookings.Created
	m.world.Book.Payments.Created += report.Payments.Created
	return errors.Join(err, refused)
}

// rowsOf returns the rows with the suppliers of their bookings: those in the same country.
func (m *maker) rowsOf(book []imports.ImportedPayment) iter.Seq2[imports.ImportedPayment, error] {
	return func(yield func(imports.ImportedPayment, error) bool) {
		for _, row := range book {
			if ids := m.supplied[*row.Booking.Country]; len(ids) > 0 {
				row.Booking.Suppliers = &ids
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// addCollateral records the merchants' collateral, from the first day of the history.
func (m *maker) addCollateral(ctx context.Context) error {
	page := store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: "id"}
	known, err := m.app.Collaterals.List(ctx, m.actor, nil, page)
	if err != nil || len(known.Items) > 0 {
		return err
	}
	for _, c := range collaterals {
		channel, err := m.app.Channels.ByName(ctx, m.actor, c.channel)
		if err != nil {
			return err
		}
		_, err = m.app.Collaterals.Add(ctx, m.actor, ledger.CollateralFields{
			Kind: &c.kind, ChannelID: &channel.ID, Currency: &c.currency, Amount: &c.amount, Reference: c.reference,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// payStatements pays the first statements: one merchant's in full, the other's in part.
func (m *maker) payStatements(ctx context.Context) error {
	page := store.Page{Number: 1, Size: 100, Offset: -1, OrderBy: "id"}
	list, _, err := m.app.Statements.List(ctx, m.actor, statements.StatementFilter{}, page)
	if err != nil {
		return err
	}
	paid := map[int64]bool{}
	for _, s := range list.Items {
		if paid[s.ChannelID] || s.Due >= m.world.Today || s.Open <= 0 {
			continue
		}
		paid[s.ChannelID] = true
		amount := s.Open
		if s.ChannelName == EURChannel {
			amount = amount * 4 / 10
		}
		reference := fmt.Sprintf("BACS %s-%d", s.Due, s.Number)
		fields := statements.StatementPaymentFields{PaidOn: &s.Due, Amount: &amount, Reference: &reference}
		if _, _, err := m.app.Statements.Pay(ctx, m.actor, s.ID, fields); err != nil {
			return err
		}
	}
	return nil
}

// setLimits sets limits around current use, so that on any day one is nearly reached and one is exceeded.
func (m *maker) setLimits(ctx context.Context) error {
	page := store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: "id"}
	known, err := m.app.Limits.List(ctx, m.actor, limits.LimitFilter{}, page)
	if err != nil || len(known.Items) > 0 {
		return err
	}
	report, err := m.app.Exposure.Report(ctx, m.actor, report.ExposureQuery{
		Valuation: exposure.Locked, By: exposure.ByChannel,
	})
	if err != nil {
		return err
	}
	set := func(scope protection.LimitScope, channel *int64, amount int64) error {
		amount = amount / 100_000 * 100_000 // in whole thousands
		_, err := m.app.Limits.Set(ctx, m.actor, limits.LimitFields{Scope: &scope, ChannelID: channel, Amount: &amount})
		return err
	}
	var whole int64
	for _, channel := range slices.Sorted(maps.Keys(report.Channels)) {
		if report.ChannelNames[channel] == FailedChannel {
			continue
		}
		use, percent := report.Channels[channel].E1, nearLimit
		whole += use
		if report.ChannelNames[channel] == GBPChannel {
			percent = overLimit
		}
		if err := set(protection.LimitChannel, &channel, use*100/percent); err != nil {
			return err
		}
	}
	return errors.Join(set(protection.LimitSite, nil, whole*100/siteLimit), set(protection.LimitTransaction, nil, transactionLimit))
}

// judge checks the limits. The job that does so looks twice, some seconds apart.
func (m *maker) judge(ctx context.Context) error {
	for _, back := range []time.Duration{atLast, atLast - finally, atLast - 2*finally, atLast - 3*finally} {
		m.setBack(back)
		for more := true; more; {
			var err error
			if more, err = m.app.Limits.Recompute(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeLiveSite creates the site that is not a sandbox, and proposes a change there that needs two operators.
func (m *maker) makeLiveSite(ctx context.Context) error {
	site, err := m.app.Sites.At(ctx, access.System(0), LiveSitePath)
	if errs.Is(err, errs.SettingNotFound) {
		path, name, currency := LiveSitePath, LiveSiteName, money.Currency("GBP")
		site, err = m.app.Sites.Create(ctx, access.System(0), merchant.SiteFields{
			Path: &path, Name: &name, Currency: &currency, Issuer: fieldsOf(issuer),
		})
	}
	if err != nil {
		return err
	}
	m.world.Live = site
	proposer := access.Actor{
		SiteID: site.ID, UserID: m.operator.ID, Username: m.operator.Username, DisplayName: m.operator.DisplayName, Role: access.Operator,
	}
	if err := m.propose(ctx, proposer); err != nil {
		return err
	}
	page := store.Page{Number: 1, Size: 1, Offset: -1, OrderBy: "id"}
	open := approvals.Filter{States: []proposal.State{proposal.Open}}
	waiting, err := m.app.Approvals.List(ctx, proposer, open, page)
	if err == nil && len(waiting.Items) > 0 {
		m.world.Proposal = waiting.Items[0].ID
	}
	return err
}

// propose creates a merchant and proposes to open its cover, once.
func (m *maker) propose(ctx context.Context, proposer access.Actor) error {
	_, err := m.app.Channels.ByName(ctx, proposer, LiveChannel)
	if !errs.Is(err, errs.SettingNotFound) {
		return err
	}
	name, draft, currency := LiveChannel, merchant.ModeDraft, money.Currency("GBP")
	made, err := m.app.Channels.Create(ctx, proposer, merchant.ChannelFields{Name: &name, Mode: &draft, Currency: &currency})
	if err != nil {
		return err
	}
	fields := merchant.ChannelFields{Reason: "The contract is signed."}
	m.protect(&fields)
	_, err = m.app.Channels.Change(ctx, proposer, made.ID, fields)
	return err
}
