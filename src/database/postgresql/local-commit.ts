/**
 * Begins a statement that runs as a transaction of its own and reads from `settings`. Its commit waits for the disk, but not for a standby.
 * It is for messages between servers, which need not survive the primary. It waits two seconds at most for a locked row.
 */
export const WITH_LOCAL_COMMIT = `WITH settings AS MATERIALIZED (
  SELECT set_config('synchronous_commit', 'local', true), set_config('lock_timeout', '2000', true))`;
