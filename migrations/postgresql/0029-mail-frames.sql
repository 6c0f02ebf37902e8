-- ../0029-mail-frames.sql says what it means.

CREATE TABLE mail_frame (
  delivery_id text COLLATE "C" PRIMARY KEY REFERENCES delivery ON DELETE CASCADE,
  frame text COLLATE "C" NOT NULL
);
