-- The form's own page as JSON: whether it is on, and its texts, colour and logo. NULL is off, with nothing chosen.
ALTER TABLE endpoint ADD COLUMN page TEXT;
CREATE INDEX endpoint_by_name ON endpoint (name);
