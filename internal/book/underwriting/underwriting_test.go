package underwriting_test

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"holdfast/internal/book/underwriting"
	"holdfast/internal/domain/access"
	"holdfast/internal/domain/merchant"
	"holdfast/internal/errs"
	"holdfast/internal/store"
	"holdfast/internal/testkit/apptest"
)

// whole are facts of which nothing is missing.
func whole() underwriting.Facts {
	return underwriting.Facts{
		Company: "Alpine Escapes Ltd", RegistrationNo: "HRB 123456", Website: "https://alpine.example", Sells: "Walking holidays",
		Contact: "Ada Byron", ContactMail: "ada@alpine.example", Licence: "bond", LicenceNumber: "B-1", LicenceBody: "ABTA",
		LicenceAmount: 5_000_000, SupplierCover: "Insurance", Currency: "GBP", Turnover: 250_000_000, Bookings: 400,
		AverageBooking: 120_000, Lead: [5]int64{10, 20, 30, 30, 10}, ChargebackRate: 4500,
	}
}

// TestARequestFromTheFirstWordToTheAnswer goes through all states, and tries impossible actions in each.
func TestARequestFromTheFirstWordToTheAnswer(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeDraft, "GBP")
		r, ctx := w.App.Underwriting, t.Context()
		merchant := access.Actor{SiteID: w.Site.ID, UserID: 7, Username: "ada", Role: access.MemberAdmin}
		operator := access.Actor{UserID: 8, Username: "olga", Role: access.Operator}
		get := func() underwriting.Request {
			t.Helper()
			found, err := r.Get(ctx, operator, w.Site.ID, c.ID)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		answer := func(state underwriting.State, note string) error {
			_, err := r.Answer(ctx, operator, w.Site.ID, c.ID, underwriting.Answer{State: state, Note: note})
			return err
		}
		waiting := func() int {
			t.Helper()
			list, err := r.Waiting(ctx, operator, store.Page{Number: 1, Size: 1, Offset: -1})
			if err != nil {
				t.Fatal(err)
			}
			return len(list.Items)
		}
		apptest.Same(t, "at first", get().State, "")
		apptest.WantKind(t, answer(underwriting.Taken, ""), errs.NotPossible, "answering what nobody has asked")
		begun, err := r.Save(ctx, merchant, c.ID, underwriting.Facts{Company: "Alpine"}, false, 0)
		if err != nil || begun.State != underwriting.Writing || waiting() != 0 {
			t.Fatalf("begun: %+v %v", begun, err)
		}
		_, err = r.Save(ctx, merchant, c.ID, underwriting.Facts{Company: "Alpine"}, true, begun.Version)
		apptest.WantKind(t, err, errs.Missing, "asking with a name alone")
		_, err = r.Save(ctx, merchant, c.ID, whole(), false, begun.Version+1)
		apptest.WantKind(t, err, errs.Precondition, "saving over what another has saved")
		if _, err = r.Save(ctx, merchant, c.ID, whole(), true, begun.Version); err != nil || waiting() != 1 {
			t.Fatalf("asking: %v, %d wait", err, waiting())
		}
		_, err = r.Save(ctx, merchant, c.ID, whole(), false, 0)
		apptest.WantKind(t, err, errs.NotPossible, "changing what is with the operator")
		apptest.WantKind(t, r.Discard(ctx, merchant, c.ID), errs.NotPossible, "removing what is with the operator")
		apptest.WantKind(t, answer(underwriting.Questions, " "), errs.Missing, "a question without words")
		apptest.WantKind(t, answer(underwriting.Writing, "x"), errs.Invalid, "an answer that is none")
		apptest.WantKind(t, answer(underwriting.Questions, "Which bond?"), errs.Internal, "a question")
		if kept, err := r.Save(ctx, merchant, c.ID, whole(), false, 0); err != nil || kept.State != underwriting.Questions || kept.Note != "Which bond?" {
			t.Errorf("while it is written on: %+v %v", kept, err)
		}
		if _, err = r.Save(ctx, merchant, c.ID, whole(), true, 0); err != nil || get().State != underwriting.Asked {
			t.Errorf("asked again: %v", err)
		}
		if _, err := r.TakeBack(ctx, merchant, c.ID); err != nil || waiting() != 0 {
			t.Errorf("taken back: %v", err)
		}
		_, err = r.TakeBack(ctx, merchant, c.ID)
		apptest.WantKind(t, err, errs.NotPossible, "taking back twice")
		if _, err = r.Save(ctx, merchant, c.ID, whole(), true, 0); err != nil {
			t.Error(err)
		}
		apptest.WantKind(t, answer(underwriting.Taken, ""), errs.Internal, "a yes")
		found := get()
		if found.State != underwriting.Taken || found.AnsweredBy != "olga" || found.AskedBy != "ada" || found.Facts != whole() || found.AnsweredAt.IsZero() {
			t.Errorf("at last: %+v", found)
		}
		apptest.WantKind(t, answer(underwriting.Refused, "No licence."), errs.Internal, "another mind")
		apptest.WantKind(t, w.App.Channels.Delete(ctx, w.Actor, c.ID, 0), errs.InUse, "deleting its channel")
		if err := errors.Join(r.Discard(ctx, merchant, c.ID), r.Discard(ctx, merchant, c.ID), w.App.Channels.Delete(ctx, w.Actor, c.ID, 0)); err != nil {
			t.Errorf("removing both: %v", err)
		}
	})
}

// TestWhoMayAsk: the people who may write channels, for channels that can be protected, on their own site.
func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		r, ctx := w.App.Underwriting, t.Context()
		draft, test, protected := w.Channel(merchant.ModeDraft, "GBP"), w.Channel(merchant.ModeTest, "GBP"), w.Channel(merchant.ModeProtectionOnly, "GBP")
		as := func(role access.Role) access.Actor {
			return access.Actor{SiteID: w.Site.ID, UserID: 7, Username: "ada", Role: role}
		}
		for _, role := range []access.Role{access.ReadOnly, access.Finance} {
			_, err := r.Save(ctx, as(role), draft.ID, whole(), true, 0)
			apptest.WantKind(t, err, errs.Forbidden, "saving as "+string(role))
			_, err = r.Attach(ctx, as(role), draft.ID, "a.pdf", strings.NewReader("%PDF-1.7"))
			apptest.WantKind(t, err, errs.Forbidden, "attaching as "+string(role))
			apptest.WantKind(t, r.Discard(ctx, as(role), draft.ID), errs.Forbidden, "removing as "+string(role))
			_, err = r.TakeBack(ctx, as(role), draft.ID)
			apptest.WantKind(t, err, errs.Forbidden, "taking back as "+string(role))
		}
		for _, actor := range []access.Actor{as(access.MemberAdmin), {SiteID: w.Site.ID, Role: access.Operator, TokenID: 3}} {
			_, err := r.Waiting(ctx, actor, store.Page{Number: 1, Size: 1, Offset: -1})
			apptest.WantKind(t, err, errs.Forbidden, "the queue")
		}
		_, err := r.Answer(ctx, as(access.MemberAdmin), w.Site.ID, draft.ID, underwriting.Answer{State: underwriting.Taken})
		apptest.WantKind(t, err, errs.Forbidden, "answering oneself")
		_, err = r.Get(ctx, as(access.MemberAdmin), w.Site.ID+1, draft.ID)
		apptest.WantKind(t, err, errs.SettingNotFound, "another site")
		for _, c := range []merchant.Channel{test, protected} {
			_, err := r.Save(ctx, as(access.MemberAdmin), c.ID, whole(), true, 0)
			apptest.WantKind(t, err, errs.NotPossible, string(c.Mode))
		}
		_, err = r.Save(ctx, as(access.MemberAdmin), 999, whole(), true, 0)
		apptest.WantKind(t, err, errs.SettingNotFound, "no channel")
	})
}

// TestAnAnswerToWhatIsProtectedAlready can only be an acceptance. And requests do not change the channel's version:
// open forms of its settings stay valid.
func TestAnAnswerToWhatIsProtectedAlready(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		r, ctx := w.App.Underwriting, t.Context()
		c := w.Channel(merchant.ModeDraft, "GBP")
		operator := access.Actor{UserID: 8, Username: "olga", Role: access.Operator}
		answer := func(state underwriting.State) error {
			_, err := r.Answer(ctx, operator, w.Site.ID, c.ID, underwriting.Answer{State: state, Note: "So it is."})
			return err
		}
		for range 2 {
			if _, err := r.Save(ctx, w.Actor, c.ID, whole(), true, 0); err != nil {
				t.Fatal(err)
			}
			apptest.WantKind(t, answer(underwriting.Questions), errs.Internal, "a question")
		}
		if _, err := r.Save(ctx, w.Actor, c.ID, whole(), true, 0); err != nil {
			t.Fatal(err)
		}
		if now, err := w.App.Channels.Get(ctx, w.Actor, c.ID); err != nil || now.Version != c.Version {
			t.Errorf("the channel has version %d, and had %d: %v", now.Version, c.Version, err)
		}
		mode := merchant.ModeProtectionOnly
		if _, err := w.App.Channels.Change(ctx, w.Actor, c.ID, merchant.ChannelFields{Mode: &mode, IfVersion: c.Version}); err != nil {
			t.Fatal(err)
		}
		apptest.WantKind(t, answer(underwriting.Refused), errs.NotPossible, "a no to a protected channel")
		apptest.WantKind(t, answer(underwriting.Taken), errs.Internal, "the yes")
		apptest.WantKind(t, answer(underwriting.Refused), errs.NotPossible, "a no after the yes")
	})
}

// TestWhatIsWrongWithFacts: each problem is reported for its field.
func TestWhatIsWrongWithFacts(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		c := w.Channel(merchant.ModeDraft, "GBP")
		for name, spoil := range map[string]func(f *underwriting.Facts){
			"website": func(f *underwriting.Facts) { f.Website = "javascript:alert(1)" }, "contact_mail": func(f *underwriting.Facts) { f.ContactMail = "Ada <a@b.example>" },
			"licence": func(f *underwriting.Facts) { f.Licence = "guild" }, "licence_number": func(f *underwriting.Facts) { f.LicenceNumber = " " },
			"lead": func(f *underwriting.Facts) { f.Lead[0]++ }, "chargeback_rate": func(f *underwriting.Facts) { f.ChargebackRate = 1_000_001 },
			"turnover": func(f *underwriting.Facts) { f.Turnover = -1 }, "currencies": func(f *underwriting.Facts) { f.Currency = "XXQ" },
			"licence_amount": func(f *underwriting.Facts) { f.LicenceAmount = 0 }, "bookings": func(f *underwriting.Facts) { f.Bookings = 0 },
			"company": func(f *underwriting.Facts) { f.Company = strings.Repeat("x", 192) }, "sells": func(f *underwriting.Facts) { f.Sells = "" },
		} {
			facts := whole()
			spoil(&facts)
			_, err := w.App.Underwriting.Save(t.Context(), w.Actor, c.ID, facts, true, 0)
			known, ok := errors.AsType[*errs.Error](err)
			if !ok {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := append(slices.Sorted(maps.Keys(known.Params)), known.Absent...); !slices.Equal(got, []string{name}) {
				t.Errorf("%s: wrong are %v", name, got)
			}
		}
		facts := whole()
		facts.SupplierCover = "my card 4111 1111 1111 1111"
		_, err := w.App.Underwriting.Save(t.Context(), w.Actor, c.ID, facts, false, 0)
		apptest.WantKind(t, err, errs.CardNumber, "a card number")
	})
}

// TestDocuments: the type follows from the content; they are stored in chunks, and returned byte by byte.
func TestDocuments(t *testing.T) {
	t.Parallel()
	apptest.OnBoth(t, func(t *testing.T, w *apptest.World) {
		r, ctx := w.App.Underwriting, t.Context()
		c := w.Channel(merchant.ModeDraft, "GBP")
		other := w.Channel(merchant.ModeDraft, "EUR")
		large := append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte{0, 1, 2, 255}, 150_000)...)
		for name, c := range map[string]struct {
			content []byte
			kind    errs.Kind
		}{
			"a page":    {[]byte("<!doctype html><script>"), errs.Invalid},
			"nothing":   {nil, errs.Missing},
			"too large": {append([]byte("%PDF-1.7"), make([]byte, underwriting.MaxDocumentBytes)...), errs.Invalid},
		} {
			_, err := r.Attach(ctx, w.Actor, other.ID, "a.pdf", bytes.NewReader(c.content))
			apptest.WantKind(t, err, c.kind, name)
		}
		d, err := r.Attach(ctx, w.Actor, c.ID, "C:\\docs\\accounts\" ;2025.pdf\r\n", bytes.NewReader(large))
		if err != nil || d.Name != "accounts 2025.pdf" || d.Type != "pdf" || d.MIME() != "application/pdf" {
			t.Fatalf("attached: %+v %v", d, err)
		}
		for name, want := range map[string]string{
			"accounts.PDF": "accounts.pdf", "accounts.html": "accounts.pdf", "accounts.pdf.exe": "accounts.pdf", "accounts": "accounts.pdf",
			".htaccess": "htaccess.pdf", "": "document.pdf", ".pdf": "pdf.pdf", "accounts 3.5": "accounts 3.5.pdf", "accounts\u202efdp.exe": "accountsfdp.pdf",
			strings.Repeat("é", 300) + ".jpg": strings.Repeat("é", 187) + ".pdf",
		} {
			named, err := r.Attach(ctx, w.Actor, c.ID, name, strings.NewReader("%PDF-1.7"))
			if err != nil || named.Name != want {
				t.Errorf("%q is named %q, want %q: %v", name, named.Name, want, err)
			}
			apptest.WantKind(t, r.Detach(ctx, w.Actor, c.ID, named.ID), errs.Internal, "removing it")
		}
		photo, err := r.Attach(ctx, w.Actor, c.ID, "shop.jpeg", strings.NewReader("\xff\xd8\xff"))
		if err != nil || photo.Name != "shop.jpeg" || photo.MIME() != "image/jpeg" {
			t.Errorf("%+v %v", photo, err)
		}
		apptest.WantKind(t, r.Detach(ctx, w.Actor, c.ID, photo.ID), errs.Internal, "removing it")
		_, content, err := r.Document(ctx, w.Actor, w.Site.ID, c.ID, d.ID)
		if err != nil || !bytes.Equal(content, large) {
			t.Errorf("it comes back with %d bytes of %d: %v", len(content), len(large), err)
		}
		_, _, err = r.Document(ctx, w.Actor, w.Site.ID, other.ID, d.ID)
		apptest.WantKind(t, err, errs.SettingNotFound, "by another channel")
		apptest.WantKind(t, r.Detach(ctx, w.Actor, other.ID, d.ID), errs.SettingNotFound, "removing it by another channel")
		for i := range underwriting.MaxDocuments {
			_, err := r.Attach(ctx, w.Actor, c.ID, "p.png", strings.NewReader("\x89PNG\r\n\x1a\n"))
			apptest.WantKind(t, err, map[bool]errs.Kind{true: errs.Invalid}[i == underwriting.MaxDocuments-1], "one more")
		}
		if err := r.Detach(ctx, w.Actor, c.ID, d.ID); err != nil {
			t.Error(err)
		}
		if found, err := r.Get(ctx, w.Actor, w.Site.ID, c.ID); err != nil || len(found.Documents) != 4 || found.State != underwriting.Writing {
			t.Errorf("left: %+v %v", found, err)
		}
	})
}
