-- Whether e-mails to it bring the files along. 0 or 1.
ALTER TABLE mail_recipient ADD COLUMN attach INTEGER NOT NULL DEFAULT 0;
