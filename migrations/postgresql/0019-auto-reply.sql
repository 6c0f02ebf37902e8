-- The automatic reply of an endpoint: an e-mail to whoever posts, with the owner's text. ../0019-auto-reply.sql says what each means.

CREATE TABLE auto_reply (
  id text COLLATE "C" PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  field text COLLATE "C" NOT NULL,
  subject text COLLATE "C",
  text text COLLATE "C",
  reply_to text COLLATE "C" REFERENCES mail_recipient ON DELETE SET NULL,
  begun_at bigint
);

CREATE TABLE quota_use (
  key bytea NOT NULL,
  expires_at bigint NOT NULL,
  submission_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (key, expires_at, submission_id)
);
CREATE INDEX quota_use_by_age ON quota_use (expires_at);
CREATE INDEX quota_use_by_submission ON quota_use (submission_id);

CREATE INDEX mail_recipient_by_address ON mail_recipient (lower(address));
