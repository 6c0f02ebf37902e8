-- Held posts follow their endpoint into another workspace, where they count. Triggers of one event run in the order of their names.
CREATE TRIGGER held_moves_away AFTER UPDATE OF workspace_id ON held FOR EACH ROW EXECUTE FUNCTION discount_held_post();
CREATE TRIGGER held_moves_in AFTER UPDATE OF workspace_id ON held FOR EACH ROW EXECUTE FUNCTION count_held_post();
