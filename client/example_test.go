package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"holdfast/client"
)

// A merchant's server logs a booking and a payment taken elsewhere.
func ExampleNew() {
	ctx := context.Background()
	c, err := client.New(service, "demo", client.APIToken(token))
	if err != nil {
		fmt.Println(err)
		return
	}
	booking, err := c.Bookings.Create(ctx, client.BookingCreate{
		Channels: 1, Currencies: "GBP", Total: 125000, Firstname: "Ada", Surname: "Lovelace", Email: "ada@example.com",
		Content: "Seven nights, half board", DateStart: "2026-06-20", Date: "2026-06-27", Countries: "FR", Reference: "ALP-1047",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	payment, err := c.Transactions.Create(ctx, client.TransactionCreate{
		Channels: 1, Currencies: "GBP", Total: 25000, TransactionTypes: client.TransactionTypePurchase, Reference: "PAY-1047-1",
		Bookings: []client.TransactionCreateBooking{{ID: booking.ID, Currencies: "GBP", Total: 25000}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	booking, err = c.Bookings.Get(ctx, booking.ID)
	fmt.Println(payment.Status, booking.Status, booking.TotalUnpaid, err)
	// Output: complete partial-payment 100000 <nil>
}

// All iterates over a list page by page. The loop may end at any time.
func ExampleBookings_All() {
	ctx := context.Background()
	c, err := client.New(service, "demo", client.APIToken(token))
	if err != nil {
		fmt.Println(err)
		return
	}
	for surname, guests := range map[string]int{"Hopper": 3} {
		for i := range guests {
			_, err := c.Bookings.Create(ctx, client.BookingCreate{
				Channels: 1, Currencies: "GBP", Total: 50000, Firstname: "Grace", Surname: surname, Email: "grace@example.com",
				Content: fmt.Sprint("Guest ", i), Date: "2026-07-04", Countries: "ES",
			})
			if err != nil {
				fmt.Println(err)
				return
			}
		}
	}
	for booking, err := range c.Bookings.All(ctx, client.BookingsQuery{Surname: "Hopper", Order: "desc"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(booking.Content, booking.Total, booking.Currencies)
	}
	// Output:
	// Guest 2 50000 GBP
	// Guest 1 50000 GBP
	// Guest 0 50000 GBP
}

// A server that may restart stores the key with its order. However often it sends the order, there is one booking.
func ExampleWithIdempotencyKey() {
	ctx := context.Background()
	c, err := client.New(service, "demo", client.APIToken(token))
	if err != nil {
		fmt.Println(err)
		return
	}
	order := client.BookingCreate{
		Channels: 1, Currencies: "GBP", Total: 80000, Firstname: "Alan", Surname: "Turing", Email: "alan@example.com",
		Content: "A weekend", Date: "2026-05-10", Countries: "GB",
	}
	first, err := c.Bookings.Create(ctx, order, client.WithIdempotencyKey("order-2093"))
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := c.Bookings.Create(ctx, order, client.WithIdempotencyKey("order-2093"))
	fmt.Println(first.ID == again.ID, err)
	// Output: true <nil>
}

// The error has a message for each invalid field.
func ExampleError() {
	c, err := client.New(service, "demo", client.APIToken(token))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Bookings.Create(context.Background(), client.BookingCreate{
		Channels: 1, Currencies: "EUR", Total: 80000, Firstname: "Alan", Surname: "Turing", Email: "alan@example.com",
		Content: "A weekend", Date: "2026-05-10", Countries: "GB",
	})
	var no *client.Error
	if errors.As(err, &no) {
		fmt.Println(no.Status, no.Code)
		fmt.Println(no.Params["channels"])
	}
	// Output:
	// 400 rest_invalid_param
	// The booking currency, EUR, does not match the channel's base currency, GBP.
}

// A person logs in with a password, and with the code of a second factor if they have one. The client stays logged in.
func ExampleLogin() {
	ctx := context.Background()
	login := &client.Login{Username: "admin", Password: password}
	c, err := client.New(service, "demo", login)
	if err != nil {
		fmt.Println(err)
		return
	}
	me, err := login.Session(ctx, c)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(me.Usertype, me.DefaultSite.Name)
	fmt.Println(login.Logout(ctx, c))
	// Output:
	// member_admin Demo Travel
	// <nil>
}

// The exposure at the end of a day, by merchant.
func ExampleReports_Exposure() {
	c, err := client.New(service, "demo", client.APIToken(token))
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := c.Reports.Exposure(context.Background(), client.ExposureQuery{AsOf: "2026-03-01", By: "channel"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.AsOf, report.Currency, *report.Total.E1Report)
	// Output: 2026-03-01 GBP 0
}

// A consumer of the feed stores the cursor of each page, and gets every event once.
func ExampleEvents_Pages() {
	ctx := context.Background()
	c, err := client.New(service, "demo", client.APIToken(token))
	if err != nil {
		fmt.Println(err)
		return
	}
	end, err := c.Events.Read(ctx, client.EventsQuery{After: "now"})
	if err != nil {
		fmt.Println(err)
		return
	}
	made, err := c.Bookings.Create(ctx, client.BookingCreate{
		Channels: 1, Currencies: "GBP", Total: 70000, Firstname: "Lise", Surname: "Meitner", Email: "lise@example.com",
		Content: "Ten days", Date: "2026-07-20", Countries: "AT",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cursor := end.Next // as stored the last time
	for page, err := range c.Events.Pages(ctx, client.EventsQuery{After: cursor, Types: []string{"booking.*"}}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, event := range page.Events {
			booking, err := event.Booking()
			fmt.Println(event.Type, booking.Surname, event.ObjectID == made.ID, err)
		}
		cursor = page.Next
	}
	// Output: booking.created Meitner true <nil>
}

// A change only has the changed fields. With the object's ETag it is rejected if someone else was faster.
func ExampleIfMatch() {
	ctx := context.Background()
	c, err := client.New(service, "demo", client.APIToken(token))
	if err != nil {
		fmt.Println(err)
		return
	}
	var tag string
	channel, err := c.Channels.Get(ctx, 1, client.KeepETag(&tag))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Channels.Change(ctx, channel.ID, client.ChannelChange{ExternalID: new("merchant-4711")}, client.IfMatch(tag))
	fmt.Println(err)
	_, err = c.Channels.Change(ctx, channel.ID, client.ChannelChange{ExternalID: new("merchant-4712")}, client.IfMatch(tag))
	var no *client.Error
	fmt.Println(errors.As(err, &no), no.Code)
	// Output:
	// <nil>
	// true rest_precondition_failed
}

// The checkout page gets the auth string, never the secret.
func ExampleAuthString() {
	at := time.Date(2019, 8, 12, 5, 52, 13, 0, time.UTC) // time.Now() on a server
	auth, err := client.AuthString("example-channel-secret", client.Fields{"channels": 2, "currencies": "USD", "total": 9999}, at)
	fmt.Println(auth, err)
	// Output: bbba981afdcdc5064f72f535707b7eba3f521e5d19dc77c7b860c00204002bff20190812055213 <nil>
}

// A server only accepts a webhook signed with one of its secrets.
func ExampleVerifyWebhook() {
	header := http.Header{
		"Webhook-Id":        {"msg_p5jXN8AQM9LWM0D4loKWxJek"},
		"Webhook-Timestamp": {"1614265330"},
		"Webhook-Signature": {"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	}
	body := []byte(`{"test": 2432232314}`)
	at := time.Unix(1614265330, 0) // time.Now() on a server
	fmt.Println(client.VerifyWebhook([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, header, body, at))
	fmt.Println(client.VerifyWebhook([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}, header, append(body, ' '), at))
	// Output:
	// <nil>
	// no signature of the webhook fits a secret
}
