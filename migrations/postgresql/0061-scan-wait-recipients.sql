-- ../0061-scan-wait-recipients.sql says what it is for.
ALTER TABLE scan_wait ADD COLUMN recipients text COLLATE "C";
