package cli

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"holdfast/internal/api/reports"
	"holdfast/internal/book/certificates"
	"holdfast/internal/domain/civil"
	"holdfast/internal/domain/money"
	"holdfast/internal/errs"
	"holdfast/internal/notify/mail"
	"holdfast/internal/web/kit"
)

// certificateCmd shows the link of a booking's certificate, or revokes it.
type certificateCmd struct {
	siteFlag
	formFlags
	Booking int64 `arg:"" help:"Booking id."`
	Revoke  bool  `xor:"form" help:"Revoke the link. The next request creates a new one."`
}

// Run prints the link and what the page says.
func (c certificateCmd) Run(ctx context.Context, p *program) error {
	actor, err := p.operatorAt(ctx, c.Site)
	if err != nil {
		return err
	}
	if c.Revoke {
		if err := p.app.Certificates.Revoke(ctx, actor, c.Booking); err != nil {
			return err
		}
		p.printf("Revoked the certificate link of booking %d.\n", c.Booking)
		return nil
	}
	base, err := p.clientsBase()
	if err != nil {
		return err
	}
	found, err := p.app.Certificates.Of(ctx, actor, c.Booking)
	if err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(reports.ShowCertificate(found, base))
	}
	if c.CSV {
		return p.printCSV(sheet{
			columns: columnsOf("booking link state currency protected not_protected until asked paid_back test created"),
			rows: [][]cell{{
				ident(found.BookingID), words(certificates.Link(base, found.Key)), words(string(found.State)), words(string(found.Currency)),
				amount(found.Protected, found.Currency), amount(found.Unprotected, found.Currency), dayCell(found.Until),
				words(string(found.Note.Asked)), amount(found.Note.PaidBack, found.Currency), words(strconv.FormatBool(found.Test)), instant(found.CreatedAt),
			}},
		}, civil.FormatInstant(found.At))
	}
	of := func(n int64) string { return string(found.Currency) + " " + money.Format(n, found.Currency) }
	fields := [][2]string{
		{"link", certificates.Link(base, found.Key)}, {"booking", number(found.BookingID)}, {"state", string(found.State)},
		{"protected", of(found.Protected)}, {"not protected", of(found.Unprotected)},
	}
	if found.Until != civil.NoDay {
		fields = append(fields, [2]string{"until", found.Until.String()})
	}
	if !found.Note.At.IsZero() {
		fields = append(fields, [2]string{"traveller asked", string(found.Note.Asked)}, [2]string{"paid back", of(found.Note.PaidBack)})
	}
	if found.Test {
		fields = append(fields, [2]string{"test", "the page says that this is test data"})
	}
	p.printFields(append(fields, [2]string{"created", fmt.Sprintf("%s GMT", civil.FormatInstant(found.CreatedAt))}))
	return nil
}

// clientsBase is the public URL of the service, also for commands that do not serve.
func (p *program) clientsBase() (string, error) {
	if p.base != "" {
		return p.base, nil
	}
	listen, err := net.ResolveTCPAddr("tcp", p.Listen)
	if err != nil {
		return "", errs.WrongField("listen", "%q is not an address. Use an address such as 127.0.0.1:8080.", p.Listen)
	}
	return p.baseURL(listen), nil
}

// mailAddresses are the base URLs for links in mails. They are empty if the public URL is unknown.
func (p *program) mailAddresses() mail.Addresses {
	base, err := p.clientsBase()
	if err != nil {
		return mail.Addresses{}
	}
	return mail.Addresses{Base: base, Dashboard: base + kit.Path, Link: base + kit.LinkPath}
}
