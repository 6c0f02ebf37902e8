-- ../0022-reply-sent.sql says what it means.

ALTER TABLE auto_reply ADD COLUMN sent_at bigint;
UPDATE auto_reply SET sent_at = begun_at;
