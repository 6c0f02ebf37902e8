-- ../0030-limit-notices.sql says what it means.

CREATE TABLE limit_notice (
  workspace_id text COLLATE "C" NOT NULL REFERENCES workspace ON DELETE CASCADE,
  month text COLLATE "C" NOT NULL,
  what text COLLATE "C" NOT NULL CHECK (what IN ('near', 'full', 'held')),
  told_at bigint NOT NULL,
  PRIMARY KEY (workspace_id, month, what)
);
CREATE INDEX held_for_limit ON held (workspace_id, created_at) WHERE why = 'limit';
