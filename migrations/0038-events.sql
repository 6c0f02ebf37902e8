-- The order of commits of changes among submissions: the last number that one got before.
-- It never falls, also if submissions are deleted.
ALTER TABLE audit_event ADD COLUMN stored_after INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER audit_event_gets_place AFTER INSERT ON audit_event BEGIN
  UPDATE audit_event SET stored_after = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'submission'), 0) WHERE id = new.id;
END;
