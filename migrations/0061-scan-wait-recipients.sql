-- Who gets a message when the wait ends, decided with the post: a JSON array of ids of recipients. NULL in a row of an earlier version:
-- then it is decided at the end.
ALTER TABLE scan_wait ADD COLUMN recipients TEXT;
