-- The address of a chat is a secret. ../0016-secret-url.sql says why.
ALTER TABLE webhook ADD COLUMN secret_url bytea;
UPDATE webhook SET secret_url = convert_to(url, 'UTF8') WHERE format <> 'standard';
UPDATE webhook SET url = substring(url from '^[^:]+://[^/]+/') || '…' || right(url, 4) WHERE format <> 'standard';
