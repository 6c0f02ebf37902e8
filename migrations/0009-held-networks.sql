-- When held posts must go, those of the network that has the most go first. Triggers count them, whoever deletes.

-- A hash of the submitter's network; the address itself in rows of earlier versions.
ALTER TABLE held ADD COLUMN network TEXT NOT NULL DEFAULT '';
UPDATE held SET network = ip_address;
DROP INDEX held_by_workspace;
CREATE INDEX held_by_network ON held (workspace_id, network, trapped DESC, id);

CREATE TABLE held_network (
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  network TEXT NOT NULL,
  posts INTEGER NOT NULL,
  -- The post of this network that goes first: the oldest with a filled honeypot, else the oldest.
  first_trapped INTEGER NOT NULL CHECK (first_trapped IN (0, 1)),
  first_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, network)
) STRICT, WITHOUT ROWID;
INSERT INTO held_network
  SELECT workspace_id, network, count(*), max(trapped),
    (SELECT id FROM held
      WHERE held.workspace_id = counted.workspace_id AND held.network = counted.network
      ORDER BY trapped DESC, id LIMIT 1)
  FROM held AS counted GROUP BY workspace_id, network;
CREATE INDEX held_network_by_posts ON held_network (workspace_id, posts DESC, first_trapped DESC, first_id);

CREATE TABLE held_total (
  workspace_id TEXT PRIMARY KEY REFERENCES workspace ON DELETE CASCADE,
  posts INTEGER NOT NULL,
  -- Posts that had to go because there were too many, ever, and when the last one went.
  evicted INTEGER NOT NULL DEFAULT 0,
  evicted_at INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO held_total (workspace_id, posts) SELECT workspace_id, count(*) FROM held GROUP BY workspace_id;

CREATE TRIGGER held_comes AFTER INSERT ON held BEGIN
  INSERT INTO held_total (workspace_id, posts) VALUES (new.workspace_id, 1)
    ON CONFLICT DO UPDATE SET posts = posts + 1;
  INSERT INTO held_network VALUES (new.workspace_id, new.network, 1, new.trapped, new.id)
    ON CONFLICT DO UPDATE SET posts = posts + 1,
      first_id = iif((-excluded.first_trapped, excluded.first_id) < (-first_trapped, first_id),
        excluded.first_id, first_id),
      first_trapped = max(first_trapped, excluded.first_trapped);
END;
CREATE TRIGGER held_goes AFTER DELETE ON held BEGIN
  UPDATE held_total SET posts = posts - 1 WHERE workspace_id = old.workspace_id;
  DELETE FROM held_network
    WHERE workspace_id = old.workspace_id AND network = old.network AND NOT EXISTS
      (SELECT 1 FROM held WHERE workspace_id = old.workspace_id AND network = old.network);
  UPDATE held_network SET posts = posts - 1, (first_trapped, first_id) =
      (SELECT trapped, id FROM held WHERE workspace_id = old.workspace_id AND network = old.network
        ORDER BY trapped DESC, id LIMIT 1)
    WHERE workspace_id = old.workspace_id AND network = old.network;
END;
