package channels

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/check"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/domain/money"
	"holdfast/internal/domain/terms"
	"holdfast/internal/web/choices"
	"holdfast/internal/web/kit"
)

// settingsView is the form of a new or existing merchant.
type settingsView struct {
	Form                                                                   *kit.Form
	Channel                                                                merchant.Channel
	Modes, Languages, Others, Types, Protections, Statements, States, Ends any
	New, May, Operator, Processes, Tokenizer                               bool
	Send, Back, Delete, Secret                                             string
	Facts                                                                  []kit.Fact
}

func (p *pages) settingsView(v *kit.Visit, form *kit.Form, c merchant.Channel) settingsView {
	profile := p.app.Channels.Profile
	view := settingsView{
		Form: form, Channel: c, Modes: choices.Words(profile.Modes(), ""), Languages: choices.Languages(), Others: choices.Words(merchant.OtherProtections, ""),
		Types: choices.Words(profile.AccountTypes(), ""), Protections: choices.Words(merchant.ProtectionTypes, ""),
		Statements: choices.Words(terms.StatementPeriods, ""), States: choices.Words(profile.ChannelStatuses(), "Same as mode"),
		Ends: currencies(merchant.SettlementCurrencies), New: c.ID == 0, May: v.Can(access.WriteChannels), Operator: v.Can(access.SetChannelTerms),
		Processes: profile.Processes(), Tokenizer: c.ServerToServer, Send: v.At("/channels"), Back: v.At("/channels"),
	}
	if view.New && !view.Operator {
		view.Modes = kit.Options("test", "Test: nothing is real", "draft", "Draft: a real merchant, not protected yet")
	}
	if c.ID != 0 {
		view.Send, view.Back = at(v, c.ID, "/settings"), at(v, c.ID, "")
		if v.Can(access.WriteChannels) {
			view.Delete = at(v, c.ID, "/delete")
		}
		if v.Can(access.SeeChannelSecret) {
			view.Secret = at(v, c.ID, "/secret")
		}
		view.Facts = []kit.Fact{
			{Text: "ID", Value: kit.Ident(c.ID).Text}, {Text: "UUID", Value: c.UUID}, {Text: "Slug", Value: c.Slug},
			{Text: "Mode", Value: kit.Say(c.Mode), Tone: modeTones[c.Mode]}, {Text: "Status in the API", Value: c.Status()},
			{Text: "Created", Value: kit.Instant(c.CreatedAt)},
		}
		if c.Insolvency.InForce() {
			view.Facts = append(view.Facts, kit.Fact{Text: "Insolvent since", Value: kit.Instant(c.Insolvency.TriggerAt), Tone: "bad"})
		}
		if c.Locked {
			view.Facts = append(view.Facts, kit.Fact{Text: "Locked", Value: cmp.Or(c.LockReason, "No reason given"), Tone: "bad"})
		}
	}
	return view
}

func currencies(list []string) any {
	pairs := []string{"", "Same as merchant"}
	for _, c := range list {
		pairs = append(pairs, c, c)
	}
	return kit.Options(pairs...)
}

func (p *pages) newChannel(v *kit.Visit) error {
	form := kit.Filled("account_mode", "test", "language", check.DefaultLanguage, "other_protection", string(merchant.OtherProtections[0]),
		"authorisation_days", strconv.Itoa(merchant.DefaultAuthorisationDays),
		"account_type", p.app.Channels.Profile.AccountTypes()[0], "protection_type", merchant.ProtectionTypes[0], "statement_period", terms.StatementPeriods[0])
	return p.showSettings(v, form, merchant.Channel{})
}

func (p *pages) showSettings(v *kit.Visit, form *kit.Form, c merchant.Channel) error {
	page := kit.Page{Title: "New merchant", Menu: menu, Path: above(v, 0, ""), Data: p.settingsView(v, form, c)}
	if c.ID != 0 {
		page.Title, page.Parts = c.Name, v.Parts("channel", "/channels/{id}/settings", c.ID)
		if p.app.Channels.Profile.Processes() && v.Can(access.SetChannelTerms) {
			page.Acts = []kit.Link{{Text: "Processor", Href: at(v, c.ID, "/gateway"), Plain: true}}
		}
	}
	return v.Show(p.Pages, "settings.html", page)
}

// makeChannel creates a merchant. Outside a sandbox, a protected one needs a second operator's approval.
func (p *pages) makeChannel(v *kit.Visit) error {
	form, err := v.Form()
	if err != nil {
		return err
	}
	in := p.fields(v, form)
	in.Mode = kit.Word[merchant.AccountMode](form.Reading(), "account_mode")
	made, err := p.app.Channels.Create(v.R.Context(), v.Actor, in)
	if ok, err := v.Took(form, err); err != nil {
		return err
	} else if !ok {
		return p.showSettings(v, form, merchant.Channel{})
	}
	if made.Proposal != nil {
		return v.Waits(v.At("/channels"), made.Proposal.ID, "Waiting for a second operator. The merchant is created once approved.")
	}
	if made.Mode == merchant.ModeDraft {
		return v.Done(at(v, made.ID, "/protection"), "Merchant created. Now request protection.")
	}
	return v.Done(at(v, made.ID, "/integration"), "Merchant created.")
}

// fields reads the merchant fields that the user may set.
func (p *pages) fields(v *kit.Visit, form *kit.Form) merchant.ChannelFields {
	r := form.Reading()
	in := merchant.ChannelFields{
		Name: r.Text("name"), Currency: r.Currency("currencies"), Language: r.Text("language"), PrimaryMail: r.Text("primary_mail"),
		MailBCC: r.Yes("mail_bcc_transactional_mails"), ReceiptLabel: r.Text("receipt_label"), ExternalID: r.Text("external_id"),
		OtherProtection: kit.Word[merchant.OtherProtection](r, "other_protection"), AuthorisationDays: r.Number("authorisation_days"),
	}
	if form.Get("receipt_label") == "" {
		in.ReceiptLabel = nil // new merchants default to the site's name
	}
	operator := v.Can(access.SetChannelTerms)
	if operator {
		in.Mode = kit.Word[merchant.AccountMode](r, "account_mode")
		in.AccountType, in.ProtectionType, in.Status = r.Text("account_type"), r.Text("protection_type"), r.Text("channel_status")
		in.StatementPeriod, in.Locked, in.Reason = r.Text("statement_period"), r.Yes("locked"), form.Get("reason")
		in.LockReason, in.Suppliers = r.Text("lock_reason"), suppliersOf(r)
		in.BeneficiaryID, in.SettlementCurrency, in.PayoutMinimum = r.Text("beneficiary_id"), r.Text("settlement_currency"), payoutMinimum(r)
	}
	if p.app.Channels.Profile.Processes() {
		in.MailFailures, in.ChargebackMail = r.Yes("mail_failures"), r.Text("chargeback_mail")
		in.TokenizerID, in.TokenizerKey = r.Text("tokenizer_id"), r.Text("tokenizer_api_key")
		if operator {
			in.CardholderPresent, in.ServerToServer = r.Yes("cardholder_present"), r.Yes("server_to_server")
			in.Descriptor = r.Text("descriptor")
		}
	}
	if version := r.Number("version"); version != nil {
		in.IfVersion = *version
	}
	in.Problems = r.Problems
	return in
}

// payoutMinimum reads the minimum payout in the payout currency set by the same form. The form was shown in
// "payout_currency", which a new merchant does not have yet. If the currency changes, the amount has to be entered again:
// 100.00 euros are not 10000 yen. 0 is 0 in every currency.
func payoutMinimum(r *kit.Reading) *int64 {
	var c merchant.Channel
	if given := r.Currency("currencies"); given != nil {
		c.Currency = *given
	}
	c.SettlementCurrency = r.Get("settlement_currency")
	shown, becomes := money.Currency(r.Get("payout_currency")), money.Currency(c.Settlement())
	if _, err := money.ParseCurrency(string(becomes)); err != nil {
		return nil // the use case reports the error
	}
	if shown != "" && r.Get("payout_minimum") == "" {
		r.Problems.Missing("payout_minimum") // an empty field would keep the number in a different currency
		return nil
	}
	if shown == "" || shown == becomes {
		return r.Amount("payout_minimum", becomes)
	}
	if c, err := money.ParseCurrency(string(shown)); err == nil {
		if old, err := money.ParsePlain(r.Get("payout_minimum"), c); err == nil && old == 0 {
			return &old
		}
	}
	r.Values.Set("payout_currency", string(becomes))
	r.Problems.Wrong("payout_minimum", "Payouts will be in %s. Enter this amount in %s.", becomes, becomes)
	return nil
}

// suppliersOf parses comma-separated supplier IDs.
func suppliersOf(r *kit.Reading) *[]int64 {
	items := r.Items("suppliers")
	if items == nil {
		return nil
	}
	ids := []int64{}
	for _, item := range *items {
		id, err := strconv.ParseInt(item, 10, 64)
		if err != nil {
			r.Problems.Wrong("suppliers", "Enter supplier IDs separated by commas, such as 3, 7.")
			return nil
		}
		ids = append(ids, id)
	}
	return &ids
}

// settings shows a merchant's fields, as a form if the user may change them.
func (p *pages) settings(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	return p.showSettings(v, filledWith(c), c)
}

// filledWith returns the form with the merchant's current values.
func filledWith(c merchant.Channel) *kit.Form {
	yes := func(b bool) string {
		if b {
			return "1"
		}
		return ""
	}
	var suppliers []string
	for _, id := range c.Suppliers {
		suppliers = append(suppliers, strconv.FormatInt(id, 10))
	}
	settle := money.Currency(c.Settlement())
	return kit.Filled("name", c.Name, "currencies", string(c.Currency), "account_mode", string(c.Mode), "language", c.Language,
		"primary_mail", c.PrimaryMail, "mail_bcc_transactional_mails", yes(c.MailBCC), "receipt_label", c.ReceiptLabel,
		"external_id", c.ExternalID, "other_protection", string(c.OtherProtection),
		"authorisation_days", strconv.FormatInt(c.AuthorisationDays, 10), "account_type", c.AccountType,
		"protection_type", c.ProtectionType, "channel_status", c.StatusOverride, "statement_period", c.StatementPeriod,
		"locked", yes(c.Locked), "lock_reason", c.LockReason, "suppliers", strings.Join(suppliers, ", "), "mail_failures", yes(c.MailFailures),
		"chargeback_mail", c.ChargebackMail, "tokenizer_id", c.TokenizerID, "tokenizer_api_key", c.TokenizerKey(),
		"cardholder_present", yes(c.CardholderPresent), "server_to_server", yes(c.ServerToServer), "beneficiary_id", c.BeneficiaryID,
		"settlement_currency", c.SettlementCurrency, "payout_minimum", money.FormatPlain(c.PayoutMinimum, settle),
		"payout_currency", string(settle), "descriptor", c.Descriptor, "version", strconv.FormatInt(c.Version, 10))
}

func (p *pages) changeChannel(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	form, err := v.Form()
	if err != nil {
		return err
	}
	changed, err := p.app.Channels.Change(v.R.Context(), v.Actor, id, p.fields(v, form))
	stored := func() (*kit.Form, error) {
		c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
		return filledWith(c), err
	}
	if ok, err := v.TookOver(form, err, stored); err != nil {
		return err
	} else if !ok {
		c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
		if err != nil {
			return err
		}
		return p.showSettings(v, form, c)
	}
	if changed.Proposal != nil {
		return v.Waits(at(v, id, "/settings"), changed.Proposal.ID,
			"This opens cover, so a second operator must approve it. No changes made yet.")
	}
	return v.Done(at(v, id, "/settings"), "Merchant saved.")
}

// deleteChannel deletes a merchant that is not in use, after a confirmation.
func (p *pages) deleteChannel(v *kit.Visit) error {
	id, err := v.ID("id")
	if err != nil {
		return err
	}
	c, err := p.app.Channels.Get(v.R.Context(), v.Actor, id)
	if err != nil {
		return err
	}
	again := kit.Filled()
	if v.R.Method == http.MethodPost {
		ok, err := v.Took(again, p.app.Channels.Delete(v.R.Context(), v.Actor, id, 0))
		if err != nil {
			return err
		} else if ok {
			return v.Done(v.At("/channels"), "Merchant %s deleted.", c.Name)
		}
	}
	return v.Confirm(kit.Confirmation{
		Title: "Delete the merchant " + c.Name + "?", Act: "Delete merchant", Harm: true, Back: at(v, id, "/settings"), Again: again,
		Text: []string{"This deletes the merchant with its settings and secret, and cannot be undone. A merchant that has ever had a booking cannot be deleted, but an operator can close it."},
	}, kit.Page{Menu: menu, Path: above(v, id, c.Name)})
}
