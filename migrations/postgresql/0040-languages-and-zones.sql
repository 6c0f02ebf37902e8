-- ../0040-languages-and-zones.sql says more.
ALTER TABLE mail_recipient ADD COLUMN language text COLLATE "C";
ALTER TABLE workspace ADD COLUMN time_zone text COLLATE "C";
