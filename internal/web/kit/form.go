package kit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"holdfast/internal/domain/access"
	"holdfast/internal/domain/card"
	"holdfast/internal/errs"
)

// Form is what a browser has sent, or what a page shows in its fields at first, and what is wrong with it.
type Form struct {
	Values   url.Values
	Problems map[string]string // by field
	Message  string            // what is wrong with all of it
}

// Filled is a form that nobody has sent yet: pairs of a field and its value.
func Filled(pairs ...string) *Form {
	f := &Form{Values: url.Values{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			f.Values.Add(pairs[i], pairs[i+1])
		}
	}
	return f
}

// Get is the value of a field without spaces around it.
func (f *Form) Get(name string) string { return strings.TrimSpace(f.Values.Get(name)) }

// All are the values of a field that was sent more than once, such as check boxes.
func (f *Form) All(name string) []string { return f.Values[name] }

// Has says whether a field has a value among those that it was sent with.
func (f *Form) Has(name, value string) bool { return slices.Contains(f.Values[name], value) }

// Problem is what is wrong with a field; "" for nothing.
func (f *Form) Problem(name string) string { return f.Problems[name] }

// Form reads what was sent. A form with a card number is refused before anything is done with it.
func (v *Visit) Form() (*Form, error) {
	v.R.Body = http.MaxBytesReader(v.W, v.R.Body, MaxForm)
	if err := v.R.ParseForm(); err != nil {
		return nil, tooLarge(err)
	}
	return &Form{Values: v.R.PostForm}, noCards(v.R.PostForm)
}

// Once is the actor of a form that makes something: the same form sent twice makes it once. The form has a field "key" for that. What
// is sent with other content, such as by somebody who went back and changed it, is a new request.
func (v *Visit) Once(form *Form) access.Actor {
	actor := v.Actor
	if form.Get("key") != "" {
		sum := sha256.Sum256([]byte(v.R.URL.Path + "?" + form.Values.Encode()))
		hash := hex.EncodeToString(sum[:])
		actor.Key = access.IdempotencyKey{Key: "form " + hash, Hash: hash}
	}
	return actor
}

// noCards refuses card numbers: no page has a field for one. A password is stored in no form that shows it, and a key is one of
// ours.
func noCards(values url.Values) error {
	for name, list := range values {
		if name == "key" || strings.Contains(name, "password") || !slices.ContainsFunc(list, card.HoldsCardNumber) {
			continue
		}
		return &errs.Error{
			Kind: errs.CardNumber, Message: "This contains a card number. Nothing was stored. Never enter card numbers here.",
			Params: map[string]string{name: "This contains a card number."},
		}
	}
	return nil
}

// Upload reads a form with one file, which comes last in it. The file is read while it comes, and is no larger than a bound.
func (v *Visit) Upload(name string) (form *Form, file io.Reader, fileName string, err error) {
	v.R.Body = http.MaxBytesReader(v.W, v.R.Body, int64(v.frame.ImportBytes)+MaxForm)
	kind, params, err := mime.ParseMediaType(v.R.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil, nil, "", errs.New(errs.BadRequest, "Choose a file.")
	}
	parts := multipart.NewReader(v.R.Body, params["boundary"])
	form = &Form{Values: url.Values{}}
	left := MaxForm // bytes of all fields together
	for range 100 {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, "", tooLarge(err)
		}
		if part.FormName() == name {
			return form, part, part.FileName(), nil
		}
		value, err := io.ReadAll(io.LimitReader(part, int64(left)+1))
		if left -= len(value); err == nil && left < 0 {
			err = &http.MaxBytesError{Limit: MaxForm}
		}
		if err != nil {
			return nil, nil, "", tooLarge(err)
		}
		form.Values.Add(part.FormName(), string(value))
		if err := noCards(url.Values{part.FormName(): {string(value)}}); err != nil { // each value is looked at once
			return nil, nil, "", err
		}
	}
	return form, strings.NewReader(""), "", nil
}

// TookOver is Took for a form with a version. When somebody else has saved since the form was filled, stored gives it as it would be
// filled now: the form takes that version, and each field that differs says what is stored. So its sender sees both, and can send again.
func (v *Visit) TookOver(form *Form, err error, stored func() (*Form, error)) (ok bool, rest error) {
	refused := errs.Is(err, errs.Precondition)
	ok, rest = v.Took(form, err)
	if !refused || rest != nil {
		return ok, rest
	}
	now, err := stored()
	if err != nil {
		return false, err
	}
	form.renew(now)
	return false, nil
}

// renew takes the version of a form that is filled with what is stored now, and says what differs from what was sent.
func (f *Form) renew(now *Form) {
	f.Message = "Somebody else has changed this in the meantime. Differences from your version are shown below. Save again to keep your version."
	f.Problems = map[string]string{}
	f.Values.Set("version", now.Get("version"))
	names := slices.Concat(slices.Collect(maps.Keys(f.Values)), slices.Collect(maps.Keys(now.Values)))
	for _, name := range names {
		sent, stored := plainly(f.Values[name]), plainly(now.Values[name])
		switch {
		case name == "version" || name == "key" || name == "act" || sent == stored:
		case stored == "":
			f.Problems[name] = "Saved value: empty."
		case !f.Sent(name) && stored == "1": // browsers do not send an empty box
			f.Problems[name] = "Saved value: selected."
		default:
			f.Problems[name] = "Saved value: " + stored
		}
	}
}

// plainly is what is compared of the values of a field: browsers end lines in their own way.
func plainly(values []string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.Join(values, ", "), "\r\n", "\n"))
}

func tooLarge(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errs.New(errs.BodyTooLarge, "The request is too large.")
	}
	return errs.New(errs.BadRequest, "The request could not be read.")
}

// Took says whether what was sent was taken: err is what the room answered. A mistake of the sender is kept in the form, which is
// then shown again; any other error is returned.
func (v *Visit) Took(form *Form, err error) (ok bool, rest error) {
	if err == nil {
		return true, nil
	}
	f, known := errors.AsType[*errs.Error](err)
	status := statusOf(err)
	if _, made := v.W.(*maker); made { // nobody sees the form
		return false, err
	}
	if !known || status >= http.StatusInternalServerError || status == http.StatusNotFound && f.Kind == errs.NoRoute {
		return false, err
	}
	v.status = status
	form.tell(f)
	return false, nil
}
