-- What an e-mail about submissions is made of besides them, from before its first attempt on: each attempt sends the same bytes.
CREATE TABLE mail_frame (
  delivery_id TEXT PRIMARY KEY REFERENCES delivery ON DELETE CASCADE,
  -- JSON of the subject's template, of who gets the answer, and of the addresses of links.
  frame TEXT NOT NULL
) STRICT, WITHOUT ROWID;
