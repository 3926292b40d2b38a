-- The names that a site had before: a bordereau of the past has the name of then. until is by the clock of the site.
CREATE TABLE site_names (
    site_id BIGINT NOT NULL REFERENCES sites (id),
    until   BIGINT NOT NULL,
    name    TEXT   NOT NULL,
    PRIMARY KEY (site_id, until)
);
