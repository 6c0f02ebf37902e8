-- ../0054-attached-files.sql says more.
ALTER TABLE mail_recipient ADD COLUMN attach smallint NOT NULL DEFAULT 0;
