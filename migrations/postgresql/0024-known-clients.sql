-- ../0024-known-clients.sql says more.
CREATE TABLE sign_in_key (
  id integer PRIMARY KEY CHECK (id = 1),
  key bytea NOT NULL
);

CREATE TABLE known_address (
  account_id text COLLATE "C" NOT NULL REFERENCES account ON DELETE CASCADE,
  address_hash bytea NOT NULL,
  seen_at bigint NOT NULL,
  PRIMARY KEY (account_id, address_hash)
);
CREATE INDEX known_address_by_age ON known_address (seen_at);
