-- The automatic reply of an endpoint: an e-mail to whoever posts, with the owner's text.
CREATE TABLE auto_reply (
  id TEXT PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  -- Name of the field that has the address.
  field TEXT NOT NULL,
  -- NULL is the built-in subject or text.
  subject TEXT,
  text TEXT,
  -- The recipient that gets the answers; NULL when nobody does.
  reply_to TEXT REFERENCES mail_recipient ON DELETE SET NULL,
  -- When the last reply was begun to be sent; NULL before the first.
  begun_at INTEGER
) STRICT, WITHOUT ROWID;

-- What was counted against limits of messages: a row for each message and limit, until it counts no more.
CREATE TABLE quota_use (
  -- SHA-256 of whom the limit is for.
  key BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  -- The submission that the message is about; it may be deleted meanwhile.
  submission_id TEXT NOT NULL,
  PRIMARY KEY (key, expires_at, submission_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX quota_use_by_age ON quota_use (expires_at);
CREATE INDEX quota_use_by_submission ON quota_use (submission_id);

-- An address that wants no e-mail, or refuses it, is looked up by its small letters.
CREATE INDEX mail_recipient_by_address ON mail_recipient (lower(address));
