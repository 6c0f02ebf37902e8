-- What the last changes of settings were about. ../0063-settings-changes.sql says what each column means.
CREATE TABLE settings_change (
  slot bigint PRIMARY KEY,
  version bigint NOT NULL,
  subject text COLLATE "C" NOT NULL
);
