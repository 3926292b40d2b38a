-- What a site's bordereaux say of the contract with the underwriter. A contract is added and never changed; of two from the same day the
-- later one counts.
CREATE TABLE contracts (
    site_id         BIGINT NOT NULL REFERENCES sites (id),
    id              {{serial}},
    from_day        BIGINT NOT NULL,
    reference       TEXT   NOT NULL, -- such as the UMR
    year_of_account BIGINT NOT NULL, -- 0: none
    commission_ppm  BIGINT NOT NULL, -- of the net premium
    recorded_at     BIGINT NOT NULL,
    recorded_by     TEXT   NOT NULL,
    {{key}} (site_id, id)
);
CREATE INDEX contracts_by_day ON contracts (site_id, from_day, recorded_at, id);
