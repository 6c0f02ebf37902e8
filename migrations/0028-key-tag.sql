-- The first 32 bits of a hash of the key, which tell a made-up text from the key without the slow hash. NULL for a key that was made
-- before this column and has not been used since.
ALTER TABLE api_key ADD COLUMN tag BLOB;
