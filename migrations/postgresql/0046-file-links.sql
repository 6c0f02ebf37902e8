-- ../0046-file-links.sql says more.
CREATE TABLE file_link_key (
  id integer PRIMARY KEY CHECK (id = 1),
  key bytea NOT NULL
);

ALTER TABLE delivery ADD COLUMN event text COLLATE "C";
