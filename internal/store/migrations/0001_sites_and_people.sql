-- A site is a policyholder (an acquirer or a platform). Everything else belongs to one and names it first in its key.
CREATE TABLE sites (
    id             {{serial}},
    path           TEXT    NOT NULL UNIQUE, -- first segment of every address of the site
    name           TEXT    NOT NULL,        -- what people call it; the default of a channel's receipt label
    sandbox        BOOLEAN NOT NULL,        -- from birth or never (R0)
    permitted_urls TEXT    NOT NULL,        -- JSON array of the origins on which the payment modal may open
    version        BIGINT  NOT NULL,        -- counts changes; taking it is the lock on the site
    created_at     BIGINT  NOT NULL,        -- instants are microseconds since 1970, GMT
    modified_at    BIGINT  NOT NULL,
    {{key}} (id)
);

-- What a site has agreed with the protection provider, dated: an older day is judged by the policy of that day.
CREATE TABLE policies (
    site_id             BIGINT NOT NULL REFERENCES sites (id),
    id                  {{serial}},
    from_day            BIGINT NOT NULL, -- in force from this day (days since 1970) until the next one
    recorded_at         BIGINT NOT NULL, -- when it was learned, for reports about what was known then
    currency            TEXT   NOT NULL, -- policy currency Q (R9)
    recognition         TEXT   NOT NULL, -- end_date, start_date or linear (R4)
    late_log_days       BIGINT NOT NULL, -- a payment logged later than this is flagged (R2)
    max_fixing_age_days BIGINT NOT NULL, -- an older fixing does not price (R9)
    {{key}} (site_id, id)
);

-- A person or a machine of a customer or of the protection provider. Users stand outside sites: one may serve many.
CREATE TABLE users (
    id                      {{serial}},
    username                TEXT    NOT NULL UNIQUE, -- in lower case: names are compared without letter case
    email                   TEXT    NOT NULL,
    display_name            TEXT    NOT NULL,
    password_hash           TEXT    NOT NULL,        -- argon2id with its parameters
    operator                BOOLEAN NOT NULL,        -- the protection provider's own: all rights on all sites
    two_factor_secret       TEXT    NOT NULL,        -- TOTP secret, '' where none was begun
    two_factor_confirmed_at BIGINT,                  -- NULL until the user has shown a code once
    two_factor_last_step    BIGINT  NOT NULL,        -- a code counts once: later steps only
    refresh_generation      BIGINT  NOT NULL,        -- a refresh token of an older generation is dead
    refresh_began_at        BIGINT  NOT NULL,        -- the refresh token of a generation is the same text each time
    password_epoch          BIGINT  NOT NULL,        -- an access token of an older password is dead
    created_at              BIGINT  NOT NULL,
    modified_at             BIGINT  NOT NULL,
    {{key}} (id)
);

-- One-time codes that stand in for a lost second factor.
CREATE TABLE recovery_codes (
    user_id BIGINT NOT NULL REFERENCES users (id),
    hash    TEXT   NOT NULL, -- of the code; the code itself is shown once
    used_at BIGINT,          -- NULL while it can still be used
    PRIMARY KEY (user_id, hash)
);

-- What a user may do on a site.
CREATE TABLE memberships (
    site_id             BIGINT  NOT NULL REFERENCES sites (id),
    user_id             BIGINT  NOT NULL REFERENCES users (id),
    role                TEXT    NOT NULL, -- read_only, finance or member_admin; operators need no membership
    can_sign_off_payout BOOLEAN NOT NULL,
    created_at          BIGINT  NOT NULL,
    PRIMARY KEY (site_id, user_id)
);
CREATE INDEX memberships_by_user ON memberships (user_id, site_id);

-- API tokens (section 2.1): two per site, expired ones included.
CREATE TABLE api_tokens (
    site_id      BIGINT NOT NULL REFERENCES sites (id),
    id           {{serial}},
    user_id      BIGINT NOT NULL REFERENCES users (id), -- the creator, as whom it acts
    name         TEXT   NOT NULL,
    secret_hash  TEXT   NOT NULL, -- sha256: the secret is long and random, so a slow hash would add nothing
    last_used_at BIGINT,          -- written at most once a minute, behind the request
    expires_at   BIGINT,          -- NULL: never
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    {{key}} (site_id, id)
);

-- Keys that sign JWTs. A retired key signs no more but still verifies, so that rotating logs nobody out.
CREATE TABLE jwt_keys (
    id         TEXT   NOT NULL PRIMARY KEY, -- the kid in the header of the JWT
    secret     TEXT   NOT NULL,             -- hex
    created_at BIGINT NOT NULL,
    retired_at BIGINT                       -- NULL while it signs
);

-- Failed logins per account and per address, so that guessing is slowed whichever process is asked.
CREATE TABLE login_attempts (
    subject       TEXT   NOT NULL PRIMARY KEY, -- account:NAME or address:IP
    failures      BIGINT NOT NULL,             -- since the last success
    blocked_until BIGINT NOT NULL,             -- no attempt is judged before this instant
    last_at       BIGINT NOT NULL              -- so that old rows can be forgotten
);
