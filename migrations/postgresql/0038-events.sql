-- ../0038-events.sql says more. In place of SQLite's stored_after, as submission has it.
ALTER TABLE audit_event ADD COLUMN stored_by xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX audit_event_by_commit ON audit_event (stored_by, id);
