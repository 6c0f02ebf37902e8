-- Letters of the server that must not be lost. ../0026-letters.sql says what each means.

CREATE TABLE letter (
  id text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('security', 'operator', 'confirmation')),
  topic text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  recipient_id text COLLATE "C" REFERENCES mail_recipient ON DELETE CASCADE,
  content text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts bigint NOT NULL DEFAULT 0,
  spent bigint NOT NULL DEFAULT 0,
  due_at bigint NOT NULL,
  claimed_by text COLLATE "C",
  last_attempt text COLLATE "C",
  finished_at bigint
);
CREATE INDEX letter_pending ON letter (due_at) WHERE state = 'pending';
CREATE UNIQUE INDEX letter_waiting ON letter (address, topic) WHERE state = 'pending';
CREATE INDEX letter_by_recipient ON letter (recipient_id) WHERE recipient_id IS NOT NULL;
CREATE INDEX letter_by_address ON letter (address, id);
CREATE INDEX letter_finished ON letter (finished_at) WHERE finished_at IS NOT NULL;
