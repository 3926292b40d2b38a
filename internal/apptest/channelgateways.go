package apptest

import (
	"holdfast/internal/db"
	"holdfast/internal/dbtest"
	"holdfast/internal/merchants"
	"holdfast/internal/travel"
)

const (
	TokenizerKey = "3q8w-tokenizer-key-9f2c"
	LiveKey      = "live_processor-key-51x7"
	TestKey      = "test_processor-key-51x7"
)

// ProcessingChannel is a channel that is set up to take payments.
func (w *World) ProcessingChannel(name string, mode travel.AccountMode) travel.Channel {
	w.t.Helper()
	c, err := w.App.Channels.Create(w.t.Context(), w.Actor, travel.ChannelFields{
		Name: &name, Currency: &w.Site.Policy.Currency, Mode: &mode,
		Processing: travel.ProcessorFields{ServerToServer: new(true), TokenizerID: new("tok-account"), TokenizerKey: new(TokenizerKey)},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *World) SetGateway(id int64, key string) error {
	_, err := w.App.Channels.SetGateway(w.t.Context(), w.Actor, id, merchants.GatewayFields{
		Processor: "choosy", Credentials: merchants.Credentials{Key: key, WebhookSecret: "webhook-secret-of-it"},
	})
	return err
}

// RealSite makes a site that is no sandbox.
func (w *World) RealSite() (site travel.Site) {
	w.t.Helper()
	err := w.Core.Store.Write(w.t.Context(), func(tx *db.Tx) (err error) {
		site, err = dbtest.InsertSite(tx, travel.Site{Path: "real", Name: "Real", Policy: travel.DefaultPolicy("GBP")})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return site
}
