-- Recipients by e-mail, and what the outbox needs for them. ../0015-mail.sql says what each means.

CREATE TABLE mail_recipient (
  id text COLLATE "C" PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  address text COLLATE "C" NOT NULL,
  subject text COLLATE "C",
  digest text COLLATE "C" NOT NULL CHECK (digest IN ('each', 'hourly', 'daily')),
  confirmation_hash bytea,
  confirmation_expires_at bigint,
  unsubscribe_token text COLLATE "C" NOT NULL,
  unsubscribed_at bigint
);

ALTER TABLE recipient ADD COLUMN confirmed_at bigint;
UPDATE recipient SET confirmed_at = created_at;
ALTER TABLE recipient ADD COLUMN refusals integer NOT NULL DEFAULT 0;

ALTER TABLE delivery ADD COLUMN lead_id text COLLATE "C" REFERENCES delivery ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED;
DROP INDEX delivery_pending;
CREATE INDEX delivery_pending ON delivery (recipient_id, lead_id, due_at) WHERE state = 'pending';
CREATE INDEX delivery_members ON delivery (lead_id) WHERE lead_id IS NOT NULL;

CREATE TABLE recipient_pace (
  recipient_id text COLLATE "C" PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  window_at bigint NOT NULL,
  window_sent integer NOT NULL,
  hour_at bigint NOT NULL,
  hour_sent integer NOT NULL,
  gathers_until bigint
);

CREATE TABLE place_fault (
  kind text COLLATE "C" NOT NULL,
  place text COLLATE "C" NOT NULL,
  since bigint NOT NULL,
  message text COLLATE "C" NOT NULL,
  next_probe_at bigint NOT NULL,
  PRIMARY KEY (kind, place)
);
