-- When the mail server last took a reply; NULL before the first.
ALTER TABLE auto_reply ADD COLUMN sent_at INTEGER;
UPDATE auto_reply SET sent_at = begun_at;
