-- Days that an endpoint's submissions are kept; NULL is for ever.
ALTER TABLE endpoint ADD COLUMN keep_days INTEGER CHECK (keep_days BETWEEN 1 AND 36500);
-- How much of a submitter's address is stored.
ALTER TABLE endpoint ADD COLUMN store_address TEXT NOT NULL DEFAULT 'full'
  CHECK (store_address IN ('full', 'short', 'none'));
