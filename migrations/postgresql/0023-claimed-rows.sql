-- The server that sends the messages of a row; NULL while they wait. A message that is delivered at once then becomes a row of
-- `delivery` once, when its attempt has ended, instead of one that is changed.
ALTER TABLE outbox ADD COLUMN claimed_by text COLLATE "C";
CREATE INDEX outbox_claimed ON outbox (number) WHERE claimed_by IS NOT NULL;
