-- The language of the e-mails to a recipient, as a tag. NULL is the endpoint's.
ALTER TABLE mail_recipient ADD COLUMN language TEXT;
-- The time zone of the times in e-mails, by its name in the IANA database. NULL is UTC.
ALTER TABLE workspace ADD COLUMN time_zone TEXT;
