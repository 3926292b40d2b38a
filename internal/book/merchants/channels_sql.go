package merchants

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/event"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/protection"
	"holdfast/internal/errs"
	"holdfast/internal/platform/events"
	"holdfast/internal/platform/sites"
	"holdfast/internal/store"
	"holdfast/internal/store/sqltext"
)

// slugAttempts is how often InsertChannel looks for a free slug at most. An attempt fails when another write has stored a
// channel with that slug in the meantime.
const slugAttempts = 1000

// InsertChannel stores a new channel and returns it with its id, its version and a slug that no other channel of the site
// has: the given slug, or the given slug with -2, -3 and so on. The suppliers must exist (see UnknownSuppliers).
func InsertChannel(tx *store.Tx, c merchant.Channel) (merchant.Channel, error) {
	base := c.Slug
	c.Version, c.CreatedAt, c.ModifiedAt = 1, tx.Now, tx.Now
	c.OtherProtection = cmp.Or(c.OtherProtection, merchant.OtherProtections[0])
	c.AuthorisationDays = cmp.Or(c.AuthorisationDays, merchant.DefaultAuthorisationDays)
	if err := sites.Changed(tx, c.SiteID); err != nil { // reports that are kept have not its name
		return merchant.Channel{}, err
	}
	for range slugAttempts {
		var err error
		if c.Slug, err = freeSlug(tx, c.SiteID, base); err != nil {
			return merchant.Channel{}, err
		}
		// Another write may take the same slug between the look and the insert. PostgreSQL then waits for that write
		// here, and the next look sees it.
		if c.ID, err = tx.NextID("channels", c.SiteID); err != nil {
			return merchant.Channel{}, err
		}
		names, values, marks := writtenColumns(&c, writtenOnce, written)
		marks += fmt.Sprintf(", $%d", len(values)+1)
		inserted, err := tx.Exec(`INSERT INTO channels (`+names+`, id) VALUES (`+marks+`) ON CONFLICT (site_id, slug) DO NOTHING`,
			append(values, c.ID)...)
		if err != nil {
			return merchant.Channel{}, err
		}
		if inserted == 0 {
			continue
		}
		if err := recordChannelName(tx, c); err != nil {
			return merchant.Channel{}, err
		}
		if err := recordProtection(tx, c); err != nil {
			return merchant.Channel{}, err
		}
		c.Suppliers, err = replaceChannelSuppliers(tx, c)
		return c, err
	}
	return merchant.Channel{}, fmt.Errorf("no free slug for %q after %d attempts", base, slugAttempts)
}

// freeSlug returns base, or base with the lowest suffix that no channel of the site has.
func freeSlug(tx *store.Tx, siteID int64, base string) (string, error) {
	taken := map[string]bool{}
	err := tx.Query(`SELECT slug FROM channels WHERE site_id = $1 AND (slug = $2 OR slug LIKE $3 ESCAPE '\')`,
		[]any{siteID, base, sqltext.EscapeLike(base) + "-%"},
		func(scan func(dest ...any) error) error {
			var slug string
			err := scan(&slug)
			taken[slug] = true
			return err
		})
	if err != nil {
		return "", err
	}
	slug := base
	for n := 2; taken[slug]; n++ {
		slug = fmt.Sprintf("%s-%d", base, n)
	}
	return slug, nil
}

// recordChannelName stores that the channel has its present name from now on.
func recordChannelName(tx *store.Tx, c merchant.Channel) error {
	id, err := tx.NextID("channel_names", c.SiteID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO channel_names (site_id, id, channel_id, recorded_at, name) VALUES ($1, $2, $3, $4, $5)`,
		c.SiteID, id, c.ID, store.Micros(tx.Now), c.Name)
	return err
}

// recordProtection stores from now on whether card payments of the channel are protected.
func recordProtection(tx *store.Tx, c merchant.Channel) error {
	protected, _ := protection.ChannelProtected(c)
	id, err := tx.NextID("channel_protection", c.SiteID)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO channel_protection (site_id, id, channel_id, recorded_at, protected) VALUES ($1, $2, $3, $4, $5)`,
		c.SiteID, id, c.ID, store.Micros(tx.Now), protected)
	return err
}

// UnprotectedChannels reads which channels of a site were not protected at the end of a day, as known at an instant. A
// channel's first mode also counts for earlier days.
func UnprotectedChannels(tx *store.Tx, siteID int64, day civil.Day, known time.Time) (map[int64]bool, error) {
	at, seen := min(store.Micros(day.End()), store.Micros(known)), map[int64]bool{}
	unprotected := map[int64]bool{}
	err := tx.Query(`SELECT channel_id, recorded_at, protected FROM channel_protection
		WHERE site_id = $1 AND recorded_at <= $2 ORDER BY id`, []any{siteID, store.Micros(known)},
		func(scan func(dest ...any) error) error {
			var channel, recorded int64
			var protected bool
			err := scan(&channel, &recorded, &protected)
			if recorded <= at || !seen[channel] {
				unprotected[channel] = !protected
			}
			seen[channel] = true
			return err
		})
	maps.DeleteFunc(unprotected, func(_ int64, is bool) bool { return !is })
	return unprotected, err
}

// Channel reads one channel of the site.
func Channel(tx *store.Tx, siteID, id int64) (merchant.Channel, error) {
	return oneChannel(tx, `SELECT `+channelColumns+` FROM channels WHERE site_id = $1 AND id = $2`, siteID, id)
}

// ChannelAlone reads one channel of the site without its suppliers.
func ChannelAlone(tx *store.Tx, siteID, id int64) (merchant.Channel, error) {
	type channel struct{ siteID, id int64 }
	return sites.Known(tx, siteID, channel{siteID, id}, func() (merchant.Channel, error) {
		return scanChannel(func(dest ...any) error {
			return tx.QueryRow(`SELECT `+channelColumns+` FROM channels WHERE site_id = $1 AND id = $2`, []any{siteID, id}, dest...)
		})
	})
}

// ChannelByName reads the channel of the site with exactly this name. If several have it, the error names the field channel
// and their ids.
func ChannelByName(tx *store.Tx, siteID int64, name string) (merchant.Channel, error) {
	const most = 10
	ids, err := store.Ids(tx, `SELECT id FROM channels WHERE site_id = $1 AND name_folded = $2 AND name = $3 ORDER BY id LIMIT $4`,
		siteID, sqltext.Folded(name), name, most)
	switch {
	case err != nil:
		return merchant.Channel{}, err
	case len(ids) == 0:
		return merchant.Channel{}, store.ErrNotFound
	case len(ids) > 1:
		texts := make([]string, len(ids))
		for i, id := range ids {
			texts[i] = strconv.FormatInt(id, 10)
		}
		return merchant.Channel{}, errs.WrongField("channel", "Several channels have this name: %s. Use an id instead.",
			strings.Join(texts, ", "))
	}
	return oneChannel(tx, `SELECT `+channelColumns+` FROM channels WHERE site_id = $1 AND id = $2`, siteID, ids[0])
}

// LockChannel locks the channel for this write by counting up its version, and reads it. No other write can change it before
// this transaction ends. The version that callers know is one less than the version that it returns.
func LockChannel(tx *store.Tx, siteID, id int64) (merchant.Channel, error) {
	return oneChannel(tx, `UPDATE channels SET version = version + 1 WHERE site_id = $1 AND id = $2
		RETURNING `+channelColumns, siteID, id)
}

// LeaveChannel takes back the new version of LockChannel in a write that changes nothing after all: then the version that
// callers know is still the right one.
func LeaveChannel(tx *store.Tx, c merchant.Channel) (merchant.Channel, error) {
	c.Version--
	_, err := tx.Exec(`UPDATE channels SET version = $3 WHERE site_id = $1 AND id = $2`, c.SiteID, c.ID, c.Version)
	return c, err
}

func oneChannel(tx *store.Tx, query string, args ...any) (merchant.Channel, error) {
	c, err := scanChannel(func(dest ...any) error { return tx.QueryRow(query, args, dest...) })
	if err != nil {
		return merchant.Channel{}, err
	}
	page := []merchant.Channel{c}
	err = readChannelSuppliers(tx, c.SiteID, page)
	return page[0], err
}

// ChannelsPage reads one page of the site's channels.
func ChannelsPage(tx *store.Tx, siteID int64, f ChannelFilter, page store.Page) (store.List[merchant.Channel], error) {
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "account_mode", f.Modes)
	if f.AccountType != "" {
		w.And("account_type = ?", f.AccountType)
	}
	if f.Currency != "" {
		// Codes are stored in capital letters. A caller may use small letters.
		w.And(`currencies LIKE ? ESCAPE '\'`, "%"+sqltext.EscapeLike(strings.ToUpper(f.Currency))+"%")
	}
	if f.ExternalID != "" {
		w.And("external_id = ?", f.ExternalID)
	}
	if f.Name != "" {
		w.And(`name_folded LIKE ? ESCAPE '\'`, sqltext.Wildcard(f.Name))
	}
	andSearch(&w, f.Search, "name_folded", "lower(external_id)")
	if f.StatementPeriod != "" {
		w.And("statement_period = ?", f.StatementPeriod)
	}
	if f.Insolvent {
		w.And("insolvency_id > ?", 0)
		w.And("reinstated_at IS NULL")
	}
	list, err := store.ListPage(tx, "channels", channelColumns, &w, page, store.Orders{
		"modified": "modified_at", "name": `name_folded COLLATE "C"`, "slug": `slug COLLATE "C"`, "external_id": `external_id COLLATE "C"`,
		"account_mode": `account_mode COLLATE "C"`, "currencies": `currencies COLLATE "C"`,
	}, scanChannel)
	if err != nil {
		return store.List[merchant.Channel]{}, err
	}
	return list, readChannelSuppliers(tx, siteID, list.Items)
}

// readChannelSuppliers fills in the suppliers of the channels, all by one statement.
func readChannelSuppliers(tx *store.Tx, siteID int64, channels []merchant.Channel) error {
	if len(channels) == 0 {
		return nil
	}
	at := map[int64]int{}
	ids := make([]int64, len(channels))
	for i, c := range channels {
		at[c.ID], ids[i] = i, c.ID
	}
	var w sqltext.Where
	w.And("site_id = ?", siteID)
	sqltext.In(&w, "channel_id", ids)
	return tx.Query(`SELECT channel_id, supplier_id FROM channel_suppliers WHERE `+w.Text.String()+`
		ORDER BY channel_id, supplier_id`, w.Args,
		func(scan func(dest ...any) error) error {
			var channelID, supplierID int64
			if err := scan(&channelID, &supplierID); err != nil {
				return err
			}
			c := &channels[at[channelID]]
			c.Suppliers = append(c.Suppliers, supplierID)
			return nil
		})
}

// replaceChannelSuppliers stores the channel's suppliers in place of the old ones. It returns them sorted and without
// duplicates, as they will be read.
func replaceChannelSuppliers(tx *store.Tx, c merchant.Channel) ([]int64, error) {
	_, err := tx.Exec(`DELETE FROM channel_suppliers WHERE site_id = $1 AND channel_id = $2`, c.SiteID, c.ID)
	if err != nil {
		return nil, err
	}
	ids := slices.Compact(slices.Sorted(slices.Values(c.Suppliers)))
	for _, id := range ids {
		_, err := tx.Exec(`INSERT INTO channel_suppliers (site_id, channel_id, supplier_id) VALUES ($1, $2, $3)`,
			c.SiteID, c.ID, id)
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// UpdateChannel stores the fields of a locked channel that can change. The error is store.ErrConflict when the currency
// changes and bookings refer to it by their foreign key.
func UpdateChannel(tx *store.Tx, c merchant.Channel) (merchant.Channel, error) {
	before, err := scanChannel(func(dest ...any) error {
		return tx.QueryRow(`SELECT `+channelColumns+` FROM channels WHERE site_id = $1 AND id = $2`, []any{c.SiteID, c.ID}, dest...)
	})
	if err != nil {
		return merchant.Channel{}, err
	}
	c.ModifiedAt = tx.Now
	if err := sites.Changed(tx, c.SiteID); err != nil {
		return merchant.Channel{}, err
	}
	names, values, marks := writtenColumns(&c, written)
	_, err = tx.Exec(fmt.Sprintf(`UPDATE channels SET (%s) = (%s) WHERE site_id = $%d AND id = $%d`, names, marks, len(values)+1, len(values)+2),
		append(values, c.SiteID, c.ID)...)
	if err != nil {
		return merchant.Channel{}, err
	}
	if c.Name != before.Name {
		if err := recordChannelName(tx, c); err != nil {
			return merchant.Channel{}, err
		}
	}
	recordChannel(tx, before, c)
	was, _ := protection.ChannelProtected(before)
	if is, _ := protection.ChannelProtected(c); is != was {
		if err := recordProtection(tx, c); err != nil {
			return merchant.Channel{}, err
		}
	}
	c.Suppliers, err = replaceChannelSuppliers(tx, c)
	return c, err
}

// recordChannel records the events and audit entries of a change of a channel.
func recordChannel(tx *store.Tx, before, after merchant.Channel) {
	if before.Mode != after.Mode {
		events.Record(tx, after.SiteID, event.ChannelModeChanged, after.ID,
			event.Details{Mode: string(after.Mode), Before: string(before.Mode)})
	}
	if before.Locked != after.Locked {
		kind := event.ChannelUnlocked
		if after.Locked {
			kind = event.ChannelLocked
		}
		events.Record(tx, after.SiteID, kind, after.ID, event.Details{Mode: string(after.Mode)})
	}
}

// SetInsolvency stores the insolvency of a channel, which decides from now on whether its payments are protected (R2). The zero
// value removes it.
func SetInsolvency(tx *store.Tx, siteID, channelID int64, i merchant.Insolvency) error {
	c, err := LockChannel(tx, siteID, channelID)
	if err != nil {
		return err
	}
	c.Insolvency = i
	_, err = UpdateChannel(tx, c)
	return err
}

// InsolventSince reads the insolvencies in force of a site's channels, by channel.
func InsolventSince(tx *store.Tx, siteID int64) (map[int64]merchant.Insolvency, error) {
	found := map[int64]merchant.Insolvency{}
	err := tx.Query(`SELECT id, insolvency_id, insolvent_from, insolvent_since, insolvent_processing FROM channels
		WHERE site_id = $1 AND insolvency_id > 0 AND reinstated_at IS NULL`, []any{siteID}, func(scan func(dest ...any) error) error {
		var id int64
		var i merchant.Insolvency
		err := scan(&id, &i.ID, maybeInstant{&i.TriggerAt}, maybeInstant{&i.ConfirmedAt}, &i.ProcessingAllowed)
		found[id] = i
		return err
	})
	return found, err
}

// DeleteChannel removes a channel. The error is store.ErrConflict when something refers to it by a foreign key, such as a
// booking, even a deleted one.
func DeleteChannel(tx *store.Tx, siteID, id int64) error {
	if err := sites.Changed(tx, siteID); err != nil {
		return err
	}
	n, err := tx.Exec(`DELETE FROM channels WHERE site_id = $1 AND id = $2`, siteID, id)
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// setChannelSecret stores a new sealed secret of a channel that this write has made or locked.
func setChannelSecret(tx *store.Tx, siteID, channelID int64, sealed string) error {
	_, err := tx.Exec(`UPDATE channels SET secret = $3, modified_at = $4 WHERE site_id = $1 AND id = $2`,
		siteID, channelID, sealed, store.Micros(tx.Now))
	return err
}

// modesOfChannels counts the channels of all sites by mode.
func modesOfChannels(tx *store.Tx) (map[merchant.AccountMode]int64, error) {
	counts := map[merchant.AccountMode]int64{}
	err := tx.Query(`SELECT account_mode, COUNT(*) FROM channels GROUP BY account_mode`, nil,
		func(scan func(dest ...any) error) error {
			var mode merchant.AccountMode
			var n int64
			err := scan(&mode, &n)
			counts[mode] = n
			return err
		})
	return counts, err
}
