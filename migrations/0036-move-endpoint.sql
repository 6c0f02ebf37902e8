-- Held posts follow their endpoint into another workspace, where they count.
CREATE TRIGGER held_moves AFTER UPDATE OF workspace_id ON held BEGIN
  UPDATE held_total SET posts = posts - 1, bytes = bytes - old.bytes WHERE workspace_id = old.workspace_id;
  DELETE FROM held_network
    WHERE workspace_id = old.workspace_id AND network = old.network AND NOT EXISTS
      (SELECT 1 FROM held WHERE workspace_id = old.workspace_id AND network = old.network);
  UPDATE held_network SET posts = posts - 1, (first_trapped, first_id) =
      (SELECT trapped, id FROM held WHERE workspace_id = old.workspace_id AND network = old.network
        ORDER BY trapped DESC, id LIMIT 1)
    WHERE workspace_id = old.workspace_id AND network = old.network;
  INSERT INTO held_total (workspace_id, posts, bytes) VALUES (new.workspace_id, 1, new.bytes)
    ON CONFLICT DO UPDATE SET posts = posts + 1, bytes = bytes + excluded.bytes;
  INSERT INTO held_network VALUES (new.workspace_id, new.network, 1, new.trapped, new.id)
    ON CONFLICT DO UPDATE SET posts = posts + 1,
      first_id = iif((-excluded.first_trapped, excluded.first_id) < (-first_trapped, first_id),
        excluded.first_id, first_id),
      first_trapped = max(first_trapped, excluded.first_trapped);
END;
