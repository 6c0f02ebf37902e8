-- ../0028-key-tag.sql says what it means.
ALTER TABLE api_key ADD COLUMN tag bytea;
