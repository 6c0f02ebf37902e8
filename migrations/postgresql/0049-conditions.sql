-- ../0049-conditions.sql says more.
ALTER TABLE recipient ADD COLUMN conditions text COLLATE "C";
ALTER TABLE submission ADD COLUMN not_sent text COLLATE "C";
