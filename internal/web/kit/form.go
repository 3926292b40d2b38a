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

// Form holds the submitted or initial values of a form, and their validation errors.
type Form struct {
	Values   url.Values
	Problems map[string]string // by field
	Message  string            // an error about the whole form
}

// Filled returns a form with initial values, given as pairs of field and value.
func Filled(pairs ...string) *Form {
	f := &Form{Values: url.Values{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			f.Values.Add(pairs[i], pairs[i+1])
		}
	}
	return f
}

// Get returns a field's value without surrounding spaces.
func (f *Form) Get(name string) string { return strings.TrimSpace(f.Values.Get(name)) }

// All returns all values of a repeated field, such as check boxes.
func (f *Form) All(name string) []string { return f.Values[name] }

// Has reports whether a field includes a value.
func (f *Form) Has(name, value string) bool { return slices.Contains(f.Values[name], value) }

// Problem returns the error of a field, or "".
func (f *Form) Problem(name string) string { return f.Problems[name] }

// Form reads the submitted form. Forms with a card number are rejected before anything else happens.
func (v *Visit) Form() (*Form, error) {
	v.R.Body = http.MaxBytesReader(v.W, v.R.Body, MaxForm)
	if err := v.R.ParseForm(); err != nil {
		return nil, tooLarge(err)
	}
	return &Form{Values: v.R.PostForm}, noCards(v.R.PostForm)
}

// Once returns the actor for a form that creates something, with an idempotency key derived from the path and all
// fields, including the form's field "key": submitting the same form twice creates one object. Other content, such as
// after going back and editing, is a new request.
func (v *Visit) Once(form *Form) access.Actor {
	actor := v.Actor
	if form.Get("key") != "" {
		sum := sha256.Sum256([]byte(v.R.URL.Path + "?" + form.Values.Encode()))
		hash := hex.EncodeToString(sum[:])
		actor.Key = access.IdempotencyKey{Key: "form " + hash, Hash: hash}
	}
	return actor
}

// noCards rejects card numbers: no page has a field for one. Passwords are never stored in readable form, and keys are our
// own, so neither is checked.
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

// Upload reads a form whose last part is a file. The file is streamed, up to a size limit.
func (v *Visit) Upload(name string) (form *Form, file io.Reader, fileName string, err error) {
	v.R.Body = http.MaxBytesReader(v.W, v.R.Body, int64(v.frame.ImportBytes)+MaxForm)
	kind, params, err := mime.ParseMediaType(v.R.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil, nil, "", errs.New(errs.BadRequest, "Choose a file.")
	}
	parts := multipart.NewReader(v.R.Body, params["boundary"])
	form = &Form{Values: url.Values{}}
	left := MaxForm // total bytes of all fields
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
		if err := noCards(url.Values{part.FormName(): {string(value)}}); err != nil { // each value is checked once
			return nil, nil, "", err
		}
	}
	return form, strings.NewReader(""), "", nil
}

// TookOver is Took for forms with a version. If someone else has saved in the meantime, stored returns the form as it
// would be filled now: the form takes over its version, and each differing field shows the stored value. The user sees
// both and can submit again.
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

// renew takes over the version of the stored form and notes the stored value at each differing field.
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
		case !f.Sent(name) && stored == "1": // browsers do not send unchecked boxes
			f.Problems[name] = "Saved value: selected."
		default:
			f.Problems[name] = "Saved value: " + stored
		}
	}
}

// plainly normalizes a field's values for comparison: browsers use their own line endings.
func plainly(values []string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.Join(values, ", "), "\r\n", "\n"))
}

func tooLarge(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errs.New(errs.BodyTooLarge, "The request is too large.")
	}
	return errs.New(errs.BadRequest, "The request could not be read.")
}

// Took reports whether the form was accepted; err is the result of the use case. Validation errors are kept in the form,
// which is then shown again; other errors are returned.
func (v *Visit) Took(form *Form, err error) (ok bool, rest error) {
	if err == nil {
		return true, nil
	}
	f, known := errors.AsType[*errs.Error](err)
	status := statusOf(err)
	if _, made := v.W.(*maker); made { // the form is not shown
		return false, err
	}
	if !known || status >= http.StatusInternalServerError || status == http.StatusNotFound && f.Kind == errs.NoRoute {
		return false, err
	}
	v.status = status
	form.showProblems(f)
	return false, nil
}
