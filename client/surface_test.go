package client_test

import (
	"context"
	"maps"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"holdfast/client"

	"go.yaml.in/yaml/v3"
)

// notForClients are the operations that the client does not have. The payment modal's frame acts for shoppers, and the
// service endpoints are for operators. Logins without a site are the same as those of a site.
var notForClients = []string{"Payment modal", "Service", "login", "refreshLogin", "deleteRefresh"}

// operation is the description of an operation.
type operation struct {
	address string // its method and address, for the site demo, the id 7 and the line minimum
	keyed   bool   // whether it takes an idempotency key
}

// operations are those of the description by their ids.
func operations(t *testing.T) map[string]operation {
	t.Helper()
	text, err := os.ReadFile("../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var description struct {
		Paths map[string]map[string]yaml.Node `yaml:"paths"`
	}
	if err := yaml.Unmarshal(text, &description); err != nil {
		t.Fatal(err)
	}
	found := map[string]operation{}
	fill := strings.NewReplacer("{site_path}", "demo", "{id}", "7", "{line}", "minimum", "{delivery}", "7", "{evidence}", "7")
	for path, methods := range description.Paths {
		for method, node := range methods {
			var o struct {
				ID   string   `yaml:"operationId"`
				Tags []string `yaml:"tags"`

				Parameters []struct {
					Ref string `yaml:"$ref"`
				} `yaml:"parameters"`
			}
			if node.Kind != yaml.MappingNode || node.Decode(&o) != nil {
				continue
			}
			if slices.Contains(notForClients, o.ID) || slices.Contains(notForClients, o.Tags[0]) {
				continue
			}
			made := operation{address: strings.ToUpper(method) + " " + fill.Replace(path)}
			for _, p := range o.Parameters {
				made.keyed = made.keyed || strings.HasSuffix(p.Ref, "/IdempotencyKey")
			}
			found[o.ID] = made
		}
	}
	return found
}

// TestEveryOperation calls every method of every service, and compares the requests with the description: none is
// missing, none is unknown, and those that take an idempotency key have one.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	var sent []*http.Request
	sender := transport(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r)
		return &http.Response{StatusCode: 404, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})
	c, err := client.New("https://service.example", "demo", client.APIToken("1|s"), client.WithHTTPClient(&http.Client{Transport: sender}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[client.Client]().NumField() {
		if service := reflect.ValueOf(c).Elem().Field(i); service.CanInterface() {
			for j := range service.NumMethod() {
				callWithZeros(t.Context(), service.Method(j))
			}
		}
	}
	sent = append(sent, loginRequests(t)...)
	missing := operations(t)
	known := maps.Clone(missing)
	for _, request := range sent {
		fits := false
		for id, o := range known {
			if o.address == request.Method+" "+request.URL.Path {
				delete(missing, id)
				fits = o.keyed == (request.Header.Get("Idempotency-Key") != "")
			}
		}
		if !fits {
			t.Errorf("the client sends %s %s with %v, and the description says something else", request.Method, request.URL, request.Header)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("the client has no method for the operation %s", id)
	}
}

// callWithZeros calls a method with the context, 7 for ids, and zero values. It takes the first item of an iterator.
func callWithZeros(ctx context.Context, method reflect.Value) {
	var arguments []reflect.Value
	for i := range method.Type().NumIn() {
		kind := method.Type().In(i)
		switch {
		case method.Type().IsVariadic() && i == method.Type().NumIn()-1:
		case kind.Kind() == reflect.Interface:
			arguments = append(arguments, reflect.ValueOf(ctx))
		case kind.Kind() == reflect.Int64:
			arguments = append(arguments, reflect.ValueOf(int64(7)))
		case kind.Kind() == reflect.String:
			arguments = append(arguments, reflect.ValueOf("minimum"))
		default:
			arguments = append(arguments, reflect.Zero(kind))
		}
	}
	if made := method.Call(arguments)[0]; made.Kind() == reflect.Func {
		for range made.Seq2() {
			break
		}
	}
}

// loginRequests are the requests of a login during its life.
func loginRequests(t *testing.T) []*http.Request {
	t.Helper()
	s := &script{answers: []string{"200", "403 jwt_auth_invalid_token", "200", "200", "200"}, text: `{"token": "t", "refresh_token": "r"}`}
	var sent []*http.Request
	sender := transport(func(r *http.Request) (*http.Response, error) {
		sent = append(sent, r)
		return s.RoundTrip(r)
	})
	login := &client.Login{Username: "u", Password: "p"}
	c, err := client.New("https://service.example", "demo", login, client.WithHTTPClient(&http.Client{Transport: sender}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Clock.Get(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := login.Logout(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return sent
}

// TestWhatTheAPIMakes sends a field of each kind to the real service, and reads the same back.
func TestWhatTheAPIMakes(t *testing.T) {
	t.Parallel()
	c := connect(t, &client.Login{Username: "operator", Password: password})
	ctx := t.Context()
	booking, err := c.Bookings.Create(ctx, client.BookingCreate{
		Channels: 1, Currencies: "GBP", Total: 90000, Firstname: "Emmy", Surname: "Noether", Email: "emmy@example.com",
		Content: "Two weeks", Date: "2026-09-14", DateStart: "2026-09-01", Countries: "GR", Pax: 3, Reference: "N-1",
		OtherProtection: "insurance",
	})
	if err != nil {
		t.Fatal(err)
	}
	if *booking.Pax != 3 || booking.OtherProtection != client.OtherProtectionInsurance || booking.Date != "2026-09-14" {
		t.Errorf("%+v", booking)
	}
	if at, err := booking.Created.Time(); err != nil || client.InstantOf(at) != booking.Created || client.DayOf(at)[:4] != "2026" {
		t.Errorf("created at %v, %v", at, err)
	}
	booking, err = c.Bookings.Change(ctx, booking.ID, client.BookingChange{Pax: client.Null[int64](), DateStart: new("")})
	if err != nil || booking.Pax != nil || booking.DateStart != "" {
		t.Errorf("%+v, %v", booking, err)
	}
	limit, err := c.Limits.Create(ctx, client.LimitCreate{Scope: "channel", Channels: 1, Amount: new(int64(5000000)), Note: "For tests"})
	if err != nil || *limit.Amount != 5000000 {
		t.Errorf("%+v, %v", limit, err)
	}
	rows, info, err := c.Limits.List(ctx, client.LimitsQuery{Scope: []client.LimitScope{"channel"}}, client.Page{Count: true})
	if err != nil || len(rows) == 0 || info.Total == 0 {
		t.Errorf("%+v, %+v, %v", rows, info, err)
	}
	policy, err := c.Policies.Create(ctx, client.PolicyCreate{From: "2027-01-01", LateLogDays: new(int64(9))})
	if err != nil || policy.LateLogDays != 9 {
		t.Errorf("%+v, %v", policy, err)
	}
	if _, _, err := c.Bookings.Protection(ctx, booking.ID, client.BookingProtectionQuery{}, client.Page{}); err != nil {
		t.Error(err)
	}
	if text, err := c.Premiums.BordereauCSV(ctx, client.PremiumBordereauQuery{Period: "2026-02"}); err != nil || len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
	month := client.ClaimsBordereauQuery{Period: "2026-02"}
	if found, err := c.Claims.Bordereau(ctx, month); err != nil || found.Period != month.Period {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := c.Claims.LossRatio(ctx, client.LossRatioQuery{Year: 2026}); err != nil || found.Year != 2026 {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := c.Disputes.Ratios(ctx, client.DisputeRatiosQuery{Period: "2026-02"}); err != nil || found.Period != "2026-02" {
		t.Errorf("%+v, %v", found, err)
	}
	if text, err := c.Claims.BordereauCSV(ctx, month); err != nil || len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
	if book, err := c.Claims.BordereauXLSX(ctx, month); err != nil || len(book) == 0 {
		t.Errorf("%q, %v", book, err)
	}
	if made, err := c.Claims.PresentBordereau(ctx, client.ClaimsMonth{Period: "2020-01"}); err != nil || made.Rows != 0 {
		t.Errorf("%+v, %v", made, err)
	}
	if err := c.Bookings.Delete(ctx, booking.ID); err != nil {
		t.Error(err)
	}
	if _, err := client.Day("soon").Time(); err == nil {
		t.Error("soon is a day")
	}
}
