-- ../0065-keys-in-grace.sql says more.
CREATE INDEX api_key_in_grace ON api_key (revoked_at) WHERE is_revoked = 0 AND revoked_at IS NOT NULL;
