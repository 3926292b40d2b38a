package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// Credential is an APIToken or a *Login.
type Credential interface {
	// bearer returns the token to send. not is a token that the service has rejected, which is replaced if possible.
	bearer(ctx context.Context, c *connection, not string) (string, error)
}

// APIToken is a token of the form id|secret, created by a site's administrator. Programs should use one.
type APIToken string

func (t APIToken) bearer(_ context.Context, _ *connection, not string) (string, error) {
	if not != "" {
		return "", errors.New("an API token cannot be renewed")
	}
	return string(t), nil
}

// Login is a user with a password. The client logs in with the first request, refreshes the access token when it has
// expired, and logs in again when the refresh token has. Use each Login for one client only: its refresh token rotates,
// and using an old one ends the login.
type Login struct {
	Username, Password string
	// SecondFactor returns the code of the second factor, if the user has one: six digits, or a recovery code. It is
	// called for each login, including later ones.
	SecondFactor func(ctx context.Context) (string, error)

	begin   sync.Once
	turn    chan struct{} // holds one token, which its holder needs to read or change the session
	session *Session
}

// take acquires the lock, or fails when the context ends: the holder may be waiting for the service.
func (l *Login) take(ctx context.Context) error {
	l.begin.Do(func() { l.turn = make(chan struct{}, 1) })
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *Login) give() { <-l.turn }

// Session returns the response of the last login or refresh: the user, and the user's sites. It logs in if necessary.
func (l *Login) Session(ctx context.Context, c *Client) (Session, error) {
	if _, err := l.bearer(ctx, c.connection, ""); err != nil {
		return Session{}, err
	}
	if err := l.take(ctx); err != nil {
		return Session{}, err
	}
	defer l.give()
	if l.session == nil {
		return Session{}, errors.New("the login was ended meanwhile")
	}
	return *l.session, nil
}

// Logout revokes the refresh token and all its access tokens. The next request logs in again.
func (l *Login) Logout(ctx context.Context, c *Client) error {
	if err := l.take(ctx); err != nil {
		return err
	}
	defer l.give()
	if l.session == nil {
		return nil
	}
	r := request{method: http.MethodDelete, path: c.connection.loginAddress("refresh"), bearer: l.session.RefreshToken, safe: true, noKey: true}
	_, err := one[RefreshDeleted](ctx, c.connection, r, nil, nil)
	var failed *Error
	// If the token is already invalid, for example because an earlier response was lost, the logout has succeeded.
	if errors.As(err, &failed) && failed.Code == "jwt_auth_invalid_token" {
		err = nil
	}
	if err == nil {
		l.session = nil
	}
	return err
}

// bearer returns the access token. Of concurrent calls, one logs in or refreshes for all.
func (l *Login) bearer(ctx context.Context, c *connection, not string) (string, error) {
	if err := l.take(ctx); err != nil {
		return "", err
	}
	defer l.give()
	if l.session != nil && l.session.Token != not {
		return l.session.Token, nil
	}
	if l.session != nil {
		// For a minute, the previous refresh token gets the same response again, so this can be retried when a response
		// was lost.
		r := request{method: http.MethodPost, path: c.loginAddress("refresh"), bearer: l.session.RefreshToken, safe: true, noKey: true}
		made, err := one[Session](ctx, c, r, nil, nil)
		if err == nil {
			l.session = &made
			return made.Token, nil
		}
		var failed *Error
		if !errors.As(err, &failed) || failed.Code != "jwt_auth_invalid_token" {
			return "", err
		}
		l.session = nil
	}
	in := Credentials{Username: l.Username, Password: l.Password, RotateRefreshToken: true}
	if l.SecondFactor != nil {
		code, err := l.SecondFactor(ctx)
		if err != nil {
			return "", err
		}
		in.TwoFactorCode = code
	}
	made, err := one[Session](ctx, c, request{method: http.MethodPost, path: c.loginAddress(), open: true, noKey: true}, in, nil)
	if err != nil {
		return "", err
	}
	l.session = &made
	return made.Token, nil
}

// loginAddress is a URL of the site's login endpoints.
func (c *connection) loginAddress(more ...any) string {
	return c.siteAddress(append([]any{c.segments.rest, "jwt-auth", "v1", "token"}, more...)...)
}
