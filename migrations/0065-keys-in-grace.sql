-- Keys whose grace period has not ended yet: their end is made final some at a time, without reading all keys.
CREATE INDEX api_key_in_grace ON api_key (revoked_at) WHERE is_revoked = 0 AND revoked_at IS NOT NULL;
